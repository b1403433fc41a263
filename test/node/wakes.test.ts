/** Wakes that are repeated, silence, and when the crash record is forgotten (DESIGN section 2, rules 2, 3, 8). */
import { describe, expect, test } from 'vitest';
import { at, crashedAt, NODE, NodeLife, nodeAt } from './life.ts';

const wake = (generation: number, decided: boolean) => ({
  kind: 'wake',
  hostId: NODE,
  action: 'DriveNode',
  generation,
  decided,
});

describe('wakes', () => {
  test('of a step that is not picked up are repeated after 1, 4 and 10 min, then hourly', () => {
    const life = nodeAt('Idle');
    life.start(false);
    const seen: unknown[] = [];
    for (const second of [59.999, 60, 239, 240, 599, 600, 1500]) {
      life.to(second).due();
      const { nextWakeAt, wakesRepeated } = life.node.spec;
      if (life.facts.length > 0) seen.push([second, nextWakeAt, wakesRepeated, life.facts]);
    }
    expect(seen).toEqual([
      [60, at(240), 1, [wake(2, false)]],
      [240, at(600), 2, [wake(2, false)]],
      [600, at(4200), 3, [wake(2, false)]],
    ]);
  });

  test('that time has run past are left out', () => {
    const life = nodeAt('Idle');
    life.start(false);
    life.to(240).due();
    expect(life.node.spec).toMatchObject({ nextWakeAt: at(600), wakesRepeated: 2 });
  });

  test('of a node that owes us Idle go on hourly', () => {
    const life = crashedAt('StagedUpdate');
    for (const second of [60, 120, 600]) life.to(second).due();
    expect(life.node.spec).toMatchObject({ nextWakeAt: at(4200), wakesRepeated: 3 });
    life.to(4200).due();
    expect(life.node.spec.nextWakeAt).toBe(at(7800));
  });
});

test('silence is noticed 90 min after the last report, once, and told to the VMs of the host', () => {
  const life = new NodeLife();
  life.report({ updateCheck: { result: 'UpToDate' } });
  life.to(5399.999).due();
  expect(life.node.silentSince).toBeNull();
  life.to(5400).due();
  expect(life.node.silentSince).toBe(at(5400));
  expect(life.facts).toEqual([
    { kind: 'event', type: 'Node Silent', severity: 'warning', message: 'has not reported for 90 min' },
    { kind: 'hostSilent', hostId: NODE, at: at(5400) },
  ]);
  life.send({ kind: 'told', at: at(5400) });
  expect(life.to(9000).due().kind).toBe('unchanged');
});

test('silence is told again with each sweep until the VMs of the host have been told', () => {
  const life = new NodeLife();
  life.report({ updateCheck: { result: 'UpToDate' } });
  life.to(5400).due();
  life.to(5580).due();
  expect(life.facts).toEqual([{ kind: 'hostSilent', hostId: NODE, at: at(5400) }]);
});

test('the crash record is forgotten to the moment, also by a report that comes before the timer', () => {
  const life = crashedAt('StagedUpdate');
  life.to(5).report({ updateCheck: { result: 'UpToDate' } });
  life.to(86_399.999).due();
  expect(life.node.crash.count).toBe(1);
  life.to(86_400).report({ updateCheck: { result: 'UpToDate' } });
  expect(life.node.crash).toMatchObject({ count: 0, resetAt: null });
  expect(life.messages).toEqual([
    'Node Crash Record Reset: 1 crashes forgotten: the time since the first one has passed',
  ]);
});
