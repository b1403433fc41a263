/** A node after its record was restored from an older copy of the table (docs/runbooks/restore.md). */
import { describe, expect, test } from 'vitest';
import { generationFloor } from '../../core/node/floor.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { nodeDueAt } from '../../core/node/timing.ts';
import { at, crashedAt, iso, NODE, NodeLife, nodeAt, START } from './life.ts';

const FLOOR = START / 1000;
const wake = (generation: number) => ({ kind: 'wake', hostId: NODE, action: 'DriveNode', generation, decided: true });
const heard = { kind: 'hostReported', hostId: NODE };
const recover = (life: NodeLife, seconds: number) => life.send({ kind: 'restore', at: at(seconds) });
const said = (generation: number, seconds: number) => ({
  kind: 'event',
  type: 'Node Restored',
  severity: 'info',
  message: `restored from an older copy: Idle is asked for, generation ${generation}, as of ${iso(seconds)}`,
});

test('generations go on from the second of the recovery', () => {
  expect(generationFloor(at(0))).toBe(FLOOR);
  expect(generationFloor(at(0.999))).toBe(FLOOR);
  expect(generationFloor(at(60))).toBe(FLOOR + 60);
});

describe('a recovery', () => {
  test('withdraws what the node was on its way to, and counts nothing', () => {
    const life = nodeAt('PerformedUpdate');
    life.send({ kind: 'hold', by: 'ann' });
    const marks: Partial<NodeRecord> = {
      machine: { state: 'stopped', at: at(1) },
      unreachableSince: at(1),
      silentSince: at(1),
      wakeFailure: { status: 'Failed', at: at(1) },
      blockedVersions: ['0.9'],
    };
    life.node = { ...life.node, ...marks };
    recover(life.to(70), 60);
    const generation = FLOOR + 60;
    expect(life.facts).toEqual([
      { kind: 'slotReleased', group: 'default', claimId: 'claim-1' },
      wake(generation),
      said(generation, 60),
    ]);
    expect(life.node).toMatchObject({
      spec: {
        state: 'Idle',
        version: null,
        generation,
        since: at(70),
        acknowledgedAt: null,
        reachedAt: null,
        nextWakeAt: at(130),
      },
      attempt: null,
      restored: { at: at(60), heardAt: null },
      machine: null,
      unreachableSince: null,
      silentSince: null,
      wakeFailure: null,
      crash: { count: 0 },
      heldBy: 'ann',
      blockedVersions: ['0.9'],
    });
    expect(recover(life.to(80), 60).kind).toBe('unchanged');
    expect(recover(life, 61).kind).toBe('changed');
  });

  test('keeps the crash record', () => {
    const life = crashedAt('StagedUpdate');
    const { crash } = life.node;
    recover(life.to(70), 60);
    expect(life.node.crash).toEqual(crash);
  });

  test('goes above a generation that is above the second already', () => {
    const life = nodeAt('Idle');
    const high = FLOOR + 1000;
    life.node = { ...life.node, spec: { ...life.node.spec, generation: high } };
    recover(life, 60);
    expect(life.facts.filter(({ kind }) => kind !== 'fill')).toEqual([wake(high + 1), said(high + 1, 60)]);
  });

  test('silence counts from it, and so does the Idle that it asks for', () => {
    const life = nodeAt('Idle');
    recover(life.to(5000), 5000);
    expect(life.node.silentSince).toBeNull();
    life.node = { ...life.node, spec: { ...life.node.spec, nextWakeAt: null } };
    expect(nodeDueAt(life.node)).toBe(at(5120));
    life.node = { ...life.node, unreachableSince: at(5120) };
    expect(nodeDueAt(life.node)).toBe(at(10_400));
  });
});

describe('the first report after a recovery', () => {
  test('tells the VMs of the host that it was heard, once', () => {
    const life = nodeAt('Idle');
    recover(life.to(60), 60);
    life.to(70).report();
    expect(life.facts).toContainEqual(heard);
    expect(life.node.restored).toEqual({ at: at(60), heardAt: at(70) });
    life.to(80).report({ currentVersion: '1.0.1' });
    expect(life.kinds()).not.toContain('hostReported');
    expect(life.node.restored).toEqual({ at: at(60), heardAt: at(70) });
  });

  test('does so also with an older generation, which is answered with Idle', () => {
    const life = nodeAt('StagedUpdate');
    recover(life.to(60), 60);
    life.to(70).report({ state: 'StagedUpdate', generation: 2 });
    expect(life.facts).toEqual([heard]);
    expect(life.node.spec).toMatchObject({ state: 'Idle', acknowledgedAt: at(70), reachedAt: null });
  });

  test('may be the first of all, of a machine that was stopped meanwhile', () => {
    const life = nodeAt('Idle');
    life.node = { ...life.node, status: null, machine: { state: 'stopped', at: at(0) } };
    expect(life.to(10).report().kind).toBe('changed');
    expect(life.node).toMatchObject({ machine: null, status: { reportedAt: at(10) } });
  });

  test('of one that was not restored tells nothing', () => {
    const life = nodeAt('Idle');
    life.to(70).report({ currentVersion: '1.0.1' });
    expect(life.kinds()).not.toContain('hostReported');
    expect(life.node.restored ?? null).toBeNull();
  });

  test('enrols a node that the copy did not know above the floor, and tells the VMs', () => {
    const life = new NodeLife();
    life.recoveredAt = at(60);
    life.to(100);
    expect(life.refused({ kind: 'report', report: ahead(FLOOR + 61) }).detail).toBe(
      `the report names generation ${FLOOR + 61}, ours is none: this node is not enrolled; the control plane may have been restored from an older copy`,
    );
    life.send({ kind: 'report', report: ahead(FLOOR + 60) });
    expect(life.facts).toContainEqual(heard);
    expect(life.node).toMatchObject({ spec: { generation: FLOOR + 60 }, restored: { at: at(60), heardAt: at(100) } });
  });

  test('enrols over a tombstone above the floor, and above the tombstone', () => {
    for (const generation of [7, FLOOR + 500]) {
      const life = nodeAt('Idle');
      life.node = { ...life.node, spec: { ...life.node.spec, generation } };
      life.send({ kind: 'remove', reason: 'deleted' });
      life.recoveredAt = at(60);
      const bound = Math.max(generation, FLOOR + 60);
      life.to(100);
      expect(life.refused({ kind: 'report', report: ahead(bound + 1) }).detail).toContain(`ours is ${bound};`);
      life.send({ kind: 'report', report: ahead(1) });
      expect(life.node.spec.generation).toBe(Math.max(generation + 1, FLOOR + 60));
    }
  });

  const ahead = (generation: number) =>
    ({
      state: 'Idle',
      generation,
      bootId: 'b9',
      currentVersion: '1.0',
      updateCheck: { result: 'UpToDate' },
      uptime: 1,
    }) as const;
});

describe('what the VMs of a host are still to be told', () => {
  const fence = (life: NodeLife, seconds: number) => life.to(seconds).send({ kind: 'fence', by: 'ann' });

  test('stands in the index, and is told again with whatever falls due', () => {
    const life = nodeAt('Idle');
    fence(life, 10);
    expect(life.node.untold).toEqual({ kind: 'hostFenced', at: at(10) });
    expect(nodeDueAt(life.node)).toBe(at(10));
    life.to(20).due();
    expect(life.facts).toEqual([{ kind: 'hostFenced', hostId: NODE, at: at(10) }]);
    const { revision } = life.node;
    life.send({ kind: 'told', at: at(10) });
    expect(life.send({ kind: 'told', at: at(10) }).kind).toBe('unchanged');
    expect(life.node).toMatchObject({ untold: null, revision: revision + 1 });
    expect(life.to(30).due().kind).toBe('unchanged');
  });

  test('is nothing of a node of which nothing happened', () => {
    expect(nodeAt('Idle').send({ kind: 'told', at: at(10) }).kind).toBe('unchanged');
  });

  test('is the newest: who told of an older one has not told of it', () => {
    const life = nodeAt('Idle');
    fence(life, 10);
    fence(life, 20);
    expect(life.send({ kind: 'told', at: at(10) }).kind).toBe('unchanged');
    expect(life.node.untold).toEqual({ kind: 'hostFenced', at: at(20) });
  });

  test('a fence is not forgotten over a silence; a silence ends with the next report, a fence does not', () => {
    const fenced = nodeAt('Idle');
    fence(fenced, 10);
    fenced.to(5400).due();
    expect(fenced.node).toMatchObject({ silentSince: at(5400), untold: { kind: 'hostFenced', at: at(10) } });
    fenced.to(5500).report();
    expect(fenced.node).toMatchObject({ silentSince: null, untold: { kind: 'hostFenced', at: at(10) } });
    const silent = nodeAt('Idle');
    silent.to(5400).due();
    expect(silent.node.untold).toEqual({ kind: 'hostSilent', at: at(5400) });
    const { node } = silent;
    silent.to(5500).report();
    expect(silent.node.untold).toBeNull();
    silent.node = { ...node, spec: { ...node.spec, generation: 9 } };
    silent.to(3701).report({ generation: 8 });
    expect(silent.node).toMatchObject({ silentSince: null, untold: null });
  });
});
