/** A group as the API shows it: the policy in force with every default filled in, and one sentence. */
import { canOfGroup } from '../../core/contract/can.ts';
import { expect, test } from 'vitest';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import { type GroupRecord, newGroup } from '../../core/group/record.ts';
import { describeGroup } from '../../core/group/describe.ts';
import { DEFAULT_GROUP, parseGroupId } from '../../core/kit/ids.ts';
import { at } from '../node/life.ts';

const EDGE = parseGroupId('edge') ?? expect.fail('a group id');
const group = (body: GroupBody | null, more: Partial<GroupRecord> = {}): GroupRecord => ({
  ...newGroup(EDGE),
  body,
  ...more,
});
const fallback = (body: GroupBody | null): GroupRecord => ({ ...newGroup(DEFAULT_GROUP), body });

test('an undeclared group has the defaults of default, and says so', () => {
  expect(describeGroup(group(null), fallback({}), at(0))).toEqual({
    group: 'edge',
    declared: false,
    alarms: [],
    policy: {
      maxConcurrentUpdates: 1,
      backoff: { preset: 'seed' },
      deadlines: {
        Idle: '2m',
        StagedUpdate: '12m',
        PerformedUpdate: '5m',
        RebootedIntoUpdate: '15m',
        MonitoringUpdate: '5m',
      },
      monitor: { soak: '2m', checks: [], onFailure: 'rollback' },
      drain: null,
    },
    paused: false,
    memberCount: null,
    limit: 1,
    underWay: [],
    window: { open: true },
    expedited: [],
    breakers: [],
    settled: [],
    rollout: null,
    can: canOfGroup({ group: 'edge', isDefault: false, declared: false, frozen: null }),
    explanation: '0 of 1 slots in use. Not declared: it has the policy of default.',
  });
  expect(describeGroup(group(null), fallback({ maxConcurrentUpdates: 4 }), at(0)).policy.maxConcurrentUpdates).toBe(4);
  expect(describeGroup(group(null), fallback(null), at(0)).policy.backoff).toEqual({ preset: 'seed' });
});

test('a declared group has its own policy, its members, its nodes under way in order, and who paused it', () => {
  const body: GroupBody = {
    maxConcurrentUpdates: '50%',
    backoff: { preset: 'brupop' },
    deadlines: { StagedUpdate: '7h' },
    monitor: { soak: '9s' },
  };
  const slots = { 'i-0000000b': { claimId: 'b', at: at(0) }, 'i-0000000a': { claimId: 'a', at: at(0) } };
  expect(describeGroup(group(body, { slots, memberCount: 8, pausedBy: 'ann' }), fallback({}), at(0))).toMatchObject({
    declared: true,
    policy: {
      maxConcurrentUpdates: '50%',
      backoff: { preset: 'brupop' },
      deadlines: { StagedUpdate: '7h', Idle: '2m' },
      monitor: { soak: '9s' },
    },
    paused: true,
    memberCount: 8,
    limit: 4,
    underWay: ['i-0000000a', 'i-0000000b'],
    explanation:
      '2 of 4 slots in use. Paused by ann: nothing starts, is activated or goes on to its reboot until it is resumed.',
  });
});

test('a group without a limit says so', () => {
  expect(describeGroup(group({ maxConcurrentUpdates: 'unlimited' }), fallback({}), at(0))).toMatchObject({
    limit: null,
    explanation: 'No limit on concurrent updates.',
  });
});

test('a group that drains its nodes shows the whole drain, defaults included', () => {
  const steps = [{ type: 'kubernetes' as const }];
  const shown = (drain: GroupBody['drain']) =>
    describeGroup(group(drain === undefined ? {} : { drain }), fallback(null), at(0)).policy.drain;
  expect(shown(undefined)).toBeNull();
  expect(shown({ steps })).toEqual({ steps, timeout: '10m', onTimeout: 'abort' });
  expect(shown({ steps, timeout: '90s', onTimeout: 'reboot' })).toEqual({ steps, timeout: '90s', onTimeout: 'reboot' });
});
