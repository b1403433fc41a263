/** A node that is held or whose group is paused, and its place in the queue (DESIGN section 2, rules 4 and 6). */
import { describe, expect, test } from 'vitest';
import { queueKey } from '../../core/node/queue.ts';
import { at, crashedAt, NodeLife, nodeAt, UPDATED } from './life.ts';

describe('a node that is held, or whose group is paused', () => {
  const stop = (life: NodeLife, how: 'held' | 'paused'): void => {
    if (how === 'held') life.send({ kind: 'hold', by: 'ann' });
    else life.paused = true;
  };

  test.each(['held', 'paused'] as const)('%s: waits staged without a deadline', (how) => {
    const life = nodeAt('StagedUpdate');
    stop(life, how);
    life.report();
    expect(life.node.spec).toMatchObject({ state: 'StagedUpdate', reachedAt: at(0), nextWakeAt: null });
    life.to(10_000).due();
    expect(life.node).toMatchObject({ spec: { state: 'StagedUpdate' }, crash: { count: 0 } });
  });

  test.each(['held', 'paused'] as const)('%s: is withdrawn uncounted once it is activated', (how) => {
    const life = nodeAt('PerformedUpdate');
    stop(life, how);
    if (how === 'paused') life.send({ kind: 'proceed' });
    expect(life.node).toMatchObject({ spec: { state: 'Idle', generation: 4 }, crash: { count: 0 } });
    expect(life.node.attempt?.claimId).toBe('claim-1');
    life.to(5).report();
    expect(life.kinds()).toContain('slotReleased');
    expect(life.node.attempt).toBeNull();
  });

  test.each(['held', 'paused'] as const)('%s: finishes what has been told to reboot', (how) => {
    const life = nodeAt('RebootedIntoUpdate');
    stop(life, how);
    life.report(UPDATED);
    expect(life.node.spec.state).toBe('MonitoringUpdate');
  });

  test('keeps its slot in a paused group, and gives it up while it is held itself', () => {
    const paused = nodeAt('StagedUpdate');
    paused.paused = true;
    paused.report();
    expect(paused.node.attempt?.claimId).toBe('claim-1');
    paused.send({ kind: 'hold', by: 'ann' });
    expect(paused.kinds()).toContain('slotReleased');
    expect(paused.node.attempt?.claimId).toBeNull();
  });

  test('is woken when its group is resumed, not by a timer, and goes on with its next report', () => {
    const life = nodeAt('StagedUpdate');
    life.paused = true;
    life.report();
    expect(life.send({ kind: 'proceed' }).kind).toBe('unchanged');
    life.paused = false;
    life.to(50).due();
    expect(life.node.spec.state).toBe('StagedUpdate');
    life.send({ kind: 'proceed' });
    expect(life.facts).toMatchObject([{ kind: 'wake', decided: false }]);
    expect(life.node.spec.state).toBe('StagedUpdate');
    life.to(60).report();
    expect(life.node.spec.state).toBe('PerformedUpdate');
  });

  test('let on and unheard for 35 min it is withdrawn, and its slot is freed at once', () => {
    const life = nodeAt('StagedUpdate');
    life.paused = true;
    life.report();
    life.paused = false;
    life.to(50).send({ kind: 'proceed' });
    life.to(2149).due();
    expect(life.node.spec.state).toBe('StagedUpdate');
    life.to(2150).due();
    expect(life.node).toMatchObject({ spec: { state: 'Idle' }, attempt: null, unreachableSince: at(2150) });
    expect(life.kinds()).toContain('slotReleased');
  });

  test('released, it is first in the queue, and goes on once it has a slot again', () => {
    const life = nodeAt('StagedUpdate');
    life.send({ kind: 'hold', by: 'ann' });
    life.report();
    expect(life.node.waitingSince).toBeNull();
    life.to(9).send({ kind: 'release' });
    expect(life.node).toMatchObject({ heldBy: null, waitingSince: at(9), spec: { state: 'StagedUpdate' } });
    expect(life.messages).toEqual(['Node Released: released (was held by ann)']);
    expect(life.facts.at(-1)).toEqual({ kind: 'fill', group: 'default' });
    expect(queueKey(life.node)?.startsWith('-#')).toBe(true);
    life.send({ kind: 'start', claim: { claimId: 'claim-2', at: at(9) }, told: false });
    expect(life.node).toMatchObject({
      waitingSince: null,
      spec: { state: 'StagedUpdate' },
      attempt: { claimId: 'claim-2' },
    });
    expect(life.facts).toMatchObject([{ kind: 'wake', decided: false }]);
    life.report();
    expect(life.node.spec.state).toBe('PerformedUpdate');
    expect(life.send({ kind: 'release' }).kind).toBe('unchanged');
  });

  test('there is nothing to go on with before a step is reached, or in Idle', () => {
    expect(nodeAt('StagedUpdate').send({ kind: 'proceed' }).kind).toBe('unchanged');
    expect(nodeAt('Idle').send({ kind: 'proceed' }).kind).toBe('unchanged');
  });

  test('hold with withdraw gives up what is staged; what is told to reboot is refused, and nothing is held', () => {
    const staged = nodeAt('StagedUpdate');
    staged.send({ kind: 'hold', by: 'ann', withdraw: true });
    expect(staged.node).toMatchObject({ heldBy: 'ann', spec: { state: 'Idle' }, crash: { count: 0 } });
    const rebooting = nodeAt('RebootedIntoUpdate');
    const refusal = rebooting.refused({ kind: 'hold', by: 'ann', withdraw: true });
    expect(refusal).toMatchObject({ status: 409, code: 'RebootDecided' });
    expect(rebooting.node.heldBy).toBeNull();
    const idle = nodeAt('Idle');
    idle.send({ kind: 'hold', by: 'ann', withdraw: true });
    expect(idle.node).toMatchObject({ heldBy: 'ann', spec: { state: 'Idle', generation: 1 } });
  });

  test('an activated node of a release before this, which waited so, goes on or is withdrawn', () => {
    const stored = (): NodeLife => {
      const life = nodeAt('PerformedUpdate');
      life.node = { ...life.node, spec: { ...life.node.spec, reachedAt: at(0) } };
      return life;
    };
    const free = stored();
    free.send({ kind: 'proceed' });
    expect(free.node.spec.state).toBe('RebootedIntoUpdate');
    const paused = stored();
    paused.paused = true;
    paused.send({ kind: 'proceed' });
    expect(paused.node).toMatchObject({ spec: { state: 'Idle' }, crash: { count: 0 } });
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
