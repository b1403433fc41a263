/** DESIGN section 2b, Version: what may be taken, and from when. */
import { describe, expect, test } from 'vitest';
import { days, instant, type Instant, milliseconds } from '../../core/kit/time.ts';
import { rolloutPolicyOf } from '../../core/policy/rollout.ts';
import { tooYoungUntil, whyNotAllowed } from '../../core/rollout/version-rules.ts';

const policy = (version: NonNullable<Parameters<typeof rolloutPolicyOf>[0]['version']> = {}) =>
  rolloutPolicyOf({ version }).version;
const day = (n: number): Instant => instant(1_767_225_600_000 + n * 86_400_000);

describe('an offer is a target', () => {
  test.each([
    [{}, '1.21.0', '1.20.5', null],
    [{}, 'build-b', 'build-a', null],
    [{}, '1.20.4', '1.20.5', '1.20.4 is older than 1.20.5, which runs, and its group allows no downgrade'],
    [{ allowDowngrade: true }, '1.20.4', '1.20.5', null],
    [{ pin: '1.21.0' }, '1.21.0', '1.20.5', null],
    [{ pin: 'v1.21.0' }, '1.21.0', '1.20.5', null],
    [{ pin: '1.21.0' }, '1.22.0', '1.20.5', 'its group is pinned to 1.21.0, and 1.22.0 is offered'],
    [{ skip: ['1.21.0', '1.21.1'] }, '1.21.1', '1.20.5', 'its group skips 1.21.1'],
    [{ skip: ['1.21.0'] }, '1.21.1', '1.20.5', null],
  ])('with %j, %s over %s: %s', (version, offered, running, wanted) => {
    expect(whyNotAllowed(policy(version), offered, running)).toBe(wanted);
  });
});

describe('a version is too young', () => {
  const week = policy({ minVersionAge: '7d' });
  test.each([
    ['until a week after it was first seen', week, day(0), day(3), day(7)],
    ['no longer then', week, day(0), day(7), null],
    ['when nobody has seen it before', week, null, day(3), day(10)],
    ['never without an age', policy(), null, day(3), null],
  ])('%s', (_what, given, seen, now, wanted) => {
    expect(tooYoungUntil(given, seen, now)).toBe(wanted);
  });
});

test('a policy that says nothing of rollouts forbids nothing', () => {
  expect(rolloutPolicyOf({})).toEqual({
    windows: [],
    freezes: [],
    haltOnAlarm: [],
    breaker: null,
    version: { pin: null, skip: [], minVersionAge: milliseconds(0), allowDowngrade: false },
    after: null,
    order: { first: [], last: [] },
    maxUnavailable: null,
    spreadOverZones: false,
  });
  expect(rolloutPolicyOf({ breaker: { failures: 3, within: '7d' } }).breaker).toEqual({ failures: 3, within: days(7) });
});
