/**
 * Back to the version before, when a health check of the new one fails (issue 5; the seed's reviewer asked for it). After
 * a good boot no call flips the partitions back, so the old version is locked, prepared and booted into like any other;
 * the lock is then given back as it was (facts, section 2.6). Pure; each act is on record before it is done.
 */
import { HEALTH_CHECK_FAILED } from '../../core/policy/monitor.ts';
import { drain } from './drain.ts';
import { newDrain } from './drain-record.ts';
import type { NodeRecord, StepRecord } from './memory.ts';
import { act, type Limits, type Move, type Seen, WAIT, withStep } from './move.ts';
import { ISSUES_MAX, judgePending } from './pending.ts';
import type { RollbackRecord } from './rollback-record.ts';
import { type HeldLock, holdLock } from '../updater/version-lock.ts';
import type { UpdateStatus } from '../updater/update-status.ts';

/** The record with which a rollback begins; null when none is wanted, or it has begun. */
export function beginRollback(record: NodeRecord, seen: Seen): Move | null {
  const { error, monitor, fromVersion, rollback, step } = record;
  if (rollback !== null || step === null || fromVersion === null || seen.version === fromVersion) return null;
  if (error?.reason !== HEALTH_CHECK_FAILED || monitor?.plan.onFailure !== 'rollback') return null;
  const begun: RollbackRecord = {
    to: fromVersion,
    startedAt: seen.now,
    lockBefore: null,
    lockedAt: null,
    refreshed: false,
    trouble: null,
    outcome: null,
  };
  return {
    kind: 'note',
    record: {
      ...withStep(record, { ...step, pending: null, notBefore: null }),
      rollback: begun,
      bootIdAtStep: seen.bootId,
      activated: false,
      drain: record.drain === null ? null : newDrain(record.drain.plan),
    },
  };
}

export function rollBack(
  record: NodeRecord,
  state: RollbackRecord,
  step: StepRecord,
  seen: Seen,
  limits: Limits,
): Move {
  const { to } = state;
  if (seen.bootId !== record.bootIdAtStep) {
    if (seen.version === null) return WAIT;
    const booted = { ...withStep(record, { ...step, pending: null }), activated: false };
    return seen.version === to
      ? ended(booted, state, `back on ${to}`)
      : ended(booted, state, `the rollback to ${to} booted into ${seen.version}`);
  }
  if (seen.now - state.startedAt >= limits.rollbackMs) {
    return ended(
      record,
      state,
      `not back on ${to} in ${limits.rollbackMs / 1000} s: ${state.trouble ?? 'no progress'}`,
    );
  }
  if (seen.versionLock === null) return WAIT;
  if (seen.versionLock !== to) {
    const locked = { ...record, rollback: { ...state, lockedAt: seen.now } };
    return { kind: 'lock', record: locked, change: holdLock(to, seen.versionLock, heldOf(state, seen)) };
  }
  if (step.pending !== null) return judge(record, state, step, seen, limits);
  if (seen.update.kind === 'busy') return WAIT;
  if (!state.refreshed) return act(record, step, 'refresh', seen);
  if (seen.update.kind !== 'status') return WAIT;
  return proceed(record, { state, step }, seen, seen.update.status, limits);
}

/** A command was sent: what has become of it. A failure is tried again until the time is up. */
function judge(record: NodeRecord, state: RollbackRecord, step: StepRecord, seen: Seen, limits: Limits): Move {
  const { pending } = step;
  if (pending === null) return WAIT;
  if (pending.name === 'reboot') {
    if (seen.now - pending.at < limits.rebootAgainAfterMs) return WAIT;
    return pending.issued < ISSUES_MAX
      ? act(record, step, 'reboot', seen)
      : ended(withStep(record, { ...step, pending: null }), state, `the reboot into ${state.to} did not come`);
  }
  const verdict = judgePending(pending, seen.update, seen.now, limits.noProgressAfterMs);
  switch (verdict.kind) {
    case 'waiting':
      return WAIT;
    case 'again':
      return act(record, step, pending.name, seen);
    case 'succeeded': {
      const went = withStep(record, { ...step, pending: null });
      return {
        kind: 'note',
        record: { ...went, rollback: { ...state, refreshed: state.refreshed || pending.name === 'refresh' } },
      };
    }
    case 'failed':
    case 'stuck': {
      const trouble = verdict.kind === 'failed' ? `${pending.name} failed: ${verdict.detail}` : `${pending.name} hangs`;
      const later = withStep(record, { ...step, pending: null, notBefore: seen.now + limits.retryAfterMs });
      return { kind: 'note', record: { ...later, rollback: { ...state, trouble } } };
    }
  }
}

/** What of the lock is ours; of an older agent's rollback the record says it. */
const heldOf = ({ lockBefore, to }: RollbackRecord, { lockHeld }: Seen): HeldLock | null =>
  lockHeld ?? (lockBefore === null ? null : { ours: [to], before: lockBefore });

/** What the update API shows decides what comes next, so that it can be taken up anywhere. */
function proceed(
  record: NodeRecord,
  { state, step }: { state: RollbackRecord; step: StepRecord },
  seen: Seen,
  status: UpdateStatus,
  limits: Limits,
): Move {
  const { to } = state;
  const { staging, chosen } = status;
  if (status.state === 'Ready') {
    if (staging?.version !== to) return act(record, step, 'deactivate', seen);
    const draining = drain(record, seen.now);
    if (draining?.kind === 'end') return ended(record, state, draining.record.error?.message ?? 'the drain failed');
    if (draining !== null) return draining;
    return seen.liveVms > 0 ? WAIT : act(record, step, 'reboot', seen);
  }
  if (status.state === 'Staged' && staging?.version === to) return act(record, step, 'activate', seen);
  if (status.state !== 'Idle' && chosen === to) return act(record, step, 'prepare', seen);
  if (seen.now - (state.lockedAt ?? seen.now) < limits.settingsWithinMs)
    return refreshAgain(record, state, step, seen, limits);
  return ended(record, state, `${to} is not offered any more: the node stays on ${seen.version ?? 'its version'}`);
}

/** Settings are applied some time after they were taken on (facts, section 6): the next refresh may be the one that sees ours. */
function refreshAgain(record: NodeRecord, state: RollbackRecord, step: StepRecord, seen: Seen, limits: Limits): Move {
  const later = withStep(record, { ...step, notBefore: seen.now + limits.settingsEveryMs });
  return {
    kind: 'note',
    record: { ...later, rollback: { ...state, refreshed: false, lockedAt: state.lockedAt ?? seen.now } },
  };
}

const ended = (record: NodeRecord, state: RollbackRecord, outcome: string): Move => ({
  kind: 'note',
  record: { ...record, rollback: { ...state, outcome } },
});
