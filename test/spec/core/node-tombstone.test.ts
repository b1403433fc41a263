/** Tombstones, and what a decision needs to know of the group (DESIGN section 6). */
import { describe, expect, test } from 'vitest';
import type { NodeReport } from '../../../core/contract.ts';
import { needsGroup, type NodeEvent } from '../../../core/node/event.ts';
import { parseGroupId } from '../../../core/ids.ts';
import { at, AVAILABLE, NODE, NodeLife, nodeAt } from './node-life.ts';
import { there } from './there.ts';

const edge = parseGroupId('edge') ?? expect.fail('a group id');

describe('a tombstone', () => {
  const removed = (): NodeLife => {
    const life = nodeAt('PerformedUpdate');
    life.report({ bootId: 'b2', uptime: 50, state: 'StagedUpdate', group: 'edge' });
    life.send({ kind: 'remove', reason: 'deleted by an operator' });
    return life;
  };

  test.each<[string, Partial<NodeReport>, string]>([
    ['an older boot', { bootId: 'b1', uptime: 99 }, 'unchanged'],
    ['the same boot and no uptime', { bootId: 'b2' }, 'unchanged'],
    ['the same uptime', { bootId: 'b2', uptime: 50 }, 'unchanged'],
    ['a greater uptime', { bootId: 'b2', uptime: 51 }, 'changed'],
    ['a new boot', { bootId: 'b3' }, 'changed'],
  ])('is revived only by a report that is provably later: %s', (_what, more, kind) => {
    const life = removed();
    const report = { state: 'Idle', bootId: 'b1', currentVersion: '1.0', updateCheck: AVAILABLE } as const;
    expect(life.send({ kind: 'report', report: { ...report, ...more } }).kind).toBe(kind);
  });

  test('without an uptime is revived by any that has one, and without a status by any report', () => {
    const life = removed();
    const status = there(life.node.status);
    life.node = { ...life.node, status: { ...status, uptime: null } };
    const report = { state: 'Idle', bootId: 'b2', currentVersion: '1.0', updateCheck: AVAILABLE } as const;
    expect(life.send({ kind: 'report', report }).kind).toBe('unchanged');
    expect(life.reportWithoutGeneration({ bootId: 'b2', uptime: 0 }).kind).toBe('changed');
    const unknown = removed();
    unknown.node = { ...unknown.node, status: null };
    expect(unknown.reportWithoutGeneration({ bootId: 'b2' }).kind).toBe('changed');
    expect(unknown.node.previousBoots).toEqual(['b1']);
  });

  test('revived, goes on with its revision, its generation, its boots and its group', () => {
    const life = removed();
    const { revision, spec } = life.node;
    life.reportWithoutGeneration({ bootId: 'b3', currentVersion: '2' });
    expect(life.node).toMatchObject({
      revision: revision + 1,
      spec: { state: 'Idle', generation: spec.generation + 1 },
      previousBoots: ['b1', 'b2'],
      removed: null,
      attempt: null,
      group: 'default',
    });
    expect(life.messages).toEqual(['Node Enrolled: first report: 2 in group default']);
    const older = removed();
    older.report({ bootId: 'b3', generation: 2 });
    expect(older.node.status?.bootId).toBe('b3');
    expect(older.messages).toEqual(['Node Enrolled: first report: 1.0 in group default']);
    const many = removed();
    many.node = { ...many.node, previousBoots: Array.from({ length: 16 }, (_, n) => `old-${n}`) };
    many.reportWithoutGeneration({ bootId: 'b3' });
    expect(many.node.previousBoots).toHaveLength(16);
    const same = removed();
    same.reportWithoutGeneration({ bootId: 'b2', uptime: 51, group: 'edge' });
    expect(same.node).toMatchObject({ previousBoots: ['b1'], group: 'edge' });
  });

  test('is unknown to every other event, except that its host may be fenced', () => {
    const life = removed();
    const detail = `there is no node ${NODE}; a node enrols itself with its first report`;
    expect(life.refused({ kind: 'due' })).toEqual({ status: 404, code: 'NodeNotFound', detail });
    expect(new NodeLife().refused({ kind: 'fence', by: 'ann' }).code).toBe('NodeNotFound');
    life.send({ kind: 'fence', by: 'ann' });
    expect(life.node.fencedAt).toBe(at(0));
  });
});

describe('what a decision needs to know of the group', () => {
  const told = (state: NodeReport['state'], generation: number): NodeEvent => ({
    kind: 'report',
    report: { state, generation, bootId: 'b1', currentVersion: '1.0', updateCheck: AVAILABLE },
  });
  test.each<[boolean, NodeEvent]>([
    [true, { kind: 'start', claim: null, told: true }],
    [true, { kind: 'proceed' }],
    [true, { kind: 'release' }],
    [true, { kind: 'move', group: edge }],
    [true, told('PerformedUpdate', 3)],
    [false, told('PerformedUpdate', 2)],
    [false, told('StagedUpdate', 3)],
    [false, { kind: 'due' }],
    [false, { kind: 'retry' }],
    [false, { kind: 'hold', by: 'ann' }],
    [false, { kind: 'fence', by: 'ann' }],
    [false, { kind: 'remove', reason: 'gone' }],
    [false, { kind: 'wakeFailed', status: 'Failed', generation: null }],
    [false, { kind: 'disclaim', claimId: 'claim-1' }],
  ])('is its pause and policy: %s for %j', (needed, event) => {
    expect(needsGroup(nodeAt('PerformedUpdate').node, event)).toBe(needed);
  });

  test('is asked for by the report that enrols, and by no report of a step that cannot be held', () => {
    expect(needsGroup(null, told('Idle', 1))).toBe(true);
    expect(needsGroup(null, { kind: 'due' })).toBe(false);
    expect(needsGroup(nodeAt('StagedUpdate').node, told('PerformedUpdate', 2))).toBe(false);
    const gone = nodeAt('Idle');
    gone.send({ kind: 'remove', reason: 'gone' });
    expect(needsGroup(gone.node, told('Idle', 1))).toBe(true);
    expect(needsGroup(gone.node, { kind: 'release' })).toBe(false);
  });
});
