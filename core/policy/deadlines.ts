/** How long each state may take to be reached, unless the group says otherwise (DESIGN section 2). */
import * as z from 'zod/mini';
import { positiveDuration } from '../kit/schema.ts';
import { type Duration, durationOr, minutes } from '../kit/time.ts';

export const DEADLINES = {
  StagedUpdate: minutes(12),
  PerformedUpdate: minutes(5),
  RebootedIntoUpdate: minutes(15),
  MonitoringUpdate: minutes(5),
  Idle: minutes(2),
} as const;

/** As a group gives them. */
export const deadlinesSchema = /* @__PURE__ */ z.lazy(() =>
  z.strictObject({
    StagedUpdate: z.optional(positiveDuration()),
    PerformedUpdate: z.optional(positiveDuration()),
    RebootedIntoUpdate: z.optional(positiveDuration()),
    MonitoringUpdate: z.optional(positiveDuration()),
    Idle: z.optional(positiveDuration()),
  }),
);

export const deadlineOf = (state: keyof typeof DEADLINES, given: z.infer<typeof deadlinesSchema> = {}): Duration =>
  durationOr(given[state], DEADLINES[state]);
