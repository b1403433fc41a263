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
  'GuestReset',
  'LaunchFailed',
  'LaunchTimeout',
  'Killed',
  'Unhealthy',
  'HostMaintenance',
  'HostLost',
  'Unknown',
] as const;
export type EndCause = (typeof END_CAUSES)[number];

/** Why a guest does not run although its instance is Running (section 3 rule 11). */
export const CONDITIONS = ['IoError', 'Paused', 'Suspended', 'Stopped', 'NotResponding'] as const;
export type Condition = (typeof CONDITIONS)[number];

/** What a ready node still waits for, in the order in which it is said (section 2b). */
export const WAITING_CODES = [
  'Held',
  'GaveUp',
  'BackingOff',
  'VersionNotAllowed',
  'VersionBlocked',
  'BreakerOpen',
  'VersionTooYoung',
  'WaitsForGroup',
  'Paused',
  'AlarmRinging',
  'OutsideWindow',
  'OtherZone',
  'TooManyDown',
  'VmBlocksMaintenance',
  'NoSlot',
] as const;
export type WaitingCode = (typeof WAITING_CODES)[number];

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

/**
 * Why a person should look at something, worst first: the one order of attention, of the summary, the lists and the page.
 * All but ZoneKept is told by the record alone, so that an index can carry it.
 */
export const ATTENTION_CODES = [
  /** Its item cannot be read by this release, or was changed by hand. */
  'Unreadable',
  'BreakerOpen',
  'AlarmRinging',
  'Unreachable',
  'Silent',
  'GaveUp',
  /** Three crashes, or three failures in a row, are on record. */
  'CrashLoop',
  'Failed',
  /** Nothing is known of its instance: its host is silent, or was not heard since a restore. */
  'Unknown',
  /** One zone is being updated for more than 90 min: no other may begin. */
  'ZoneKept',
  /** Its guest does not run although its instance does, resets itself, or takes its host down. */
  'Unwell',
  'VersionBlocked',
  'Terminating',
  /** One or two crashes or failures are on record. */
  'Crashed',
  'Recovering',
  /** Something runs there although it should not, or may begin to by itself. */
  'Unexpected',
  'Paused',
  'Held',
  'UpdateCheckFailed',
] as const;
export type AttentionCode = (typeof ATTENTION_CODES)[number];
