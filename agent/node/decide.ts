/**
 * The decision about the node: record × desired × what is seen → one move. Pure, and resumable at every point: a killed
 * agent decides again from its record and what it then sees.
 */
import type { SpecState } from '../../core/contract/words.ts';
import { HEALTH_CHECK_FAILED } from '../../core/policy/monitor.ts';
import { whyNotDrained } from './drain.ts';
import { newDrain, unknownDrain } from './drain-record.ts';
import {
  type Memory,
  newRecord,
  newStep,
  type NodeRecord,
  type Pending,
  STATE_LOST,
  type StepRecord,
} from './memory.ts';
import { check, watchAnew, watches } from './monitor.ts';
import { failed, type Limits, limitOf, type Move, notBegun, type Seen, WAIT } from './move.ts';
import { pursue } from './pursue.ts';
import type { Wanted } from './wanted.ts';

/** The state from which each state is reached (DESIGN section 2). */
const BEFORE: Readonly<Record<Exclude<SpecState, 'Idle' | 'StagedUpdate'>, SpecState>> = {
  PerformedUpdate: 'StagedUpdate',
  RebootedIntoUpdate: 'PerformedUpdate',
  MonitoringUpdate: 'RebootedIntoUpdate',
};

/** What to do now. A generation that was handled, or an older one, begins nothing. */
export function decide(memory: Memory, desired: Wanted | null, seen: Seen, limits: Limits): Move {
  const begun = desired === null ? null : begin(memory, desired, seen);
  if (begun !== null) return begun;
  if (memory.kind !== 'kept') return { kind: 'rest' };
  const { record } = memory;
  const anew = watchAnew(record, seen.bootId, seen.now);
  if (anew !== null) return { kind: 'note', record: anew };
  if (watches(record)) return check(record, seen.now, limits);
  if (record.step === null) return { kind: 'rest' };
  const move = pursue(record, record.step, seen, limits);
  if (move.kind === 'end') return move;
  return overdue(record, record.step, seen, limits) ?? move;
}

/** Whether `decide` could do anything but rest: so that an idle agent need not look at its host. */
export function mayAct(memory: Memory, desired: Wanted | null, now: number): boolean {
  if (memory.kind !== 'kept') return desired !== null && mayBeginWithout(memory, desired);
  const { record } = memory;
  if (record.step !== null || watches(record)) return true;
  return desired !== null && (desired.generation > record.generation || askedAnew(record, desired, now));
}

/** A step that was heard of too late is answered anew, under the same generation. */
const askedAnew = ({ notBegun: late, generation }: NodeRecord, desired: Wanted, now: number): boolean =>
  late &&
  desired.state === 'RebootedIntoUpdate' &&
  desired.generation === generation &&
  (desired.beginBefore ?? Infinity) > now;

/**
 * Without a record nothing is known of what was done. Idle is safe, and it is the way back; a node that never had a
 * record may also begin its first attempt, whose first step disrupts nothing.
 */
const mayBeginWithout = (memory: Memory, desired: Wanted): boolean =>
  desired.state === 'Idle' || (memory.kind === 'fresh' && desired.state === 'StagedUpdate');

function begin(memory: Memory, desired: Wanted, seen: Seen): Move | null {
  if (memory.kind !== 'kept') {
    if (!mayBeginWithout(memory, desired)) return null;
    const blank = newRecord(desired.generation);
    if (memory.kind === 'fresh') return note(blank, desired, seen);
    // What was lost may have been an activation or a drain of ours: recovery has to look.
    const drain = desired.drain == null ? null : unknownDrain(desired.drain);
    return note(
      { ...blank, activated: true, drain, error: { reason: STATE_LOST, message: memory.why } },
      desired,
      seen,
    );
  }
  const { record } = memory;
  if (desired.generation <= record.generation && !askedAnew(record, desired, seen.now)) return null;
  return note({ ...record, generation: desired.generation }, desired, seen);
}

function note(before: NodeRecord, desired: Wanted, seen: Seen): Move {
  const step = { ...newStep(desired.state, seen.now), until: desired.until ?? null };
  const record = { ...before, notBegun: false };
  switch (desired.state) {
    case 'Idle':
      // The error stays until Idle is reached: until then the node reports ErrorReset.
      return { kind: 'note', record: { ...record, step: { ...step, pending: activation(record) } } };
    case 'StagedUpdate':
      if (seen.version === null) return WAIT;
      return {
        kind: 'note',
        record: {
          ...record,
          step,
          error: null,
          fromVersion: seen.version,
          targetVersion: null,
          bootIdAtStep: seen.bootId,
          notice: null,
        },
      };
    case 'PerformedUpdate':
    case 'RebootedIntoUpdate':
    case 'MonitoringUpdate': {
      if (record.state === BEFORE[desired.state] && record.error === null && record.step === null) {
        const beginBefore = desired.state === 'RebootedIntoUpdate' ? (desired.beginBefore ?? null) : null;
        if (beginBefore !== null && seen.now >= beginBefore) return notBegun(record);
        return { kind: 'note', record: { ...record, step: { ...step, beginBefore }, ...planned(desired, seen) } };
      }
      return failed(record, 'OutOfSequence', `asked for ${desired.state} from ${sayState(record)}`);
    }
  }
}

/** What the group's policy adds to a step: kept with it, so that a restarted agent needs nobody to go on. */
function planned({ state, drain, monitor, until }: Wanted, { bootId, now }: Seen): Partial<NodeRecord> {
  if (state === 'RebootedIntoUpdate') return { drain: drain == null ? null : newDrain(drain) };
  if (state !== 'MonitoringUpdate') return {};
  const windowMs = until == null ? null : until - now;
  return { monitor: monitor == null ? null : { plan: monitor, nextAt: 0, failing: null, bootId, windowMs } };
}

/** An activation that may still be running when recovery begins: recovery waits for its outcome, then takes it back. */
const activation = ({ step }: NodeRecord): Pending | null => (step?.pending?.name === 'activate' ? step.pending : null);

const sayState = ({ state, error, step }: NodeRecord): string =>
  error !== null ? `ErrorReset (${error.reason})` : step === null ? state : `${state}, on the way to ${step.target}`;

/** The limit of a step; recovery has none: it is tried until it succeeds. */
function overdue(record: NodeRecord, step: StepRecord, seen: Seen, limits: Limits): Move | null {
  const limit = limitOf(record, step, limits);
  if (step.target === 'Idle' || seen.now < limit) return null;
  const { reason, message } = whyLate(record, step, seen);
  const drained = step.until === null ? record.drain?.drainedAt : null;
  const allowed = limit - (drained ?? step.startedAt);
  return failed(record, reason, `${step.target} was not reached in ${Math.round(allowed / 1000)} s: ${message}`);
}

function whyLate(
  { drain, monitor }: NodeRecord,
  step: StepRecord,
  { update, version, versionLock, unwritable }: Seen,
): { reason: string; message: string } {
  if (unwritable !== null) return { reason: 'StateUnwritable', message: unwritable };
  if (step.target === 'MonitoringUpdate' && monitor?.failing != null) {
    return { reason: HEALTH_CHECK_FAILED, message: monitor.failing };
  }
  if (step.target === 'RebootedIntoUpdate' && drain?.drainedAt != null && drain.trouble !== null) {
    return { reason: 'UndrainFailed', message: drain.trouble };
  }
  if (step.target === 'RebootedIntoUpdate' && drain?.startedAt != null && drain.drainedAt === null) {
    return whyNotDrained(drain);
  }
  if (update.kind === 'busy')
    return { reason: 'LockTimeout', message: update.message ?? 'the update API stayed locked (423)' };
  if (update.kind === 'unparseable') return { reason: 'Unparseable', message: update.message };
  if (update.kind === 'unavailable') return { reason: 'UpdateApiUnavailable', message: update.message };
  if (step.refreshFailure !== null) return { reason: 'RefreshFailed', message: step.refreshFailure };
  if (version === null) return { reason: 'UpdateApiUnavailable', message: '/os does not answer' };
  if (step.target === 'StagedUpdate' && step.refreshed && step.pending === null && versionLock === null) {
    return { reason: 'UpdateApiUnavailable', message: 'settings.updates.version-lock cannot be read' };
  }
  const waiting = step.pending === null ? 'nothing was under way' : `${step.pending.name} did not finish`;
  return { reason: 'NoProgress', message: waiting };
}
