/** What the control plane says of a step's times (DESIGN section 2 rule 2 and section 2b), and what the agent makes of them. */
import { describe, expect, test } from 'vitest';
import { decide, mayAct } from '../../../agent/node/decide.ts';
import type { Memory, NodeRecord } from '../../../agent/node/memory.ts';
import { newDrain } from '../../../agent/node/drain-record.ts';
import { Hand, type HandOptions } from '../../../agent/node/hand.ts';
import { watchAnew } from '../../../agent/node/monitor.ts';
import type { Seen } from '../../../agent/node/move.ts';
import { standingOf } from '../../../agent/node/reporter.ts';
import { type Wanted, wantedOf } from '../../../agent/node/wanted.ts';
import { limits, onTheWay, seen, status, T0 } from './node-record.ts';

const kept = (record: NodeRecord): Memory => ({ kind: 'kept', record });
const READY = { update: status({ state: 'Ready', staging: { version: '2.0.0', nextToBoot: true } }) };
const PLAN = { steps: [{ type: 'kubernetes' as const }], timeoutSeconds: 600, onTimeout: 'abort' as const };

describe('the times of an answer are counted from the sending of the report', () => {
  test.each([
    ['a long step leaves a minute', 900, T0 + 840_000],
    ['a short one a fifth', 100, T0 + 80_000],
    ['none', undefined, null],
  ])('%s', (_what, withinSeconds, until) => {
    const times = withinSeconds === undefined ? {} : { withinSeconds };
    expect(wantedOf({ state: 'Idle', version: null, generation: 1, ...times }, T0).until).toBe(until);
  });

  test('all of them', () => {
    const desired = { state: 'RebootedIntoUpdate', version: '2.0.0', generation: 5 } as const;
    expect(wantedOf({ ...desired, beginWithinSeconds: 120, soakSeconds: 30, pin: '2.0.0' }, T0)).toEqual({
      ...desired,
      until: null,
      beginBefore: T0 + 120_000,
      soakMs: 30_000,
      pin: '2.0.0',
    });
    expect(wantedOf(desired, T0)).toEqual({ ...desired, until: null, beginBefore: null, soakMs: null, pin: null });
  });
});

describe("the control plane's limit is the agent's", () => {
  const staging = (until: number | null): NodeRecord => onTheWay('Idle', 'StagedUpdate', { until });
  const busy = (ms: number) => seen({ now: T0 + ms, update: { kind: 'busy' } });
  test.each([
    ['longer than its own setting', T0 + 3_000_000, 2_999_999, 'wait'],
    ['longer, and over', T0 + 3_000_000, 3_000_000, 'LockTimeout: StagedUpdate was not reached in 3000 s: '],
    ['shorter', T0 + 60_000, 60_000, 'LockTimeout: StagedUpdate was not reached in 60 s: '],
    ['not said: its own', null, 599_999, 'wait'],
    ['not said: its own, and over', null, 600_000, 'LockTimeout: StagedUpdate was not reached in 600 s: '],
  ])('%s', (_what, until, ms, words) => {
    const move = decide(kept(staging(until)), null, busy(ms), limits);
    const { error } = 'record' in move ? move.record : { error: null };
    expect(error === null ? move.kind : `${error.reason}: ${error.message}`).toContain(words);
  });

  test('a drain that is not done by then is blocked by what blocks it, whatever its own time is', () => {
    const drain = { ...newDrain(PLAN), startedAt: T0, blockedBy: ['web/0'], notBefore: T0 + 999_999 };
    const record = onTheWay('PerformedUpdate', 'RebootedIntoUpdate', { until: T0 + 300_000 }, { drain });
    expect(decide(kept(record), null, seen({ ...READY, now: T0 + 300_000 }), limits)).toMatchObject({
      kind: 'end',
      record: { error: { reason: 'DrainBlocked', message: expect.stringContaining('blocked by web/0') } },
    });
  });

  test('a state folder that cannot be written is the reason that is said', () => {
    const look = { ...busy(600_000), unwritable: 'its state cannot be written (no space)' };
    expect(decide(kept(staging(null)), null, look, limits)).toMatchObject({
      record: { error: { reason: 'StateUnwritable', message: expect.stringContaining('no space') } },
    });
  });
});

describe('a reboot that is heard of too late is not begun', () => {
  const armed = (change: Partial<NodeRecord> = {}): NodeRecord => ({
    ...onTheWay('PerformedUpdate', 'RebootedIntoUpdate', {}, { activated: true, ...change }),
    step: null,
    generation: 4,
  });
  const want = (beginBefore: number | null, generation = 5): Wanted => ({
    state: 'RebootedIntoUpdate',
    version: '2.0.0',
    generation,
    drain: PLAN,
    beginBefore,
  });

  test('not even its drain: PerformedUpdate is reported, with notBegun, under the generation it was told', () => {
    const move = decide(kept(armed()), want(T0), seen(READY), limits);
    expect(move).toMatchObject({ kind: 'end', record: { generation: 5, step: null, notBegun: true, error: null } });
    if (move.kind !== 'end') throw new Error('not reported');
    expect(standingOf(kept(move.record))).toEqual({ generation: 5, state: 'PerformedUpdate', notBegun: true });
  });

  test('answered anew, under the same generation, it begins', () => {
    const late = armed({ notBegun: true });
    const memory = kept({ ...late, generation: 5 });
    expect(mayAct(memory, want(T0), T0)).toBe(false);
    expect(mayAct(memory, want(T0 + 1), T0)).toBe(true);
    expect(decide(memory, want(T0 + 1), seen(READY), limits)).toMatchObject({
      kind: 'note',
      record: { notBegun: false, step: { target: 'RebootedIntoUpdate', beginBefore: T0 + 1, begun: false } },
    });
  });

  test('withdrawn, it goes back and takes the activation back', () => {
    const memory = kept({ ...armed({ notBegun: true }), generation: 5 });
    const move = decide(memory, { state: 'Idle', version: null, generation: 6 }, seen(READY), limits);
    expect(move).toMatchObject({ kind: 'note', record: { notBegun: false, step: { target: 'Idle' } } });
    if (move.kind !== 'note') throw new Error('not begun');
    expect(decide(kept(move.record), null, seen(READY), limits)).toMatchObject({ kind: 'act', command: 'deactivate' });
  });

  const begun = (step: Partial<NonNullable<NodeRecord['step']>>): NodeRecord =>
    onTheWay('PerformedUpdate', 'RebootedIntoUpdate', { beginBefore: T0 + 5, ...step }, { drain: newDrain(PLAN) });
  test('told in time and held up until it was late: the same', () => {
    const move = decide(kept(begun({})), null, seen({ update: { kind: 'busy' }, now: T0 + 5 }), limits);
    expect(move).toMatchObject({ kind: 'end', record: { notBegun: true, drain: null } });
  });

  const look = (now: number, more: Partial<Seen> = {}): Seen => seen({ ...READY, now, ...more });
  const drainOf = (done: boolean): NodeRecord['drain'] => ({
    ...newDrain(PLAN),
    startedAt: T0,
    begun: [{ step: 0, mine: ['node'], done }],
  });
  const firstActs: [string, Partial<NodeRecord>, Partial<Seen>, object][] = [
    ['what takes the node out of service', { drain: drainOf(false) }, {}, { kind: 'drain', act: 'drain' }],
    ['the end of its VMs', { drain: null }, { liveVms: 1 }, { kind: 'note' }],
    ['the reboot itself', { drain: null }, {}, { kind: 'act', command: 'reboot' }],
  ];
  test.each(firstActs)('that it begins is on record with its first act: %s', (_what, change, more, act) => {
    const record = { ...begun({}), ...change };
    expect(decide(kept(record), null, look(T0 + 4, more), limits)).toMatchObject({
      ...act,
      record: { step: { begun: true } },
    });
    expect(decide(kept(record), null, look(T0 + 5, more), limits)).toMatchObject({
      kind: 'end',
      record: { notBegun: true, drain: null },
    });
  });

  test.each<[string, NodeRecord['drain']]>([
    ['the start of the drain', newDrain(PLAN)],
    ['a look at what would be drained', { ...newDrain(PLAN), startedAt: T0 }],
  ])('%s disturbs nobody and is no beginning', (_what, drain) => {
    const move = decide(kept({ ...begun({}), drain }), null, look(T0 + 4), limits);
    expect(move).toMatchObject({ record: { step: { begun: false } } });
  });

  test('once begun it is done, however late it has become', () => {
    const record = { ...begun({ begun: true }), drain: drainOf(false) };
    expect(decide(kept(record), null, look(T0 + 600), limits)).toMatchObject({ kind: 'drain', act: 'drain' });
  });

  test.each([
    ['the reboot', null, 'reboot'],
    ['the drain', drainOf(false), 'drain'],
  ])('%s whose record took until it was too late to write is not sent', async (_what, drain, would) => {
    let [record, now] = [{ ...begun({}), drain }, T0];
    const sent: string[] = [];
    const ends: boolean[] = [];
    const keep = (next: NodeRecord): void => {
      record = next;
      now = T0 + 5;
    };
    // The rest of what a hand is given is not used on this way.
    const hand = new Hand({
      driver: { command: () => sent.push('reboot') },
      drainer: () => sent.push('drain'),
      keeper: {
        keep,
        keepFirst: keep,
        get memory() {
          return kept(record);
        },
      },
      offers: {},
      now: () => now,
      log: () => undefined,
      changed: (reportNow: boolean) => ends.push(reportNow),
    } as unknown as HandOptions);
    const move = decide(kept(record), null, look(T0 + 4), limits);
    expect(move.kind === 'act' ? move.command : move.kind).toBe(would);
    await hand.carryOut(move);
    expect([sent, ends]).toEqual([[], [true]]);
    expect(record).toMatchObject({ state: 'PerformedUpdate', step: null, drain: null, notBegun: true, error: null });
  });

  test('a control plane that says nothing of it is obeyed whenever it is heard', () => {
    expect(decide(kept(armed()), want(null), seen(READY), limits)).toMatchObject({ kind: 'note' });
  });
});

describe('a boot in the soak time', () => {
  const monitor = {
    plan: { checks: [], onFailure: 'rollback' as const },
    nextAt: T0,
    failing: null,
    bootId: 'b2',
    windowMs: 240_000,
  };
  const soaking = onTheWay('MonitoringUpdate', 'MonitoringUpdate', {}, { monitor });
  const watched = { ...soaking, step: null };

  test('begins the watch anew: services start again and have as long for it', () => {
    expect(decide(kept(watched), null, seen({ bootId: 'b3' }), limits)).toMatchObject({
      kind: 'note',
      record: {
        state: 'RebootedIntoUpdate',
        step: { target: 'MonitoringUpdate', startedAt: T0, until: T0 + 240_000 },
        monitor: { bootId: 'b3', nextAt: 0, failing: null },
      },
    });
  });

  test.each<[string, NodeRecord, string]>([
    ['the same boot', watched, 'b2'],
    ['a record that did not keep which', { ...watched, monitor: { ...monitor, bootId: null } }, 'b3'],
    ['one that has failed already', { ...watched, error: { reason: 'HealthCheckFailed', message: '' } }, 'b3'],
    ['one on its way to Idle', onTheWay('MonitoringUpdate', 'Idle', {}, { monitor }), 'b3'],
    ['one without checks', { ...watched, monitor: null }, 'b3'],
  ])('is none: %s', (_what, record, bootId) => {
    expect(watchAnew(record, bootId, T0)).toBeNull();
  });
});
