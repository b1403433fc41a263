/** How long each state may take to be reached, unless the group says otherwise (DESIGN section 2). */
import { minutes } from './time.ts';

export const DEADLINES = {
  StagedUpdate: minutes(12),
  PerformedUpdate: minutes(5),
  RebootedIntoUpdate: minutes(15),
  MonitoringUpdate: minutes(5),
  Idle: minutes(2),
} as const;
