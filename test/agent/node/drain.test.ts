/** Emptying a node and giving back what was taken: what is next, and what an answer leaves on record (docs/agent.md, Draining). */
import { describe, expect, test } from 'vitest';
import { absorbDrain, drain, undrain } from '../../../agent/node/drain.ts';
import {
  type AgentDrainPlan,
  type DrainAct,
  type DrainOutcome,
  type DrainRecord,
  newDrain,
  readDrainPlan,
  unknownDrain,
} from '../../../agent/node/drain-record.ts';
import type { NodeRecord } from '../../../agent/node/memory.ts';
import type { Move } from '../../../agent/node/move.ts';
import { limits, onTheWay, T0 } from './node-record.ts';

/** The longest wait of each that is drawn. */
const AT = { now: T0, random: 1 };

const PLAN: AgentDrainPlan = {
  steps: [{ type: 'exec', hook: 'stop-writes', undo: 'allow-writes' }, { type: 'kubernetes' }],
  timeoutSeconds: 600,
  onTimeout: 'abort',
};
const holding = (state: DrainRecord | null): NodeRecord =>
  onTheWay('PerformedUpdate', 'RebootedIntoUpdate', {}, { drain: state });
const draining = (change: Partial<DrainRecord> = {}): DrainRecord => ({ ...newDrain(PLAN), startedAt: T0, ...change });
const hook = (done: boolean) => ({ step: 0, mine: ['hook'], done });
const cordon = (done: boolean, mine: string[] | null = ['cordon']) => ({ step: 1, mine, done });
const PATIENT: Partial<DrainRecord> = { plan: { ...PLAN, onTimeout: 'reboot' } };

/** A drain move as its act, its step and what is ours; a note as what has become of the drain. */
function inWords(move: Move | 'later' | null): string {
  if (move === null || move === 'later') return move ?? 'nothing';
  if (move.kind === 'drain') {
    const kind = move.step.type === 'unknown' ? move.step.kind : move.step.type;
    return `${move.act} ${move.index} ${kind}, ours: ${move.mine?.join(', ') ?? 'not known'}`;
  }
  if (move.kind === 'end') return `${move.record.error?.reason}: ${move.record.error?.message}`;
  if (move.kind !== 'note') return move.kind;
  const { drain: state, notice } = move.record;
  if (state?.drainedAt != null) return `drained${notice === null ? '' : `, ${notice}`}`;
  return state?.startedAt === T0 ? 'begun' : 'note';
}

describe('draining', () => {
  test.each<[string, DrainRecord | null, string]>([
    ['no plan: nothing to do', null, 'nothing'],
    ['a plan without a step: nothing to do', newDrain({ ...PLAN, steps: [] }), 'nothing'],
    ['all is drained: nothing to do', draining({ drainedAt: T0 }), 'nothing'],
    ['the time of draining begins before its first step', newDrain(PLAN), 'begun'],
    ['a step begins with what would be ours', draining(), 'survey 0 exec, ours: not known'],
    ['it is done once that is on record', draining({ begun: [hook(false)] }), 'drain 0 exec, ours: hook'],
    ['the next one comes when it is done', draining({ begun: [hook(true)] }), 'survey 1 kubernetes, ours: not known'],
    [
      'what others had taken before is not ours',
      draining({ begun: [hook(true), cordon(false, [])] }),
      'drain 1 kubernetes, ours: ',
    ],
    ['the last one done: drained', draining({ begun: [hook(true), cordon(true)] }), 'drained'],
    ['between two looks it waits', draining({ notBefore: T0 + 1 }), 'wait'],
    ['until the next is due', draining({ notBefore: T0 }), 'survey 0 exec, ours: not known'],
  ])('%s', (_what, state, words) => {
    expect(inWords(drain(holding(state), T0))).toBe(words);
  });
});

describe('when its time is up', () => {
  const [db, web] = ['default/db (its disruption budget)', 'default/web'];
  test.each<[string, Partial<DrainRecord>, string]>([
    [
      'it gives up and names what blocks',
      { blockedBy: [db], left: [db, web] },
      `DrainBlocked: not drained in 600 s: blocked by ${db}`,
    ],
    [
      'what is left blocks where nothing else does',
      { left: [db, web] },
      `DrainBlocked: not drained in 600 s: blocked by ${db}, ${web}`,
    ],
    ['what could not be asked has failed', { trouble: 'no route' }, 'DrainFailed: not drained in 600 s: no route'],
    ['and so has what was only slow', {}, 'DrainFailed: not drained in 600 s: its steps were not done in time'],
    [
      'a wait for the next look is no reason to go on',
      { notBefore: T0 + 900_000, trouble: 'no route' },
      'DrainFailed: not drained in 600 s: no route',
    ],
    [
      'with onTimeout reboot it counts as drained, and says so',
      { ...PATIENT, blockedBy: [db] },
      `drained, not wholly drained in 600 s (blocked by ${db}), rebooted all the same as its group says`,
    ],
  ])('%s', (_what, change, words) => {
    expect(inWords(drain(holding(draining(change)), T0 + 600_000))).toBe(words);
  });

  test('and not an instant before', () => {
    expect(inWords(drain(holding(draining()), T0 + 599_999))).toBe('survey 0 exec, ours: not known');
  });
});

describe('giving back', () => {
  test.each<[string, DrainRecord | null, string]>([
    ['no drain: nothing', null, 'nothing'],
    ['nothing begun: nothing', draining(), 'nothing'],
    [
      'the last begun is the first given back',
      draining({ begun: [hook(true), cordon(true)] }),
      'undo 1 kubernetes, ours: cordon',
    ],
    ['also where it was not done', draining({ begun: [hook(true), cordon(false)] }), 'undo 1 kubernetes, ours: cordon'],
    ['then the one before it', draining({ begun: [hook(true)] }), 'undo 0 exec, ours: hook'],
    ['after a lost record what is ours has to be proved', unknownDrain(PLAN), 'undo 1 kubernetes, ours: not known'],
    [
      'a step that the plan no longer has is still not skipped',
      draining({ begun: [{ ...hook(true), step: 7 }] }),
      'undo 7 number 7, ours: hook',
    ],
    ['between two tries it is due later', draining({ begun: [hook(true)], notBefore: T0 + 1 }), 'later'],
    ['and has no time-out', draining({ begun: [hook(true)], startedAt: 0 }), 'undo 0 exec, ours: hook'],
  ])('%s', (_what, state, words) => {
    expect(inWords(undrain(holding(state), T0))).toBe(words);
  });
});

describe('what an answer leaves on record', () => {
  const before = draining({
    begun: [hook(true), cordon(false)],
    left: ['a'],
    blockedBy: ['a'],
    trouble: 'old',
    notBefore: 1,
  });
  const calm = { left: [], blockedBy: [], trouble: null, notBefore: null };
  const many = Array.from({ length: 12 }, (_each, index) => `pod-${index}`);
  const asked = (act: DrainAct, state: DrainRecord | null, index = 1): Extract<Move, { kind: 'drain' }> => ({
    kind: 'drain',
    act,
    record: holding(state),
    index,
    step: { type: 'kubernetes' },
    mine: ['cordon'],
  });

  test.each<[string, DrainAct, DrainOutcome, Partial<DrainRecord>]>([
    [
      'a survey: what is ours, before it is taken',
      'survey',
      { kind: 'surveyed', mine: ['cordon'] },
      { ...calm, begun: [hook(true), cordon(false), cordon(false)] },
    ],
    ['a step that is done', 'drain', { kind: 'done' }, { ...calm, begun: [hook(true), cordon(true)] }],
    ['a step that is given back is forgotten', 'undo', { kind: 'done' }, { ...calm, begun: [hook(true)] }],
    [
      'a step under way: what is left, what blocks, the next look',
      'drain',
      { kind: 'waiting', left: many, blockedBy: ['pod-0'] },
      { left: many.slice(0, 10), blockedBy: ['pod-0'], trouble: null, notBefore: T0 + 5000 },
    ],
    [
      'no more than ten are named',
      'drain',
      { kind: 'waiting', left: [], blockedBy: many },
      { left: [], blockedBy: many.slice(0, 10), trouble: null, notBefore: T0 + 5000 },
    ],
    [
      'what could not be asked is asked again, and what blocked still does',
      'drain',
      { kind: 'unavailable', message: 'no route' },
      { trouble: 'no route', tries: 1, notBefore: T0 + 5000 },
    ],
    [
      'also when giving back',
      'undo',
      { kind: 'unavailable', message: 'no route' },
      { trouble: 'no route', tries: 1, notBefore: T0 + 5000 },
    ],
    [
      'what can never be given back is tried again and again, and shown',
      'undo',
      { kind: 'impossible', message: 'no such hook' },
      { trouble: 'no such hook', tries: 1, notBefore: T0 + 30_000 },
    ],
  ])('%s', (_what, act, outcome, change) => {
    const move = absorbDrain(asked(act, before), outcome, limits, AT);
    expect(move).toEqual({ kind: 'note', record: holding({ ...before, ...change }) });
  });

  test('what can never be drained is DrainFailed, and what was begun is still known', () => {
    const move = absorbDrain(asked('drain', before), { kind: 'impossible', message: 'no such hook' }, limits, AT);
    expect(inWords(move)).toBe('DrainFailed: no such hook');
    expect('record' in move && move.record.drain).toEqual({ ...before, trouble: 'no such hook' });
  });

  test.each([
    [0, 1, 5000],
    [0, 0, 2500],
    [1, 1, 10_000],
    [3, 0, 20_000],
    [4, 1, 60_000],
    [900, 1, 60_000],
  ])(
    'what went wrong %i times in a row waits longer, and not all nodes alike (drawn %f): %i ms',
    (tries, random, ms) => {
      const outcome = { kind: 'unavailable', message: 'throttled' } as const;
      const move = absorbDrain(asked('drain', { ...before, tries }), outcome, limits, { now: T0, random });
      expect('record' in move && move.record.drain).toMatchObject({ tries: tries + 1, notBefore: T0 + ms });
    },
  );

  const blocked = { kind: 'blocked', mine: ['cordon'], blockedBy: ['task 7'] } as const;
  test('what cannot be moved is refused before anything is touched, and nothing of it is ours', () => {
    const move = absorbDrain(
      asked('survey', before),
      { ...blocked, mine: ['cordon'], blockedBy: ['task 7'] },
      limits,
      AT,
    );
    expect(inWords(move)).toBe('DrainBlocked: step 2 of its drain was not begun: blocked by task 7');
    expect('record' in move && move.record.drain).toMatchObject({ begun: before.begun, blockedBy: ['task 7'] });
  });

  test('unless its group reboots all the same: then what can be moved is', () => {
    const forced = { ...before, plan: { ...before.plan, onTimeout: 'reboot' as const } };
    const move = absorbDrain(
      asked('survey', forced),
      { ...blocked, mine: ['cordon'], blockedBy: ['task 7'] },
      limits,
      AT,
    );
    expect('record' in move && move.record.drain?.begun).toEqual([
      ...before.begun,
      { step: 1, mine: ['cordon'], done: false },
    ]);
  });

  test('nothing, where there is no drain', () => {
    expect(absorbDrain(asked('drain', null), { kind: 'done' }, limits, AT)).toEqual({ kind: 'wait' });
  });
});

describe('the plan of an answer', () => {
  test.each<[string, unknown, AgentDrainPlan | null]>([
    ['none', undefined, null],
    ['as it is', PLAN, PLAN],
    ['with what is to happen when its time is up', { ...PLAN, onTimeout: 'reboot' }, { ...PLAN, onTimeout: 'reboot' }],
    [
      'a step that is newer is kept, so that it fails and is not skipped',
      { ...PLAN, steps: [{ type: 'nomad', job: 'x' }] },
      { ...PLAN, steps: [{ type: 'unknown', kind: 'nomad' }] },
    ],
    ['a word for onTimeout that is newer reboots nobody', { ...PLAN, onTimeout: 'shout' }, PLAN],
    [
      'one that cannot be read fails',
      { steps: 'all' },
      { steps: [{ type: 'unknown', kind: 'that cannot be read' }], timeoutSeconds: 1, onTimeout: 'abort' },
    ],
  ])('%s', (_what, value, read) => {
    expect(readDrainPlan(value)).toEqual(read);
  });
});
