/** What time brings to a VM: wakes that are repeated, unstable runs that are forgotten, alarms (DESIGN section 3). */
import { describe, expect, test } from 'vitest';
import type { Alarm } from '../../core/decision/alarm.ts';
import { vmAlarm, vmDueAt } from '../../core/vm/timing.ts';
import { at, declared, edit, editInstance, facts, HOST, instance, running, said, VmLife, wake } from './scene.ts';

describe('time', () => {
  test('repeats the wake for an instance that is not picked up after 1, 4 and 10 min, then every hour', () => {
    const life = declared('Always');
    for (const [second, next] of [
      [60, 240],
      [240, 600],
      [600, 4200],
      [4200, 7800],
    ] as const) {
      life.now = at(second - 0.001);
      expect(facts(life, () => life.send({ kind: 'due' }))).toEqual([]);
      life.now = at(second);
      expect(facts(life, () => life.send({ kind: 'due' }))).toEqual([wake('StartInstance', false)]);
      expect(instance(life).nextWakeAt).toBe(at(next));
    }
  });

  test('leaves out the repeats that have run past', () => {
    const life = declared('Always');
    life.now = at(240);
    life.send({ kind: 'due' });
    expect(instance(life)).toMatchObject({ nextWakeAt: at(600), wakesRepeated: 2 });
  });

  test.each(['stop', 'time-out'])('repeats the wake for a %s from when it was decided', (how) => {
    const life = declared('Always');
    life.report('Scheduled');
    if (how === 'stop') {
      life.wait(100);
      life.stop();
    } else life.wait(300);
    const began = (life.now - at(0)) / 1000;
    life.now = at(began + 60);
    expect(facts(life, () => life.send({ kind: 'due' }))).toEqual([wake('StopInstance', false)]);
    expect(instance(life).nextWakeAt).toBe(at(began + 240));
  });

  test('brings a wake that failed forward to 30 s, never back', () => {
    const life = declared('Always');
    const failed = (): unknown => life.send({ kind: 'wakeFailed', status: 'Failed' });
    life.wait(10);
    expect(facts(life, failed)).toEqual([]);
    expect(instance(life).nextWakeAt).toBe(at(40));
    life.wait(10);
    failed();
    expect(instance(life).nextWakeAt).toBe(at(40));
    const same = declared('Always');
    same.wait(30);
    const unmoved = same.vm;
    same.send({ kind: 'wakeFailed', status: 'Failed' });
    expect(same.vm.instance).toEqual(unmoved.instance);
    expect(same.vm.wakeFailure).toEqual({ status: 'Failed', at: at(30) });
    const taken = running('Always');
    taken.send({ kind: 'wakeFailed', status: 'Failed' });
    expect(instance(taken).nextWakeAt).toBeNull();
    const none = declared('Manual');
    expect(facts(none, () => none.send({ kind: 'wakeFailed', status: 'Failed' }))).toEqual([]);
    const ended = editInstance(running('Manual'), { phase: 'Failed', nextWakeAt: at(900) });
    ended.send({ kind: 'wakeFailed', status: 'Failed' });
    expect(instance(ended).nextWakeAt).toBe(at(900));
  });

  test('forgets unstable runs after stableFor of Running, to the moment', () => {
    const life = edit(running('Always', { stableFor: '20s' }), { unstableRuns: { count: 2, retryAfter: at(0) } });
    life.now = at(19.999);
    life.send({ kind: 'due' });
    expect(life.vm.unstableRuns?.count).toBe(2);
    life.now = at(20);
    expect(said(life, () => life.send({ kind: 'due' }))).toEqual(['VM Recovered: stable again after 2 unstable runs']);
    expect(life.vm.unstableRuns).toBeNull();
    const silent = edit(running('Always', { stableFor: '20s' }), { unstableRuns: { count: 2, retryAfter: null } });
    silent.send({ kind: 'hostSilent', hostId: HOST });
    silent.now = at(90);
    silent.send({ kind: 'due' });
    expect(silent.vm.unstableRuns?.count).toBe(2);
    const none = edit(declared('Manual'), { unstableRuns: { count: 2, retryAfter: null } });
    expect(facts(none, () => none.send({ kind: 'due' }))).toEqual([]);
    const unseen = edit(editInstance(running('Always'), { runningSince: null }), {
      unstableRuns: { count: 2, retryAfter: null },
    });
    unseen.now = at(9000);
    unseen.send({ kind: 'due' });
    expect(unseen.vm.unstableRuns?.count).toBe(2);
  });

  const unstable = { unstableRuns: { count: 1, retryAfter: null } };
  const failed = (): VmLife => {
    const life = declared('Always');
    life.failEarly();
    return life;
  };
  test.each<[string, () => VmLife, Alarm | null]>([
    ['off', () => declared('Manual'), null],
    ['not picked up', () => declared('Always'), { at: at(60), retry: false }],
    [
      'taken on',
      () => {
        const life = declared('Always');
        life.report('Scheduled');
        return life;
      },
      { at: at(300), retry: false },
    ],
    ['Running', () => running('Always'), null],
    ['Running after short runs', () => edit(running('Always'), unstable), { at: at(600), retry: false }],
    [
      'Running, nobody knows since when',
      () => edit(editInstance(running('Always'), { runningSince: null }), unstable),
      null,
    ],
    ['silent after short runs', () => edit(editInstance(running('Always'), { phase: 'Unknown' }), unstable), null],
    ['off, after short runs', () => edit(declared('Manual'), unstable), null],
    ['backing off', failed, { at: at(12.5), retry: true }],
    ['backing off with power off', () => edit(failed(), { power: { on: false, sequence: 1 } }), null],
    [
      'backing off, its old instance not ended',
      () => editInstance(failed(), { phase: 'Scheduled', nextWakeAt: at(60) }),
      { at: at(60), retry: false },
    ],
    [
      'ended, whatever its instance says',
      () => editInstance(running('Manual'), { phase: 'Failed', nextWakeAt: at(9), startDeadlineAt: at(9) }),
      null,
    ],
    ['gone', () => edit(failed(), { removed: { at: at(0) } }), null],
  ])('has an alarm for a VM that is %s', (_what, make, alarm) => {
    expect(vmAlarm(make().vm)).toEqual(alarm);
    expect(vmDueAt(make().vm)).toBe(alarm?.at ?? null);
  });
});
