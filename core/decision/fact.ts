/** What a decision established. The shell turns facts into effects: wakes, metrics, events, slots freed, groups filled. */
import type { MetricName } from '../contract/names.ts';
import type { GroupId, NodeId } from '../kit/ids.ts';
import type { Instant } from '../kit/time.ts';

/** The action a command stands for; one is decided per new generation or per instance, re-sends not counted. */
export type CommandAction = 'DriveNode' | 'StartInstance' | 'StopInstance';

export type Fact =
  /**
   * Wake a host's agent. `decided` is false for a repeat of a wake that was decided before. `generation` is that of the
   * node's spec; a wake for a VM names none: the agent asks what should run.
   */
  | { kind: 'wake'; hostId: NodeId; action: CommandAction; generation: number | null; decided: boolean }
  | { kind: 'metric'; name: MetricName; group: GroupId | null; value: number }
  /** Something for the log: `type` is the detail-type on the bus. */
  | { kind: 'event'; type: EventType; severity: 'info' | 'warning'; message: string }
  /** A node crashed on its way to a version, and its group has a breaker. */
  | { kind: 'crashed'; group: GroupId; version: string; at: Instant }
  | { kind: 'slotReleased'; group: GroupId; claimId: string }
  /** The group may have a node that could start, or a slot that is free. */
  | { kind: 'fill'; group: GroupId }
  | { kind: 'enrolled'; group: GroupId }
  /** A report of the host that a VM has waited for; also its first one after a restore. */
  | { kind: 'hostReported'; hostId: NodeId }
  /** The host proves nothing any more (DESIGN section 3 rule 6). */
  | { kind: 'hostSilent'; hostId: NodeId; at: Instant }
  /** Known to be off when that was written; with `asOf`, since that instant: what the host took on later is not meant. */
  | { kind: 'hostFenced'; hostId: NodeId; at: Instant; asOf?: Instant }
  /** Not heard for the shortest lease that a VM there is held by (rule 6). */
  | { kind: 'hostUnheard'; hostId: NodeId; at: Instant }
  /** The host runs another boot than before, which began at `bootedAt`: what it took on until then has ended, but for `alive`. */
  | { kind: 'hostBooted'; hostId: NodeId; at: Instant; bootedAt: Instant; alive: readonly string[] }
  /** A VM waits for the host's next report. */
  | { kind: 'listen'; hostId: NodeId }
  /** The host goes on to a disruptive step, or is through with it (DESIGN section 3 rule 10). */
  | { kind: 'hostMaintenance'; hostId: NodeId; begins: boolean };

export const EVENT_TYPES = [
  'Node Enrolled',
  'Node Update Started',
  'Node Update Step',
  'Node Update Withdrawn',
  'Node Crashed',
  'Node Recovered',
  'Node Updated',
  'Node Unreachable',
  'Node Silent',
  'Node Crash Record Reset',
  'Node Held',
  'Node Released',
  'Node Retry Requested',
  'Node Fenced',
  'Node Stopped',
  'Node Started',
  'Node Restored',
  'Node Moved',
  'Node Removed',
  'Node Update Check Failed',
  'VM Declared',
  'VM Changed',
  'VM Start Requested',
  'VM Stop Requested',
  'VM Restart Requested',
  'VM Instance Started',
  'VM Running',
  'VM Recovered',
  'VM Start Delayed',
  'VM Ended',
  'VM Gave Up',
  'VM Guest Not Running',
  'VM Guest Running Again',
  'VM Guest Reset',
  'VM Console Asked',
  'VM Instance Unknown',
  'VM Adopted',
  'VM Stopped For Host',
  'VM Moved',
  'VM Restored',
  'VM Delete Requested',
  'VM Removed',
  'Group Changed',
  'Group Paused',
  'Group Resumed',
  'Group Halted',
  'Group Halt Ended',
  'Breaker Opened',
  'Breaker Closed',
  'Window Opened',
  'Window Closed',
  'Version Expedited',
  'Recovery Begun',
  'Recovery Finished',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Randomness for one decision, drawn by the shell: the decision itself stays deterministic. */
export type Draw = {
  /** From [0, 1): where in its range a retry delay falls. */
  delay: number;
  /** From [0, 1): where in its range a start deadline falls. */
  deadline: number;
  /** A fresh id, 16 hexadecimal digits. */
  id: string;
};

/** A refusal: the operation is answered with this status and code, and nothing changes. */
export type Refusal = { status: 400 | 403 | 404 | 409 | 413; code: string; detail: string };

/** The outcome of a decision on an aggregate of type R. */
export type Outcome<R> =
  | { kind: 'changed'; next: R; facts: Fact[] }
  /** Nothing to write. */
  | { kind: 'unchanged' }
  | { kind: 'refused'; refusal: Refusal };

export const unchanged = { kind: 'unchanged' } as const;
export const refused = (
  status: Refusal['status'],
  code: string,
  detail: string,
): { kind: 'refused'; refusal: Refusal } => ({
  kind: 'refused',
  refusal: { status, code, detail },
});

/** What every aggregate's item has. */
export type Aggregate = {
  revision: number;
  /** The last 20 events, oldest first. */
  events: LoggedEvent[];
};
export type LoggedEvent = { id: string; at: Instant; type: EventType; severity: 'info' | 'warning'; message: string };

export const EVENTS_KEPT = 20;

/** An event that is no trouble. */
export const info = (type: EventType, message: string): Fact => ({ kind: 'event', type, severity: 'info', message });

/** One more than the number of event facts in an id's aggregate/revision: `node/i-…/17`, then `node/i-…/17.1`. */
export function eventId(subject: string, revision: number, index: number): string {
  return index === 0 ? `${subject}/${revision}` : `${subject}/${revision}.${index}`;
}

/** Appends a decision's events to the last 20 of an item. */
export function logEvents(
  kept: readonly LoggedEvent[],
  facts: readonly Fact[],
  subject: string,
  revision: number,
  at: Instant,
): LoggedEvent[] {
  const added = facts.flatMap((fact) => (fact.kind === 'event' ? [fact] : []));
  const entries = added.map((fact, index) => ({
    id: eventId(subject, revision, index),
    at,
    type: fact.type,
    severity: fact.severity,
    message: fact.message,
  }));
  return [...kept, ...entries].slice(-EVENTS_KEPT);
}
