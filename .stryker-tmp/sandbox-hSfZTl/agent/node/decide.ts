/**
 * The decision about the node: record × desired × what is seen → one move. Pure, and resumable at every point: a killed
 * agent decides again from its record and what it then sees.
 */
// @ts-nocheck

import type { DesiredNode, SpecState } from '../../core/contract.ts';
import { type Memory, newRecord, newStep, type NodeRecord, type Pending, type StepRecord } from './memory.ts';
import { failed, type Limits, type Move, type Seen, WAIT } from './move.ts';
import { pursue } from './pursue.ts';

/** The state from which each state is reached (DESIGN section 2). */
const BEFORE: Readonly<Record<Exclude<SpecState, 'Idle' | 'StagedUpdate'>, SpecState>> = {
  PerformedUpdate: 'StagedUpdate',
  RebootedIntoUpdate: 'PerformedUpdate',
  MonitoringUpdate: 'RebootedIntoUpdate',
};

/** What to do now. A generation that was handled, or an older one, begins nothing. */
export function decide(memory: Memory, desired: DesiredNode | null, seen: Seen, limits: Limits): Move {
  const begun = desired === null ? null : begin(memory, desired, seen);
  if (begun !== null) return begun;
  if (memory.kind !== 'kept' || memory.record.step === null) return { kind: 'rest' };
  const { record } = memory;
  const move = pursue(record, memory.record.step, seen, limits);
  if (move.kind === 'end') return move;
  return overdue(record, memory.record.step, seen, limits) ?? move;
}

/** Whether `decide` could do anything but rest: so that an idle agent need not look at its host. */
export function mayAct(memory: Memory, desired: DesiredNode | null): boolean {
  if (memory.kind !== 'kept') return desired !== null && mayBeginWithout(memory, desired);
  return memory.record.step !== null || (desired !== null && desired.generation > memory.record.generation);
}

/**
 * Without a record nothing is known of what was done. Idle is safe, and it is the way back; a node that never had a
 * record may also begin its first attempt, whose first step disrupts nothing.
 */
const mayBeginWithout = (memory: Memory, desired: DesiredNode): boolean =>
  desired.state === 'Idle' || (memory.kind === 'fresh' && desired.state === 'StagedUpdate');

function begin(memory: Memory, desired: DesiredNode, seen: Seen): Move | null {
  if (memory.kind !== 'kept') {
    if (!mayBeginWithout(memory, desired)) return null;
    const blank = newRecord(desired.generation);
    if (memory.kind === 'fresh') return note(blank, desired, seen);
    // What was lost may have been an activation of ours: recovery has to look.
    return note({ ...blank, activated: true, error: { reason: 'StateLost', message: memory.why } }, desired, seen);
  }
  const { record } = memory;
  if (desired.generation <= record.generation) return null;
  return note({ ...record, generation: desired.generation }, desired, seen);
}

function note(record: NodeRecord, desired: DesiredNode, seen: Seen): Move {
  const step = newStep(desired.state, seen.now);
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
        },
      };
    case 'PerformedUpdate':
    case 'RebootedIntoUpdate':
    case 'MonitoringUpdate': {
      const before = BEFORE[desired.state];
      if (record.state === before && record.error === null && record.step === null) {
        return { kind: 'note', record: { ...record, step } };
      }
      return failed(record, 'OutOfSequence', `asked for ${desired.state} from ${sayState(record)}`);
    }
  }
}

/** An activation that may still be running when recovery begins: recovery waits for its outcome, then takes it back. */
const activation = ({ step }: NodeRecord): Pending | null => (step?.pending?.name === 'activate' ? step.pending : null);

const sayState = ({ state, error, step }: NodeRecord): string =>
  error !== null ? `ErrorReset (${error.reason})` : step === null ? state : `${state}, on the way to ${step.target}`;

/** The agent's own deadline for a step; Idle has none. */
function overdue(record: NodeRecord, step: StepRecord, seen: Seen, limits: Limits): Move | null {
  const allowed = limits.deadlinesMs[step.target];
  if (seen.now - step.startedAt < allowed) return null;
  const { reason, message } = whyLate(step, seen);
  return failed(record, reason, `${step.target} was not reached in ${Math.round(allowed / 1000)} s: ${message}`);
}

function whyLate(step: StepRecord, { update, version }: Seen): { reason: string; message: string } {
  if (update.kind === 'busy') return { reason: 'LockTimeout', message: 'the update API stayed locked (423)' };
  if (update.kind === 'unparseable') return { reason: 'Unparseable', message: update.message };
  if (update.kind === 'unavailable') return { reason: 'UpdateApiUnavailable', message: update.message };
  if (step.refreshFailure !== null) return { reason: 'RefreshFailed', message: step.refreshFailure };
  if (version === null) return { reason: 'UpdateApiUnavailable', message: '/os does not answer' };
  const waiting = step.pending === null ? 'nothing was under way' : `${step.pending.name} did not finish`;
  return { reason: 'NoProgress', message: waiting };
}
