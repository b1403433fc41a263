/** The one thing that falls due for a node's step, computed once: what time does, when, and what is said of it (DESIGN section 2). */
import { after, between, type Duration, type Instant, minutes } from '../kit/time.ts';
import { type NodeRecord, WITHDRAW_AFTER, waitsStaged } from './record.ts';

export type StepDue =
  /** Not reached by then: counted. */
  | { kind: 'crash'; at: Instant }
  /** Nobody has heard of it by then: given up, nothing is counted. */
  | { kind: 'withdrawal'; at: Instant }
  /** Idle is owed: the node is marked and woken again, nothing is counted. */
  | { kind: 'mark'; at: Instant };

/** The report that ends the soak time is due so long after it. */
const SOAK_REPORT: Duration = minutes(3);

export function stepDue(node: NodeRecord): StepDue | null {
  const { spec, policy, attempt, status } = node;
  if (spec.state === 'Idle') {
    if (spec.reachedAt !== null || status === null || node.unreachableSince !== null) return null;
    const at = after(spec.acknowledgedAt ?? spec.since, policy.deadlines.Idle);
    return status.reportedAt >= at ? null : { kind: 'mark', at };
  }
  if (waitsStaged(node)) {
    const letOnAt = attempt?.letOnAt ?? null;
    return letOnAt === null ? null : { kind: 'withdrawal', at: after(letOnAt, WITHDRAW_AFTER) };
  }
  if (spec.acknowledgedAt === null) return { kind: 'withdrawal', at: after(spec.since, WITHDRAW_AFTER) };
  if (spec.reachedAt === null) return { kind: 'crash', at: after(spec.acknowledgedAt, policy.deadlines[spec.state]) };
  if (spec.state !== 'MonitoringUpdate') return null;
  return { kind: 'crash', at: after(after(spec.reachedAt, policy.soak), SOAK_REPORT) };
}

/** When the soak time is over; null while nothing is being watched. */
export const soakEnds = ({ spec, policy }: NodeRecord): Instant | null =>
  spec.state === 'MonitoringUpdate' && spec.reachedAt !== null ? after(spec.reachedAt, policy.soak) : null;

/** What remains of a step's deadline, in whole seconds; null when it has none that counts. */
export function remainingSeconds(node: NodeRecord, now: Instant): number | null {
  const due = stepDue(node);
  return due?.kind === 'crash' ? Math.max(1, Math.floor(between(now, due.at) / 1000)) : null;
}
