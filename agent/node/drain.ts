/**
 * Emptying the node before its reboot, and giving back what was taken (DESIGN section 2, RebootedIntoUpdate). Pure: which
 * step is next, and what its outcome leaves on record. Ownership is on record before a step's first act, so that an abort
 * at any instant undoes what is ours and nothing else.
 */
import type { AgentDrainStep, Begun, DrainOutcome, DrainRecord } from './drain-record.ts';
import type { NodeRecord } from './memory.ts';
import { retryWaitMs } from '../backoff.ts';
import { failed, type Limits, type Move, WAIT } from './move.ts';

/** So many are named; a report is for people. */
const NAMED_MAX = 10;

/** The next move of draining; null when every step is done, or none is asked for. */
export function drain(record: NodeRecord, now: number): Move | null {
  const { drain: state } = record;
  if (state === null || state.plan.steps.length === 0 || state.drainedAt !== null) return null;
  const { plan, startedAt } = state;
  if (startedAt === null) return note(record, { ...state, startedAt: now });
  if (now - startedAt >= plan.timeoutSeconds * 1000) return timeIsUp(record, state, now);
  if (state.notBefore !== null && now < state.notBefore) return WAIT;
  const last = state.begun.at(-1);
  if (last !== undefined && !last.done) return { kind: 'drain', act: 'drain', record, ...stepOf(state, last) };
  const index = last === undefined ? 0 : last.step + 1;
  const step = plan.steps[index];
  if (step === undefined) return note(record, { ...state, drainedAt: now });
  return { kind: 'drain', act: 'survey', record, index, step, mine: null };
}

function timeIsUp(record: NodeRecord, state: DrainRecord, now: number): Move {
  const { plan } = state;
  const { reason, message: why } = whyNotDrained(state);
  if (plan.onTimeout === 'reboot') {
    const notice = `not wholly drained in ${plan.timeoutSeconds} s (${why}), rebooted all the same as its group says`;
    return { kind: 'note', record: { ...record, drain: { ...state, drainedAt: now }, notice } };
  }
  return failed(record, reason, `not drained in ${plan.timeoutSeconds} s: ${why}`);
}

/** Why a drain has not ended: what blocks it, or what is still there, or what went wrong. */
export function whyNotDrained({ blockedBy, left, trouble }: DrainRecord): { reason: string; message: string } {
  const blockers = blockedBy.length > 0 ? blockedBy : left;
  if (blockers.length > 0) return { reason: 'DrainBlocked', message: `blocked by ${blockers.join(', ')}` };
  return { reason: 'DrainFailed', message: trouble ?? 'its steps were not done in time' };
}

/** The next move of giving back; null when nothing of ours is left, `later` when the next try is not due yet. */
export function undrain(record: NodeRecord, now: number): Move | 'later' | null {
  const { drain: state } = record;
  const last = state?.begun.at(-1);
  if (state === null || last === undefined) return null;
  if (state.notBefore !== null && now < state.notBefore) return 'later';
  return { kind: 'drain', act: 'undo', record, ...stepOf(state, last) };
}

const stepOf = (
  { plan }: DrainRecord,
  { step, mine }: Begun,
): { index: number; step: AgentDrainStep; mine: string[] | null } => ({
  index: step,
  step: plan.steps[step] ?? { type: 'unknown', kind: `number ${step}` },
  mine,
});

/** What an adapter's answer leaves on record. */
export function absorbDrain(
  move: Extract<Move, { kind: 'drain' }>,
  outcome: DrainOutcome,
  limits: Limits,
  { now, random }: { now: number; random: number },
): Move {
  const { record, act, index } = move;
  const { drain: state } = record;
  if (state === null) return WAIT;
  const { begun } = state;
  const calm: DrainRecord = { ...state, left: [], blockedBy: [], trouble: null, tries: 0, notBefore: null };
  switch (outcome.kind) {
    case 'surveyed':
      return note(record, { ...calm, begun: [...begun, { step: index, mine: outcome.mine, done: false }] });
    case 'blocked': {
      // Nothing has been touched yet, and nothing is, unless the group goes on all the same.
      const { plan } = state;
      if (plan.onTimeout === 'reboot') {
        return note(record, { ...calm, begun: [...begun, { step: index, mine: outcome.mine, done: false }] });
      }
      const named = { ...calm, blockedBy: outcome.blockedBy.slice(0, NAMED_MAX) };
      const message = `step ${index + 1} of its drain was not begun: ${whyNotDrained(named).message}`;
      return failed({ ...record, drain: named }, 'DrainBlocked', message);
    }
    case 'done':
      return note(record, {
        ...calm,
        begun:
          act === 'undo'
            ? begun.slice(0, -1)
            : begun.map((each) => (each.step === index ? { ...each, done: true } : each)),
      });
    case 'waiting':
      return note(record, {
        ...calm,
        left: outcome.left.slice(0, NAMED_MAX),
        blockedBy: outcome.blockedBy.slice(0, NAMED_MAX),
        notBefore: now + limits.drainEveryMs,
      });
    case 'unavailable':
      return note(
        record,
        troubled(state, outcome.message, now, retryWaitMs(state.tries + 1, random, limits.drainEveryMs)),
      );
    case 'impossible':
      // What cannot be undone is tried again for ever and shown: a person has to see it.
      return act === 'undo'
        ? note(record, troubled(state, outcome.message, now, limits.retryAfterMs))
        : failed({ ...record, drain: { ...state, trouble: outcome.message } }, 'DrainFailed', outcome.message);
  }
}

const troubled = (state: DrainRecord, trouble: string, now: number, waitMs: number): DrainRecord => ({
  ...state,
  trouble,
  tries: state.tries + 1,
  notBefore: now + waitMs,
});

const note = (record: NodeRecord, drained: DrainRecord): Move => ({
  kind: 'note',
  record: { ...record, drain: drained },
});
