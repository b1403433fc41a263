/** The two curves and their presets: what each body means, and how long each wait is. */
import { describe, expect, test } from 'vitest';
import {
  type NodeBackoff,
  nodeBackoffOf,
  nodeResetAt,
  nodeRetryAfter,
  validated,
  type VmBackoff,
  vmBackoffOf,
  vmRetryDelay,
} from '../../core/policy/backoff.ts';
import { hours, instant, minutes, seconds } from '../../core/kit/time.ts';

const SEED = { unit: seconds(1), from: 'firstCrash', cap: hours(24), resetAfter: hours(24) };
const BRUPOP = { unit: minutes(1), plus: minutes(1), from: 'lastCrash', cap: hours(24), resetAfter: null };

describe('the back-off of a node', () => {
  test('is the seed’s unless another is named', () => {
    expect(nodeBackoffOf(undefined)).toEqual(SEED);
    expect(nodeBackoffOf({ preset: 'seed' })).toEqual(SEED);
    expect(nodeBackoffOf({ preset: 'brupop' })).toEqual(BRUPOP);
  });

  test('is what a body of its own says', () => {
    const body = { unit: '2s', from: 'lastCrash', cap: '1h', resetAfter: '2h' } as const;
    expect(nodeBackoffOf(body)).toEqual({ unit: 2000, from: 'lastCrash', cap: hours(1), resetAfter: hours(2) });
    expect(nodeBackoffOf({ ...body, resetAfter: 'none' })).toMatchObject({ resetAfter: null });
  });

  const first = instant(1000);
  const last = instant(500_000);
  const curve = (from: NodeBackoff['from']): NodeBackoff => ({
    unit: seconds(3),
    from,
    cap: minutes(10),
    resetAfter: null,
  });
  test.each([
    [-1, 3],
    [0, 3],
    [1, 6],
    [2, 12],
    [7, 384],
    [8, 600],
    [60, 600],
    [100_000, 600],
  ])('after crash %d it is %d s from the crash it runs from', (count, wait) => {
    const crashes = { count, firstAt: first, lastAt: last, disruptive: false };
    expect(nodeRetryAfter(curve('firstCrash'), crashes)).toBe(1000 + wait * 1000);
    expect(nodeRetryAfter(curve('lastCrash'), crashes)).toBe(500_000 + wait * 1000);
  });

  test.each([
    [0, 1],
    [1, 2],
    [3, 8],
    [10, 1024],
    [11, 1440],
    [100_000, 1440],
  ])('after crash %d that disturbed workloads it is at least %d min from the last', (count, mins) => {
    const crashes = { count, firstAt: first, lastAt: last, disruptive: true };
    const calm = 500_000 + mins * 60_000;
    expect(nodeRetryAfter(curve('firstCrash'), crashes)).toBe(calm);
    expect(nodeRetryAfter({ ...curve('lastCrash'), unit: hours(20), cap: hours(48) }, crashes)).toBe(
      500_000 + hours(Math.min(48, 20 * 2 ** count)),
    );
  });

  test('the preset brupop waits one minute more than 2^count, since the peer compares whole minutes strictly', () => {
    const wait = (count: number) =>
      nodeRetryAfter(nodeBackoffOf({ preset: 'brupop' }), { count, firstAt: first, lastAt: last, disruptive: true });
    expect([1, 2, 5, 10, 11].map((count) => (wait(count) - 500_000) / 60_000)).toEqual([3, 5, 33, 1025, 1440]);
  });

  test('nothing is given up unless the policy says so', () => {
    expect(nodeBackoffOf({ preset: 'seed' }).giveUpAfter).toBeUndefined();
    expect(nodeBackoffOf({ preset: 'brupop', giveUpAfter: 3 }).giveUpAfter).toBe(3);
  });

  test('the record is forgotten resetAfter from the first crash, or never', () => {
    expect(nodeResetAt({ ...curve('lastCrash'), resetAfter: hours(1) }, first)).toBe(1000 + 3_600_000);
    expect(nodeResetAt(curve('lastCrash'), first)).toBeNull();
  });
});

const VM_SEED = { growth: { kind: 'exponential', factor: 2 }, base: seconds(10), cap: seconds(300), jitter: 0.5 };

describe('the back-off of a VM', () => {
  test('is the seed’s unless another is named', () => {
    expect(vmBackoffOf(undefined)).toEqual(VM_SEED);
    expect(vmBackoffOf({ preset: 'seed' })).toEqual(VM_SEED);
    expect(vmBackoffOf({ preset: 'kubevirt' })).toEqual({ ...VM_SEED, growth: { kind: 'quadratic' } });
  });

  test('is what a body of its own says', () => {
    expect(vmBackoffOf({ base: '4s', factor: 3, cap: '9m', jitter: 0.25 })).toEqual({
      growth: { kind: 'exponential', factor: 3 },
      base: seconds(4),
      cap: minutes(9),
      jitter: 0.25,
    });
  });

  const tripling: VmBackoff = {
    growth: { kind: 'exponential', factor: 3 },
    base: seconds(4),
    cap: seconds(200),
    jitter: 0.25,
  };
  const quadratic: VmBackoff = { ...tripling, growth: { kind: 'quadratic' } };
  // From, and up to which delay, in ms: where the jitter could pass the cap it is drawn below it, and at the cap spread.
  test.each<[string, VmBackoff, number, number, number]>([
    ['3^n', tripling, 0, 4000, 5000],
    ['3^n', tripling, 1, 4000, 5000],
    ['3^n', tripling, 2, 12_000, 15_000],
    ['3^n', tripling, 4, 108_000, 135_000],
    ['3^n', tripling, 5, 160_000, 200_000],
    ['3^n', tripling, 5000, 160_000, 200_000],
    ['n²', quadratic, 1, 4000, 5000],
    ['n²', quadratic, 3, 36_000, 45_000],
    ['n²', quadratic, 7, 196_000, 200_000],
    ['n²', quadratic, 8, 160_000, 200_000],
    ['n²', quadratic, 5_000_000, 160_000, 200_000],
    ['a base that is the cap', { ...tripling, cap: seconds(4) }, 1, 3200, 4000],
    ['no jitter', { ...tripling, jitter: 0 }, 3, 36_000, 36_000],
    ['an endless curve', { ...tripling, cap: hours(8760) }, 5000, hours(8760) / 1.25, hours(8760)],
  ])('%s: %j after failure %d is from %d to %d ms', (_what, backoff, failures, from, to) => {
    expect(vmRetryDelay(backoff, failures, 0)).toBe(from);
    expect(vmRetryDelay(backoff, failures, 1)).toBe(to);
    expect(vmRetryDelay(backoff, failures, 0.5)).toBe(Math.round((from + to) / 2));
  });
});

test('a text that the contract could not have accepted reads as the longest duration', () => {
  expect(validated('90s')).toBe(seconds(90));
  expect(validated('whenever')).toBe(hours(8760));
});
