/** DESIGN section 2b, Breaker: which crashes open it, and what closes it. */
import { describe, expect, test } from 'vitest';
import { type NodeId, parseNodeId } from '../../core/kit/ids.ts';
import { hours, instant, type Instant, minutes } from '../../core/kit/time.ts';
import type { Breaker } from '../../core/policy/rollout.ts';
import {
  type BreakerState,
  closeBreaker,
  countCrash,
  NO_CRASHES,
  putBreaker,
} from '../../core/rollout/breaker-state.ts';

const node = (n: number): NodeId => parseNodeId(`i-${n.toString(16).padStart(17, '0')}`) ?? expect.fail('a node id');
const at = (minute: number): Instant => instant(1_767_225_600_000 + minute * 60_000);
const BREAKER: Breaker = { failures: 3, within: hours(1) };
type Row = [node: number, version: string, minute: number];

function afterCrashes(rows: readonly Row[], breaker: Breaker = BREAKER): BreakerState {
  return rows.reduce(
    (state, [n, version, minute]) => countCrash(state, breaker, { nodeId: node(n), version, at: at(minute) }).state,
    NO_CRASHES,
  );
}
const openFor = (state: BreakerState): string[] => state.open.map(({ version }) => version);

describe('the breaker opens', () => {
  test.each<[what: string, crashes: Row[], open: string[]]>([
    [
      'with the third distinct node within the time',
      [
        [1, 'v2', 0],
        [2, 'v2', 10],
        [3, 'v2', 60],
      ],
      ['v2'],
    ],
    [
      'not with the second',
      [
        [1, 'v2', 0],
        [2, 'v2', 10],
      ],
      [],
    ],
    [
      'not when the first is longer ago',
      [
        [1, 'v2', 0],
        [2, 'v2', 10],
        [3, 'v2', 61],
      ],
      [],
    ],
    [
      'not for one node that crashes often',
      [
        [1, 'v2', 0],
        [1, 'v2', 1],
        [1, 'v2', 2],
        [1, 'v2', 3],
      ],
      [],
    ],
    [
      'for each version by itself',
      [
        [1, 'v2', 0],
        [2, 'v3', 1],
        [3, 'v2', 2],
        [4, 'v3', 3],
      ],
      [],
    ],
    [
      'by the last crash of each node',
      [
        [1, 'v2', 0],
        [2, 'v2', 50],
        [1, 'v2', 60],
        [3, 'v2', 100],
      ],
      ['v2'],
    ],
    [
      'for two versions at once',
      [
        [1, 'v2', 0],
        [2, 'v2', 1],
        [3, 'v2', 2],
        [4, 'v3', 3],
        [5, 'v3', 4],
        [6, 'v3', 5],
      ],
      ['v2', 'v3'],
    ],
  ])('%s', (_what, crashes, open) => {
    expect(openFor(afterCrashes(crashes))).toEqual(open);
  });

  test('once, with the nodes that opened it; those that crash later are named with them', () => {
    const two = afterCrashes([
      [1, 'v2', 0],
      [2, 'v2', 1],
    ]);
    const third = countCrash(two, BREAKER, { nodeId: node(3), version: 'v2', at: at(2) });
    expect(third.opened).toEqual([{ version: 'v2', openedAt: at(2), nodes: [node(1), node(2), node(3)] }]);
    const fourth = countCrash(third.state, BREAKER, { nodeId: node(4), version: 'v2', at: at(300) });
    expect(fourth.opened).toEqual([]);
    expect(fourth.state.open).toEqual([
      { version: 'v2', openedAt: at(2), nodes: [node(1), node(2), node(3), node(4)] },
    ]);
  });

  test('whatever the order in which the crashes are heard of', () => {
    const late = countCrash(afterCrashes([[1, 'v2', 30]]), BREAKER, { nodeId: node(1), version: 'v2', at: at(5) });
    expect(late.state.crashes).toEqual([{ nodeId: node(1), version: 'v2', at: at(30) }]);
  });
});

describe('the breaker closes', () => {
  const open = afterCrashes([
    [1, 'v2', 0],
    [2, 'v2', 1],
    [3, 'v2', 2],
    [4, 'v3', 3],
  ]);

  test('when a person says so, and what counted towards it is forgotten', () => {
    const { state, closed } = closeBreaker(open, 'v2', at(20));
    expect(closed.map(({ version }) => version)).toEqual(['v2']);
    const forgiven = [{ version: 'v2', at: at(20) }];
    expect(state).toEqual({ crashes: [{ nodeId: node(4), version: 'v3', at: at(3) }], open: [], forgiven });
    const again = { nodeId: node(1), version: 'v2', at: at(20) };
    expect(countCrash(state, BREAKER, again).state).toEqual(state);
    expect(countCrash(state, BREAKER, { ...again, at: at(21) }).state.crashes).toHaveLength(2);
    expect(closeBreaker(open, null, at(20)).state).toMatchObject({ crashes: [], open: [] });
  });

  test.each<
    [what: string, breaker: Breaker | null, minute: number, open: string[], closed: string[], opened: string[]]
  >([
    ['stays with the same numbers', BREAKER, 10, ['v2'], [], []],
    ['closes with a higher number', { failures: 4, within: hours(1) }, 10, [], ['v2'], []],
    ['closes without a breaker', null, 10, [], ['v2'], []],
    ['closes with a time in which too few crashed', { failures: 3, within: minutes(5) }, 10, [], ['v2'], []],
    ['opens for more with a lower number', { failures: 1, within: hours(1) }, 10, ['v2', 'v3'], [], ['v3']],
  ])('a policy is judged at once: %s', (_what, breaker, minute, stays, closed, opened) => {
    const change = putBreaker(open, breaker, at(minute));
    expect(openFor(change.state)).toEqual(stays);
    expect(change.closed.map(({ version }) => version)).toEqual(closed);
    expect(change.opened.map(({ version }) => version)).toEqual(opened);
  });

  test('one that stays open keeps the instant at which it opened', () => {
    expect(putBreaker(open, { failures: 2, within: hours(2) }, at(90)).state.open[0]?.openedAt).toEqual(at(2));
  });
});

test('what is kept is bounded: a crash a node and version, and the ten versions that crashed last', () => {
  let state = NO_CRASHES;
  for (let n = 0; n < 3000; n += 1) {
    state = countCrash(
      state,
      { failures: 100, within: hours(24) },
      { nodeId: node(n), version: `v${Math.floor(n / 200)}`, at: at(n) },
    ).state;
  }
  expect(new Set(state.crashes.map(({ version }) => version)).size).toBe(10);
  expect(state.crashes.length).toBe(1000);
});
