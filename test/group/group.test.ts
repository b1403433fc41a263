/** A group: its policy, its pause, its slots, and what it takes for a node to begin without one (DESIGN sections 2 and 7). */
import { describe, expect, test } from 'vitest';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import type { Fact, Outcome, Refusal } from '../../core/decision/fact.ts';
import { decideGroup, groupDueAt, type GroupEvent } from '../../core/group/group.ts';
import { type GroupRecord, newGroup, policyInForce, SLOT_STALE_AFTER } from '../../core/group/record.ts';
import { COUNT_AFTER } from '../../core/group/slots.ts';
import { DEFAULT_GROUP, parseGroupId, parseNodeId } from '../../core/kit/ids.ts';
import { minutes, seconds } from '../../core/kit/time.ts';
import { at, NODE } from '../node/life.ts';

const EDGE = parseGroupId('edge') ?? expect.fail('a group id');
const claim = ({ claimId = 'claim-1', limit = 1 } = {}): GroupEvent => ({
  kind: 'claim',
  claims: [{ nodeId: NODE, claimId }],
  limit,
});

class GroupLife {
  now = at(0);
  facts: readonly Fact[] = [];
  known: GroupRecord | null = null;
  readonly group: typeof EDGE;

  constructor(group = EDGE) {
    this.group = group;
  }

  get record(): GroupRecord {
    return this.known ?? expect.fail('the group is not known');
  }

  send(event: GroupEvent): Outcome<GroupRecord>['kind'] {
    const outcome = decideGroup(this.known, this.group, event, this.now);
    this.facts = outcome.kind === 'changed' ? outcome.facts : [];
    if (outcome.kind === 'changed') this.known = outcome.next;
    return outcome.kind;
  }

  /** What fills were asked for are through. */
  filled(): this {
    for (let { fill } = this.record; fill != null; fill = this.record.fill)
      this.send({ kind: 'filled', answers: fill, more: false, back: [] });
    return this;
  }

  refused(event: GroupEvent): Refusal {
    const outcome = decideGroup(this.known, this.group, event, this.now);
    return outcome.kind === 'refused' ? outcome.refusal : expect.fail(`not refused but ${outcome.kind}`);
  }
}

function declared(body: GroupBody = {}): GroupLife {
  const life = new GroupLife();
  life.send({ kind: 'put', body });
  return life;
}

const UNLIMITED: GroupBody = { maxConcurrentUpdates: 'unlimited' };
const fill = { kind: 'fill', group: 'edge' };

test('a group that only a node has named is known, undeclared and empty', () => {
  const life = new GroupLife();
  expect(life.send({ kind: 'ensure', pausedBy: null })).toBe('changed');
  expect(life.facts).toEqual([]);
  expect(life.record).toEqual({
    kind: 'group',
    revision: 1,
    events: [],
    group: 'edge',
    body: null,
    pausedBy: null,
    slots: {},
    memberCount: null,
    slotless: false,
    uncountedSince: null,
  });
  expect(life.send({ kind: 'ensure', pausedBy: null })).toBe('unchanged');
  expect(newGroup(DEFAULT_GROUP).body).toEqual({});
});

const SURVEY = { down: 0, rollout: { at: at(0), target: {} }, settled: null, unsettled: {} };

describe('a policy', () => {
  test('is written down with its event, and asks for a fill', () => {
    const life = declared({ maxConcurrentUpdates: 3 });
    const event = { type: 'Group Changed', severity: 'info', message: 'policy set: maxConcurrentUpdates' };
    expect(life.facts).toEqual([{ kind: 'event', ...event }, fill]);
    expect(life.record).toMatchObject({
      revision: 1,
      body: { maxConcurrentUpdates: 3 },
      uncountedSince: null,
      events: [{ id: 'group/edge/1', at: at(0), ...event }],
    });
  });

  test('put again is nothing; the first put is always something', () => {
    const life = declared({ maxConcurrentUpdates: 3 });
    expect(life.send({ kind: 'put', body: { maxConcurrentUpdates: 3 } })).toBe('unchanged');
    expect(life.send({ kind: 'put', body: {} })).toBe('changed');
    expect(new GroupLife(DEFAULT_GROUP).send({ kind: 'put', body: {} })).toBe('changed');
    const named = new GroupLife();
    named.send({ kind: 'ensure', pausedBy: null });
    expect(named.send({ kind: 'put', body: {} })).toBe('changed');
  });

  test('deleted leaves default’s in force', () => {
    const life = declared(UNLIMITED);
    const fallback: GroupRecord = { ...newGroup(DEFAULT_GROUP), body: { monitor: { soak: '9s' } } };
    expect(policyInForce(life.record, fallback).concurrency.kind).toBe('unlimited');
    life.send({ kind: 'undeclare' });
    expect(life.record.body).toBeNull();
    expect(policyInForce(life.record, fallback)).toMatchObject({ soak: seconds(9), concurrency: { count: 1 } });
    expect(policyInForce(life.record, { ...fallback, body: null }).soak).toBe(minutes(2));
    expect(life.facts).toEqual([
      { kind: 'event', type: 'Group Changed', severity: 'info', message: "policy deleted: default's holds now" },
      fill,
    ]);
  });

  test('that is not there cannot be deleted, and default’s never', () => {
    const missing = { status: 404, code: 'GroupNotFound', detail: 'there is no declared group edge' };
    expect(new GroupLife().refused({ kind: 'undeclare' })).toEqual(missing);
    const named = new GroupLife();
    named.send({ kind: 'ensure', pausedBy: null });
    expect(named.refused({ kind: 'undeclare' })).toEqual(missing);
    expect(new GroupLife(DEFAULT_GROUP).refused({ kind: 'undeclare' })).toEqual({
      status: 409,
      code: 'DefaultGroup',
      detail: 'the group default exists from the start and cannot be deleted; put another policy instead',
    });
  });
});

test('pause and resume are written down once each, with who paused', () => {
  const life = declared();
  life.send({ kind: 'pause', by: 'ann' });
  expect(life.record.pausedBy).toBe('ann');
  expect(life.facts).toEqual([{ kind: 'event', type: 'Group Paused', severity: 'warning', message: 'paused by ann' }]);
  expect(life.send({ kind: 'pause', by: 'ben' })).toBe('unchanged');
  life.send({ kind: 'resume' });
  expect(life.record.pausedBy).toBeNull();
  expect(life.facts).toEqual([
    { kind: 'event', type: 'Group Resumed', severity: 'info', message: 'resumed (was paused by ann)' },
    fill,
  ]);
  expect(life.send({ kind: 'resume' })).toBe('unchanged');
});

describe('slots', () => {
  const OTHER = 'i-0000000000000000b';
  const noneFree = { status: 409, code: 'NoSlot', detail: 'group edge has 1 slots and none is free' };

  test('are claimed up to the limit', () => {
    const life = declared();
    life.now = at(4);
    life.send(claim());
    expect(life.record.slots).toEqual({ [NODE]: { claimId: 'claim-1', at: at(4) } });
    expect(life.facts).toEqual([]);
    life.known = { ...life.record, slots: { [OTHER]: { claimId: 'claim-0', at: at(0) } } };
    expect(life.refused(claim())).toEqual(noneFree);
    expect(life.send(claim({ limit: 2 }))).toBe('changed');
    expect(Object.keys(life.record.slots)).toEqual([OTHER, NODE]);
  });

  test('are taken up by nodes that began without one', () => {
    const life = declared();
    life.known = { ...life.record, slotless: true, uncounted: 1 };
    expect(life.refused(claim())).toEqual(noneFree);
    expect(life.send(claim({ limit: 2 }))).toBe('changed');
  });

  test('go to as many as fit, in their order, in one write', () => {
    const life = declared();
    const ids = ['i-0000000000000000a', 'i-0000000000000000b', 'i-0000000000000000c'].flatMap(
      (id) => parseNodeId(id) ?? [],
    );
    const claims = ids.map((nodeId) => ({ nodeId, claimId: `claim of ${nodeId}` }));
    const { revision } = life.record;
    expect(life.send({ kind: 'claim', claims, limit: 2 })).toBe('changed');
    expect(Object.keys(life.record.slots)).toEqual(ids.slice(0, 2));
    expect(life.record.revision).toBe(revision + 1);
  });

  test('are one for each node', () => {
    const life = declared();
    life.send(claim());
    expect(life.refused(claim({ claimId: 'claim-2', limit: 9 }))).toEqual({
      status: 409,
      code: 'SlotTaken',
      detail: `node ${NODE} already has a slot in edge`,
    });
  });

  test('are not given away while the group is paused', () => {
    const life = declared();
    life.send({ kind: 'pause', by: 'ann' });
    const refusal = { status: 409, code: 'GroupPaused', detail: 'group edge is paused by ann' };
    expect(life.refused(claim())).toEqual(refusal);
    expect(life.refused({ kind: 'slotless' })).toEqual(refusal);
  });

  test('are freed by the claim that holds them, and by no other', () => {
    const life = declared();
    life.send(claim());
    expect(life.send({ kind: 'release', nodeId: NODE, claimId: 'claim-2' })).toBe('unchanged');
    expect(life.send({ kind: 'release', nodeId: NODE, claimId: 'claim-1' })).toBe('changed');
    expect(life.record.slots).toEqual({});
    expect(life.facts).toEqual([]);
    expect(life.send({ kind: 'release', nodeId: NODE, claimId: 'claim-1' })).toBe('unchanged');
  });

  test('are freed by the sweep when 2 min old; what began without one is counted after 30 s', () => {
    expect(SLOT_STALE_AFTER).toBe(minutes(2));
    expect(COUNT_AFTER).toBe(seconds(30));
  });
});

test('the members that the sweep counted are written down when they are others than before', () => {
  const life = declared();
  expect(life.send({ kind: 'surveyed', ...SURVEY, members: 3 })).toBe('changed');
  expect(life.record.memberCount).toBe(3);
  expect(life.facts).toEqual([]);
  expect(life.send({ kind: 'surveyed', ...SURVEY, members: 3 })).toBe('unchanged');
});

describe('without a limit', () => {
  test('that a node begins without a slot is noted once', () => {
    const life = declared(UNLIMITED);
    expect(life.send({ kind: 'slotless' })).toBe('changed');
    expect(life.facts).toEqual([]);
    expect(life.record.slotless).toBe(true);
    expect(life.send({ kind: 'slotless' })).toBe('unchanged');
    const undeclared = new GroupLife();
    expect(undeclared.send({ kind: 'slotless' })).toBe('changed');
  });

  test('a node whose group has a limit again does not begin', () => {
    expect(declared().refused({ kind: 'slotless' })).toEqual({
      status: 409,
      code: 'NoSlot',
      detail: 'group edge has a limit again',
    });
  });

  test.each<[string, GroupBody, boolean, GroupBody, boolean]>([
    ['unlimited is followed by a limit', UNLIMITED, false, {}, true],
    ['unlimited stays', UNLIMITED, true, { ...UNLIMITED, backoff: { preset: 'seed' } }, false],
    ['a limit is followed by a limit', {}, false, { maxConcurrentUpdates: 2 }, false],
    ['a limit is put where nodes began without a slot', {}, true, { maxConcurrentUpdates: 2 }, true],
  ])('%s: the nodes under way are counted or not', (_what, before, slotless, body, counts) => {
    const life = declared(before);
    life.known = { ...life.record, slotless };
    life.now = at(7);
    life.send({ kind: 'put', body });
    expect(life.record.uncountedSince).toBe(counts ? at(7) : null);
    expect(groupDueAt(life.filled().record)).toBe(counts ? at(37) : null);
    life.now = at(8);
    life.send({ kind: 'put', body: { ...body, monitor: { soak: '1s' } } });
    expect(life.record.uncountedSince).toBe(counts && slotless ? at(7) : null);
  });

  test.each([true, false])('a policy deleted where nodes began without a slot (%s) has them counted', (slotless) => {
    const life = declared(UNLIMITED);
    life.known = { ...life.record, slotless };
    life.now = at(7);
    life.send({ kind: 'undeclare' });
    expect(life.record.uncountedSince).toBe(slotless ? at(7) : null);
  });

  test('where no limit holds after all, nothing is waited for; an own limit that was put meanwhile still is', () => {
    const life = declared(UNLIMITED);
    life.send({ kind: 'slotless' });
    life.now = at(7);
    life.send({ kind: 'undeclare' });
    expect(groupDueAt(life.filled().record)).toBe(at(37));
    expect(life.send({ kind: 'limitless' })).toBe('changed');
    expect(life.record).toMatchObject({ slotless: true, uncountedSince: null });
    expect(groupDueAt(life.record)).toBeNull();
    expect(life.send({ kind: 'limitless' })).toBe('unchanged');
    life.send({ kind: 'put', body: { maxConcurrentUpdates: 5 } });
    expect(life.send({ kind: 'limitless' })).toBe('unchanged');
    expect(groupDueAt(life.filled().record)).toBe(at(37));
  });

  test('a paused group is not looked at before it is resumed', () => {
    const life = declared(UNLIMITED);
    life.send({ kind: 'put', body: {} });
    life.send({ kind: 'pause', by: 'an operator' });
    expect(groupDueAt(life.record)).toBeNull();
    life.now = at(10);
    life.send({ kind: 'resume' });
    expect(groupDueAt(life.filled().record)).toBe(at(30));
  });

  test('nothing starts for 30 s after it ends, and then only what the count leaves', () => {
    const life = declared(UNLIMITED);
    life.send({ kind: 'put', body: { maxConcurrentUpdates: 5 } });
    life.now = at(29.999);
    expect(life.refused(claim({ limit: 5 })).code).toBe('NoSlot');
    life.now = at(30);
    expect(life.send(claim({ limit: 5 }))).toBe('changed');
  });

  test('it is over once the nodes are all back', () => {
    const life = declared(UNLIMITED);
    expect(life.send({ kind: 'counted', underWay: 0 })).toBe('unchanged');
    life.send({ kind: 'slotless' });
    expect(life.send({ kind: 'counted', underWay: 2 })).toBe('changed');
    expect(life.record).toMatchObject({ slotless: true, uncounted: 2 });
    expect(life.send({ kind: 'counted', underWay: 2 })).toBe('unchanged');
    expect(life.send({ kind: 'counted', underWay: 0 })).toBe('changed');
    expect(life.facts).toEqual([]);
    expect(life.record.slotless).toBe(false);
    life.send({ kind: 'put', body: {} });
    expect(life.record.uncountedSince).not.toBeNull();
    life.send({ kind: 'counted', underWay: 0 });
    expect(life.record).toMatchObject({ slotless: false, uncountedSince: null });
  });
});
