/** When a node must be looked at again. */
import { after, earliest, type Instant } from '../kit/time.ts';
import { type NodeRecord, SILENT_AFTER, WITHDRAW_AFTER } from './record.ts';
import { isStopped, lastSign } from './signs.ts';

/** An instant at which something falls due; a `retry` wait is short and also gets the vernier (DESIGN section 4). */
export type Alarm = { at: Instant; retry: boolean };

/** The earliest instant for which a timer is armed; null when the node waits for nothing that time brings. */
export function nodeAlarm(node: NodeRecord): Alarm | null {
  if (node.removed !== null) return null;
  if (isStopped(node)) return node.crash.resetAt === null ? null : { at: node.crash.resetAt, retry: false };
  const retryAt = retryInstant(node);
  const at = earliest([retryAt, node.crash.resetAt, node.spec.nextWakeAt, stepInstant(node)]);
  return at === null ? null : { at, retry: at === retryAt };
}

/** Only an Idle node waits for its retry; a recovering one first comes back. */
function retryInstant(node: NodeRecord): Instant | null {
  const idle = node.spec.state === 'Idle' && node.spec.reachedAt !== null && node.attempt === null;
  return idle && node.waitingSince === null && node.heldBy === null && wantsUpdate(node) ? node.crash.retryAfter : null;
}

/** A node that has an update to try; the wait of any other ends without anything to do. */
function wantsUpdate(node: NodeRecord): boolean {
  const { status } = node;
  if (status?.state !== 'Idle' || status.updateCheck.result !== 'Available') return false;
  const version = status.updateCheck.version;
  return version === undefined || (version !== status.currentVersion && !node.blockedVersions.includes(version));
}

function stepInstant(node: NodeRecord): Instant | null {
  const { spec, policy } = node;
  if (spec.reachedAt !== null) {
    return spec.state === 'MonitoringUpdate' ? after(spec.reachedAt, policy.soak) : null;
  }
  if (spec.state === 'Idle') {
    const { status } = node;
    if (status === null || spec.acknowledgedAt === null || node.unreachableSince !== null) return null;
    const overdue = after(spec.acknowledgedAt, policy.deadlines.Idle);
    return status.reportedAt >= overdue ? null : overdue;
  }
  return spec.acknowledgedAt === null
    ? after(spec.since, WITHDRAW_AFTER)
    : after(spec.acknowledgedAt, policy.deadlines[spec.state]);
}

/** The instant under which the node stands in the due-time index: its alarm, when its silence must be noticed, or since when its VMs are to be told of it. */
export function nodeDueAt(node: NodeRecord): Instant | null {
  const untold = node.untold?.at ?? null;
  const lease = node.leaseLookAt ?? null;
  if (node.removed !== null) return earliest([untold, lease]);
  const last = node.silentSince !== null || isStopped(node) ? null : lastSign(node);
  const silence = last === null ? null : after(last, SILENT_AFTER);
  return earliest([nodeAlarm(node)?.at ?? null, silence, untold, lease]);
}

/** What the gauges and the attention index say of a node. */
export type NodeConcerns = { backingOff: boolean; unreachable: boolean; silent: boolean };

export const nodeConcerns = (node: NodeRecord): NodeConcerns => ({
  backingOff: node.removed === null && !isStopped(node) && retryInstant(node) !== null,
  unreachable: node.removed === null && node.unreachableSince !== null,
  silent: node.removed === null && node.silentSince !== null,
});
