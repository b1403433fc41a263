/** What a body means once every default is filled in. */
import { rolloutPolicyOf } from '../../core/policy/rollout.ts';
import { describe, expect, test } from 'vitest';
import { nodeBackoffOf, vmBackoffOf } from '../../core/policy/backoff.ts';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { type Concurrency, limitOf } from '../../core/policy/limit.ts';
import { vmPolicyOf } from '../../core/policy/vm-policy.ts';
import { hours, milliseconds, minutes, seconds } from '../../core/kit/time.ts';

const DEADLINES = {
  StagedUpdate: minutes(12),
  PerformedUpdate: minutes(5),
  RebootedIntoUpdate: minutes(15),
  MonitoringUpdate: minutes(5),
  Idle: minutes(2),
};

describe('the policy of a group', () => {
  test('has the defaults of section 2', () => {
    expect(groupPolicyOf({})).toEqual({
      backoff: nodeBackoffOf({ preset: 'seed' }),
      deadlines: DEADLINES,
      soak: minutes(2),
      concurrency: { kind: 'count', count: 1 },
      rollout: rolloutPolicyOf({}),
    });
    expect(groupPolicyOf({ monitor: {} }).soak).toBe(minutes(2));
  });

  test.each(['StagedUpdate', 'PerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate', 'Idle'] as const)(
    'has the deadline that is given for %s, and the default for every other',
    (state) => {
      expect(groupPolicyOf({ deadlines: { [state]: '7h' } }).deadlines).toEqual({ ...DEADLINES, [state]: hours(7) });
    },
  );

  test('has the soak time and the back-off that are given', () => {
    expect(groupPolicyOf({ monitor: { soak: '9s' }, backoff: { preset: 'brupop' } })).toMatchObject({
      soak: seconds(9),
      backoff: nodeBackoffOf({ preset: 'brupop' }),
    });
  });

  test.each<[number | string, Concurrency]>([
    [7, { kind: 'count', count: 7 }],
    ['25%', { kind: 'percent', percent: 25 }],
    ['unlimited', { kind: 'unlimited' }],
  ])('reads maxConcurrentUpdates %s', (maxConcurrentUpdates, concurrency) => {
    expect(groupPolicyOf({ maxConcurrentUpdates }).concurrency).toEqual(concurrency);
  });
});

describe('how many may be under way', () => {
  test.each<[Concurrency, number | null, number | null]>([
    [{ kind: 'count', count: 7 }, 3, 7],
    [{ kind: 'percent', percent: 50 }, null, 1],
    [{ kind: 'percent', percent: 50 }, 0, 1],
    [{ kind: 'percent', percent: 50 }, 3, 1],
    [{ kind: 'percent', percent: 50 }, 4, 2],
    [{ kind: 'percent', percent: 99 }, 100, 99],
    [{ kind: 'unlimited' }, 3, null],
  ])('%j of %s members: %s', (concurrency, members, limit) => {
    expect(limitOf(concurrency, members)).toBe(limit);
  });
});

describe('the policy of a VM', () => {
  const DEFAULTS = {
    backoff: vmBackoffOf({ preset: 'seed' }),
    stableFor: minutes(10),
    startDeadline: minutes(5),
    giveUpAfter: null,
    lease: null,
    grace: seconds(30),
  };

  test('has the defaults of section 3', () => {
    expect(vmPolicyOf({})).toEqual(DEFAULTS);
  });

  test.each([
    [{ stableFor: '7s' }, { stableFor: seconds(7) }],
    [{ startDeadline: '7s' }, { startDeadline: seconds(7) }],
    [{ startDeadline: 'none' }, { startDeadline: null }],
    [{ grace: '0s' }, { grace: milliseconds(0) }],
    [{ backoff: { preset: 'kubevirt' as const } }, { backoff: vmBackoffOf({ preset: 'kubevirt' }) }],
  ])('%j changes that alone', (given, changed) => {
    expect(vmPolicyOf(given)).toEqual({ ...DEFAULTS, ...changed });
  });
});
