/** A node that is held or whose group is paused, and its place in the queue (DESIGN section 2, rules 4 and 6). */
import { describe, expect, test } from 'vitest';
import { at, crashedAt, NodeLife, nodeAt, UPDATED } from './life.ts';

describe('a node that is held, or whose group is paused', () => {
  test.each(['held', 'paused'] as const)('%s: stops before its reboot, and nowhere else', (how) => {
    const stop = (life: NodeLife): void => {
      if (how === 'held') life.send({ kind: 'hold', by: 'ann' });
      else life.paused = true;
    };
    const staged = nodeAt('StagedUpdate');
    stop(staged);
    staged.report();
    expect(staged.node.spec.state).toBe('PerformedUpdate');
    staged.report();
    expect(staged.node.spec).toMatchObject({ state: 'PerformedUpdate', reachedAt: at(0) });
    staged.to(10_000).due();
    expect(staged.node.spec.state).toBe('PerformedUpdate');
    const rebooted = nodeAt('RebootedIntoUpdate');
    stop(rebooted);
    rebooted.report(UPDATED);
    expect(rebooted.node.spec.state).toBe('MonitoringUpdate');
  });

  test('goes on when its group is resumed, not when it is still paused, and a timer resumes nothing', () => {
    const life = nodeAt('PerformedUpdate');
    life.paused = true;
    life.report();
    expect(life.send({ kind: 'proceed' }).kind).toBe('unchanged');
    life.paused = false;
    life.due();
    expect(life.node.spec.state).toBe('PerformedUpdate');
    life.send({ kind: 'proceed' });
    expect(life.node.spec.state).toBe('RebootedIntoUpdate');
  });

  test('there is nothing to go on with before a step is reached, or in Idle', () => {
    expect(nodeAt('StagedUpdate').send({ kind: 'proceed' }).kind).toBe('unchanged');
    expect(nodeAt('Idle').send({ kind: 'proceed' }).kind).toBe('unchanged');
  });

  test('goes on when it is released, unless its group is paused', () => {
    const life = nodeAt('PerformedUpdate');
    life.send({ kind: 'hold', by: 'ann' });
    life.report();
    life.paused = true;
    life.send({ kind: 'release' });
    expect(life.node).toMatchObject({ heldBy: null, spec: { state: 'PerformedUpdate' } });
    expect(life.messages).toEqual(['Node Released: released (was held by ann)']);
    life.paused = false;
    life.send({ kind: 'hold', by: 'ben' });
    life.send({ kind: 'release' });
    expect(life.node.spec.state).toBe('RebootedIntoUpdate');
    expect(life.messages).toEqual([
      'Node Released: released (was held by ben)',
      'Node Update Step: PerformedUpdate reached; now RebootedIntoUpdate',
    ]);
    expect(life.send({ kind: 'release' }).kind).toBe('unchanged');
  });
});

describe('the queue', () => {
  test('a node waits from when it lacks nothing but a slot, and asks for a fill once', () => {
    const life = new NodeLife();
    life.report({ updateCheck: { result: 'UpToDate' } });
    expect(life.node.waitingSince).toBeNull();
    life.to(5).report();
    expect(life.node.waitingSince).toBe(at(5));
    expect(life.facts).toEqual([{ kind: 'fill', group: 'default' }]);
    life.to(9).report({ agentVersion: '2' });
    expect(life.node.waitingSince).toBe(at(5));
    expect(life.facts).toEqual([]);
    life.to(10).report({ updateCheck: { result: 'UpToDate' } });
    expect(life.node.waitingSince).toBeNull();
    expect(life.facts).toEqual([]);
  });

  test('moving up in it asks for another fill', () => {
    const life = crashedAt('StagedUpdate');
    life.to(3).report();
    expect(life.node.waitingSince).toBe(at(3));
    life.to(86_400).due();
    expect(life.node).toMatchObject({ waitingSince: at(3), crash: { count: 0 } });
    expect(life.facts.filter(({ kind }) => kind === 'fill')).toEqual([{ kind: 'fill', group: 'default' }]);
  });

  test('a slot that is freed is filled without being asked twice', () => {
    const life = crashedAt('StagedUpdate');
    life.to(3).report();
    expect(life.facts).toEqual([
      { kind: 'slotReleased', group: 'default', claimId: 'claim-1' },
      { kind: 'event', type: 'Node Recovered', severity: 'info', message: 'Idle again after crash 1' },
    ]);
    expect(life.node.waitingSince).toBe(at(3));
  });
});
