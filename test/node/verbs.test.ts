/** What operators, the sweep and SSM do to a node: each outcome, its words, and what stays as it was (DESIGN section 6). */
import { describe, expect, test } from 'vitest';
import { parseGroupId } from '../../core/kit/ids.ts';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { seconds } from '../../core/kit/time.ts';
import { at, crashedAt, NODE, nodeAt } from './life.ts';

const edge = parseGroupId('edge') ?? expect.fail('a group id');

test('hold is noted once, with who did it', () => {
  const life = nodeAt('Idle');
  life.send({ kind: 'hold', by: 'ann' });
  expect(life.node).toMatchObject({ heldBy: 'ann', waitingSince: null });
  expect(life.events).toEqual([{ kind: 'event', type: 'Node Held', severity: 'info', message: 'held by ann' }]);
  expect(life.send({ kind: 'hold', by: 'ben' }).kind).toBe('unchanged');
});

test('release lets an Idle node wait for a slot again', () => {
  const life = nodeAt('Idle');
  life.send({ kind: 'hold', by: 'ann' });
  life.to(4).send({ kind: 'release' });
  expect(life.node).toMatchObject({ heldBy: null, waitingSince: at(4) });
  expect(life.kinds()).toEqual(['event', 'fill']);
});

test('retry clears the wait and keeps the count', () => {
  const life = crashedAt('StagedUpdate');
  life.send({ kind: 'retry' });
  expect(life.node.crash).toMatchObject({ count: 1, retryAfter: null, firstAt: at(0), resetAt: at(86_400) });
  expect(life.messages).toEqual(['Node Retry Requested: the wait was cleared by an operator; crash count stays 1']);
  expect(life.send({ kind: 'retry' }).kind).toBe('unchanged');
});

test('fence is a warning, and tells the VMs of the host that what ran there has ended', () => {
  const life = nodeAt('Idle');
  life.to(3).send({ kind: 'fence', by: 'ann' });
  expect(life.node.fencedAt).toBe(at(3));
  expect(life.facts).toEqual([
    {
      kind: 'event',
      type: 'Node Fenced',
      severity: 'warning',
      message: 'fenced by ann: its instances are taken as ended',
    },
    { kind: 'hostFenced', hostId: NODE, at: at(3) },
  ]);
});

describe('move', () => {
  test('gives the node the policy of its new group and a new place in the queue', () => {
    const life = nodeAt('Idle');
    life.policy = groupPolicyOf({ monitor: { soak: '9s' }, backoff: { preset: 'brupop' } });
    life.to(5).send({ kind: 'move', group: edge });
    expect(life.node).toMatchObject({
      group: 'edge',
      waitingSince: at(5),
      policy: { soak: seconds(9), backoff: { from: 'lastCrash' } },
    });
    expect(life.node.policy).not.toHaveProperty('concurrency');
    expect(life.facts).toEqual([
      { kind: 'enrolled', group: 'edge' },
      { kind: 'event', type: 'Node Moved', severity: 'info', message: 'moved from group default to edge' },
      { kind: 'fill', group: 'edge' },
    ]);
    expect(life.send({ kind: 'move', group: edge }).kind).toBe('unchanged');
  });

  test('is refused while the node is under way: its slot belongs to the old group', () => {
    expect(nodeAt('StagedUpdate').refused({ kind: 'move', group: edge })).toEqual({
      status: 409,
      code: 'NodeUnderWay',
      detail: `node ${NODE} is under way in group default; move it when it is Idle again`,
    });
  });
});

test('removal frees the slot, is no crash, and leaves a tombstone', () => {
  const life = nodeAt('PerformedUpdate');
  life.to(2).send({ kind: 'remove', reason: 'terminated' });
  expect(life.node).toMatchObject({
    attempt: null,
    waitingSince: null,
    crash: { count: 0 },
    removed: { at: at(2), reason: 'terminated' },
  });
  expect(life.facts).toEqual([
    { kind: 'slotReleased', group: 'default', claimId: 'claim-1' },
    { kind: 'event', type: 'Node Removed', severity: 'info', message: 'terminated' },
  ]);
  const waiting = nodeAt('Idle');
  waiting.send({ kind: 'remove', reason: 'terminated' });
  expect(waiting.node.waitingSince).toBeNull();
  expect(waiting.kinds()).toEqual(['event']);
});

describe('a wake that failed', () => {
  const failed = (status: string, generation: number | null = null) =>
    ({ kind: 'wakeFailed', status, generation }) as const;

  test('is shown, counts nothing, and is repeated after 30 s', () => {
    const life = nodeAt('Idle');
    life.start(false);
    life.to(10).send(failed('TimedOut', 2));
    expect(life.node).toMatchObject({
      wakeFailure: { status: 'TimedOut', at: at(10) },
      spec: { nextWakeAt: at(40) },
      crash: { count: 0 },
    });
    expect(life.facts).toEqual([]);
    expect(life.to(10).send(failed('TimedOut')).kind).toBe('unchanged');
    expect(life.to(12).send(failed('TimedOut')).kind).toBe('unchanged');
    expect(life.to(13).send(failed('Failed')).kind).toBe('changed');
    expect(life.node).toMatchObject({ wakeFailure: { status: 'Failed' }, spec: { nextWakeAt: at(40) } });
  });

  test('brings the next repeat forward once for each step: a host that is off is not hammered', () => {
    const life = nodeAt('Idle');
    life.start(false);
    life.to(10).send(failed('TimedOut'));
    life.to(60).due();
    expect(life.node.spec.nextWakeAt).toBe(at(240));
    life.to(65).send(failed('TimedOut'));
    expect(life.node.spec.nextWakeAt).toBe(at(240));
    life.report();
    life.report();
    life.node = { ...life.node, spec: { ...life.node.spec, acknowledgedAt: null, nextWakeAt: at(125) } };
    life.to(70).send(failed('TimedOut'));
    expect(life.node.spec.nextWakeAt).toBe(at(100));
  });

  test('leaves a repeat that comes sooner where it is', () => {
    const life = nodeAt('Idle');
    life.start(false);
    life.to(50).send(failed('TimedOut'));
    expect(life.node.spec.nextWakeAt).toBe(at(60));
  });

  test('of another generation, or of a node that was told already, is nothing', () => {
    const life = nodeAt('Idle');
    life.start(false);
    expect(life.send(failed('TimedOut', 1)).kind).toBe('unchanged');
    expect(nodeAt('StagedUpdate').send(failed('TimedOut', 2)).kind).toBe('unchanged');
  });

  test('is forgotten with the next generation', () => {
    const life = nodeAt('Idle');
    life.start(false);
    life.send(failed('TimedOut'));
    life.to(2100).due();
    expect(life.node.wakeFailure).toBeNull();
  });
});

describe('a slot that the sweep wants back', () => {
  test('is kept by the node that is under way with it', () => {
    expect(nodeAt('StagedUpdate').refused({ kind: 'disclaim', claimId: 'claim-1' })).toEqual({
      status: 409,
      code: 'SlotInUse',
      detail: `node ${NODE} is under way with this slot`,
    });
  });

  test.each(['Idle', 'StagedUpdate'] as const)(
    'is given up by a node in %s that has no such claim, and the new revision shuts out a late start',
    (state) => {
      const life = nodeAt(state);
      const before = life.node;
      life.send({ kind: 'disclaim', claimId: 'claim-2' });
      expect(life.node).toEqual({ ...before, revision: before.revision + 1 });
      expect(life.facts).toEqual([]);
    },
  );
});
