/** Idle: finish, or undo what the record says we had done (DESIGN section 2 rule 2, G9). Pure. */
import { undrain } from './drain.ts';
import { type NodeRecord, STATE_LOST, type StepRecord } from './memory.ts';
import { act, type Limits, type Move, reached, type Seen, WAIT, withStep } from './move.ts';
import { giveLockBack } from '../updater/version-lock.ts';
import { judgePending } from './pending.ts';
import { beginRollback, rollBack } from './rollback.ts';

/** What is forgotten once Idle is reached. */
const IDLE: Partial<NodeRecord> = {
  fromVersion: null,
  targetVersion: null,
  bootIdAtStep: null,
  activated: false,
  drain: null,
  monitor: null,
  rollback: null,
};

/** Each part is tried until it succeeds: Idle has no deadline. A staged update disturbs nobody and stays. */
export function recover(record: NodeRecord, step: StepRecord, seen: Seen, limits: Limits): Move {
  const begun = beginRollback(record, seen);
  if (begun !== null) return begun;
  const { rollback } = record;
  if (rollback !== null && rollback.outcome === null) return rollBack(record, rollback, step, seen, limits);
  const undoing = undrain(record, seen.now);
  if (undoing !== null && undoing !== 'later') return undoing;
  const deactivating = takeBack(record, step, seen, limits);
  if (deactivating !== null) return deactivating;
  const unlocking = unlock(record, seen);
  if (unlocking !== null) return unlocking;
  if (undoing === 'later') return WAIT;
  return reached(record, step, { ...IDLE, notice: rollback?.outcome ?? record.notice });
}

/** An activation is taken back, so that no accidental reboot flips the node; null when there is none of ours. */
function takeBack(record: NodeRecord, step: StepRecord, seen: Seen, limits: Limits): Move | null {
  const rebooted = record.bootIdAtStep !== null && record.bootIdAtStep !== seen.bootId;
  if (!record.activated || rebooted) return null;
  switch (seen.update.kind) {
    case 'busy':
    case 'unavailable':
    case 'unparseable':
      return WAIT;
    case 'none':
      return null;
    case 'status':
      break;
  }
  if (step.pending?.name === 'activate') {
    const activation = judgePending(step.pending, seen.update, seen.now, limits.noProgressAfterMs);
    return activation.kind === 'waiting'
      ? WAIT
      : { kind: 'note', record: withStep(record, { ...step, pending: null }) };
  }
  if (seen.update.status.state !== 'Ready') return null;
  if (step.pending === null) return act(record, step, 'deactivate', seen);
  const verdict = judgePending(step.pending, seen.update, seen.now, limits.noProgressAfterMs);
  if (verdict.kind === 'waiting') return WAIT;
  const retried = { ...step, pending: null, notBefore: seen.now + limits.retryAfterMs };
  return { kind: 'note', record: withStep(record, retried) };
}

/** The version-lock as its owner had set it; null when it is, or nothing here has changed it. A pin is set anew once Idle. */
function unlock(record: NodeRecord, { versionLock, lockHeld }: Seen): Move | null {
  if (record.rollback === null && record.error?.reason !== STATE_LOST) return null;
  const before = record.rollback?.lockBefore ?? null;
  if (lockHeld === null && (before === null || versionLock === before)) return null;
  if (versionLock === null) return WAIT;
  const change = giveLockBack(versionLock, lockHeld);
  if (change !== null) return { kind: 'lock', record, change };
  return before === null ? null : { kind: 'lock', record, change: { act: 'giveBack', version: before } };
}
