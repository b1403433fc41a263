/** How a group has its nodes emptied before their reboot (DESIGN section 2; section 6, group body `drain`). */
import { describe, expect, test } from 'vitest';
import { NODE_STATES } from '../../core/contract/words.ts';
import { type GroupBody, groupBodySchema } from '../../core/policy/group-policy.ts';
import { DEADLINES, deadlineOf } from '../../core/policy/deadlines.ts';
import { drainPlanOf, drainStepSchema } from '../../core/policy/drain.ts';
import { desiredOf } from '../../core/node/desired.ts';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { minutes, seconds } from '../../core/kit/time.ts';
import { issues } from '../contract/bodies.ts';
import { at, nodeAt } from '../node/life.ts';

const name = (length: number): string => 'n'.repeat(length);
const arn = (more: { partition?: string; region?: string; account?: string; group?: string; hash?: string } = {}) => {
  const {
    partition = 'aws',
    region = 'eu-central-1',
    account = '123456789012',
    group = 'web',
    hash = '0123456789abcdef',
  } = more;
  return `arn:${partition}:elasticloadbalancing:${region}:${account}:targetgroup/${group}/${hash}`;
};
const drained = (...steps: object[]) => ({ drain: { steps } });
const balanced = (...targetGroups: string[]) => drained({ type: 'loadBalancer', targetGroups });
const EXEC = { type: 'exec', hook: 'drain-it' } as const;

describe('a drain may be', () => {
  test.each<[string, object]>([
    ['of no step', drained()],
    ['of the node’s Kubernetes', drained({ type: 'kubernetes' })],
    ['of Kubernetes, with pods that nothing starts again', drained({ type: 'kubernetes', unmanaged: 'evict' })],
    ['of the node’s ECS', drained({ type: 'ecs' })],
    ['of a hook', drained(EXEC)],
    ['of a hook and one that undoes it', drained({ ...EXEC, undo: 'undrain-it' })],
    ['of a target group', balanced(arn())],
    ['of 20 target groups', balanced(...Array<string>(20).fill(arn()))],
    ['of a target group in another partition', balanced(arn({ partition: 'aws-us-gov', region: 'us-gov-west-1' }))],
    ['of a target group with the longest name', balanced(arn({ group: name(32), hash: 'f'.repeat(32) }))],
    ['of a target group with any name', balanced(arn({ group: 'Web-01' }))],
    ['of ten steps', drained(...Array<object>(10).fill(EXEC))],
    [
      'shorter than the default, or a reboot in spite of it',
      { drain: { steps: [], timeout: '1m', onTimeout: 'reboot' } },
    ],
    ['given up by name', { drain: { steps: [], onTimeout: 'abort' } }],
  ])('%s', (_what, body) => {
    expect(issues(groupBodySchema, body)).toEqual([]);
  });
});

describe('a drain is refused, by path,', () => {
  test.each<[string, object, string]>([
    ['without steps', { drain: {} }, 'drain.steps'],
    ['of eleven steps', drained(...Array<object>(11).fill(EXEC)), 'drain.steps'],
    ['of another kind', drained({ type: 'nomad' }), 'drain.steps.0.type'],
    ['of Kubernetes and more', drained({ type: 'kubernetes', force: true }), 'drain.steps.0'],
    [
      'of Kubernetes and a wish nobody knows',
      drained({ type: 'kubernetes', unmanaged: 'keep' }),
      'drain.steps.0.unmanaged',
    ],
    ['of ECS and more', drained({ type: 'ecs', cluster: 'a' }), 'drain.steps.0'],
    ['of a hook and more', drained({ ...EXEC, command: 'rm' }), 'drain.steps.0'],
    ['of a hook that is a path', drained({ ...EXEC, hook: '/bin/sh' }), 'drain.steps.0.hook'],
    ['undone by a path', drained({ ...EXEC, undo: '../undo' }), 'drain.steps.0.undo'],
    ['of target groups and more', drained({ type: 'loadBalancer', targetGroups: [arn()], port: 80 }), 'drain.steps.0'],
    ['of no target group', balanced(), 'drain.steps.0.targetGroups'],
    ['of 21 target groups', balanced(...Array<string>(21).fill(arn())), 'drain.steps.0.targetGroups'],
    ['with another way out', { drain: { steps: [], onTimeout: 'wait' } }, 'drain.onTimeout'],
    ['with no time', { drain: { steps: [], timeout: '0s' } }, 'drain.timeout'],
    ['and more', { drain: { steps: [], undo: true } }, 'drain'],
  ])('%s', (_what, body, path) => {
    expect(issues(groupBodySchema, body).map((issue) => issue.split(': ')[0])).toEqual([path]);
  });

  test.each<[string, string]>([
    ['of no known form', 'web'],
    ['with something before it', `x${arn()}`],
    ['with something after it', `${arn()}/x`],
    ['of no partition of AWS', arn({ partition: 'gcp' })],
    ['of a partition in capitals', arn({ partition: 'awsX' })],
    ['of no region', arn({ region: '' })],
    ['of a region in capitals', arn({ region: 'EU' })],
    ['of an account that is too short', arn({ account: '12345678901' })],
    ['of an account in letters', arn({ account: 'abcdefghijkl' })],
    ['without a name', arn({ group: '' })],
    ['with a name of 33 letters', arn({ group: name(33) })],
    ['with a name that has a dot', arn({ group: 'a.b' })],
    ['without an id', arn({ hash: '' })],
    ['with an id of 33 digits', arn({ hash: 'f'.repeat(33) })],
    ['with an id that is not hexadecimal', arn({ hash: 'xyz' })],
    ['of a load balancer', arn().replace('targetgroup', 'loadbalancer')],
  ])('of an ARN %s', (_what, targetGroup) => {
    expect(issues(groupBodySchema, balanced(arn(), targetGroup))).toEqual([
      'drain.steps.0.targetGroups.1: must be the ARN of a target group',
    ]);
  });
});

test.each(['', '-a', 'a-', 'Drain', 'drain it', 'drain-it!', 'd'.repeat(64)])('no hook is named %j', (hook) => {
  expect(issues(groupBodySchema, drained({ ...EXEC, hook }))).toEqual([
    'drain.steps.0.hook: must be a name of 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit',
  ]);
});

describe('a drain is a part of RebootedIntoUpdate', () => {
  const both = (timeout: string | undefined, deadline: string | undefined) => ({
    drain: { steps: [EXEC], ...(timeout === undefined ? {} : { timeout }) },
    ...(deadline === undefined ? {} : { deadlines: { RebootedIntoUpdate: deadline } }),
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['by default', undefined, undefined],
    ['just below the default deadline', '899s', undefined],
    ['just below the deadline that is given', '59s', '1m'],
    ['the default, just below the deadline', undefined, '601s'],
  ])('and may be shorter: %s', (_what, timeout, deadline) => {
    expect(issues(groupBodySchema, both(timeout, deadline))).toEqual([]);
  });

  test('is not judged where there is nothing to drain', () => {
    const body = { drain: { steps: [] }, deadlines: { RebootedIntoUpdate: '5m' } };
    expect(issues(groupBodySchema, body)).toEqual([]);
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['as long as the default deadline', '15m', undefined],
    ['as long as the deadline that is given', '1m', '1m'],
    ['the default, as long as the deadline', undefined, '10m'],
    ['longer', '2h', '1h'],
  ])('and may be no longer: %s', (_what, timeout, deadline) => {
    expect(issues(groupBodySchema, both(timeout, deadline))).toEqual([
      'drain.timeout: must be shorter than the deadline of RebootedIntoUpdate (15m unless set), which it is a part of; the default is 10m',
    ]);
  });

  test('a deadline is the one that is given, else the default', () => {
    expect(deadlineOf('Idle')).toBe(DEADLINES.Idle);
    expect(deadlineOf('Idle', { RebootedIntoUpdate: '1h' })).toBe(minutes(2));
    expect(deadlineOf('Idle', { Idle: '7s' })).toBe(seconds(7));
  });
});

describe('what the agent is told of it', () => {
  test.each<[string, GroupBody['drain'], ReturnType<typeof drainPlanOf>]>([
    ['nothing, where the group has none', undefined, null],
    ['nothing, where it has no step', { steps: [], timeout: '1m' }, null],
    ['the defaults', { steps: [EXEC] }, { steps: [EXEC], timeoutSeconds: 600, onTimeout: 'abort' }],
    [
      'what the group gives',
      { steps: [EXEC, { type: 'ecs' }], timeout: '90s', onTimeout: 'reboot' },
      { steps: [EXEC, { type: 'ecs' }], timeoutSeconds: 90, onTimeout: 'reboot' },
    ],
  ])('%s', (_what, body, plan) => {
    expect(drainPlanOf(body)).toEqual(plan);
    expect(groupPolicyOf(body === undefined ? {} : { drain: body }).drain).toEqual(plan ?? undefined);
  });

  test.each(NODE_STATES)('before the reboot, and on the way back, where it is undone: %s', (state) => {
    const { node } = nodeAt('RebootedIntoUpdate');
    const policy = groupPolicyOf({ drain: { steps: [EXEC] } });
    const told = desiredOf({ ...node, policy, spec: { ...node.spec, state } }, at(0));
    expect({ drain: undefined, ...told }).toMatchObject({
      state,
      version: '1.1',
      generation: node.spec.generation,
      ...(state === 'RebootedIntoUpdate' || state === 'Idle'
        ? { drain: { steps: [EXEC], timeoutSeconds: 600, onTimeout: 'abort' } }
        : { drain: undefined }),
    });
    expect(desiredOf({ ...node, policy: groupPolicyOf({}), spec: { ...node.spec, state } }, at(0))).not.toHaveProperty(
      'drain',
    );
  });

  test.each<[object, object]>([
    [{ type: 'kubernetes', force: true }, { type: 'kubernetes' }],
    [{ type: 'ecs', cluster: 'a' }, { type: 'ecs' }],
    [
      { type: 'loadBalancer', targetGroups: [arn()], port: 80 },
      { type: 'loadBalancer', targetGroups: [arn()] },
    ],
    [{ ...EXEC, args: [] }, EXEC],
  ])('%j, as an agent reads it: what a newer control plane adds is left alone', (step, read) => {
    expect(drainStepSchema.parse(step)).toEqual(read);
  });

  test('a step of an unknown kind is none that an agent can do', () => {
    expect(drainStepSchema.safeParse({ type: 'nomad' }).success).toBe(false);
  });
});
