/** Tombstones: what revives them, and what they still owe (DESIGN section 6). */
import { describe, expect, test } from 'vitest';
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import { at, AVAILABLE, NODE, NodeLife, nodeAt } from './life.ts';
import { there } from '../kit/there.ts';

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
    const life = removed().told();
    const detail = `there is no node ${NODE}; a node enrols itself with its first report`;
    expect(life.refused({ kind: 'due' })).toEqual({ status: 404, code: 'NodeNotFound', detail });
    expect(new NodeLife().refused({ kind: 'fence', by: 'ann' }).code).toBe('NodeNotFound');
    life.send({ kind: 'fence', by: 'ann' });
    expect(life.node.fencedAt).toBe(at(0));
  });
});

describe('a node that AWS says is gone', () => {
  const gone = (how: 'terminated' | 'deregistered'): NodeLife => {
    const life = nodeAt('Idle');
    life.send({ kind: 'gone', how, at: at(0) });
    return life;
  };

  test('enrols again by a report of its last boot, unless no boot can have outlived the machine', () => {
    expect(gone('deregistered').to(10).report().kind).toBe('changed');
    expect(gone('terminated').to(10).report().kind).toBe('unchanged');
    expect(gone('terminated').to(10).report({ bootId: 'b2' }).kind).toBe('changed');
  });

  test('tells its VMs until they know, and otherwise is not there', () => {
    const life = gone('deregistered').to(100_000);
    life.due();
    expect(life.facts).toEqual([{ kind: 'hostFenced', hostId: NODE, at: at(0) }]);
    expect(life.refused({ kind: 'retry' })).toMatchObject({ status: 404, code: 'NodeNotFound' });
    expect(new NodeLife().refused({ kind: 'due' })).toMatchObject({ status: 404, code: 'NodeNotFound' });
  });
});
