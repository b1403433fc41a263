/** The closed vocabularies of the API: states, phases, causes, strategies (DESIGN section 1). */

export const NODE_STATES = [
  'Idle',
  'StagedUpdate',
  'PerformedUpdate',
  'RebootedIntoUpdate',
  'MonitoringUpdate',
] as const;
/** What a spec can be: never ErrorReset (DESIGN section 2). */
export type SpecState = (typeof NODE_STATES)[number];
export const REPORTED_STATES = [...NODE_STATES, 'ErrorReset'] as const;
export type ReportedState = (typeof REPORTED_STATES)[number];

export const RUN_STRATEGIES = ['Always', 'RerunOnFailure', 'Manual', 'Halted', 'Once'] as const;
export type RunStrategy = (typeof RUN_STRATEGIES)[number];

export const REPORTED_PHASES = ['Pending', 'Scheduled', 'Running', 'Succeeded', 'Failed'] as const;
export type ReportedPhase = (typeof REPORTED_PHASES)[number];
export type InstancePhase = ReportedPhase | 'Unknown';

export const END_CAUSES = [
  'Requested',
  'GuestShutdown',
  'GuestPanic',
  'LaunchFailed',
  'LaunchTimeout',
  'Killed',
  'Unhealthy',
  'HostMaintenance',
  'HostLost',
  'Unknown',
] as const;
export type EndCause = (typeof END_CAUSES)[number];

export const NODE_PHASES = [
  'Unreachable',
  'Recovering',
  'Held',
  'Monitoring',
  'Updating',
  'BackingOff',
  'WaitingForWindow',
  'Queued',
  'Idle',
] as const;
export type NodePhase = (typeof NODE_PHASES)[number];

export const PRINTABLE_STATUSES = [
  'Terminating',
  'Stopping',
  'Running',
  'Starting',
  'CrashLoopBackOff',
  'Completed',
  'Failed',
  'Stopped',
  'Unknown',
] as const;
export type PrintableStatus = (typeof PRINTABLE_STATUSES)[number];
