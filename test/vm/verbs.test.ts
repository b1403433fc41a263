/** start, stop, restart and delete: what each answers, intends and tells, and when it changes nothing (DESIGN section 3, rules 4, 8). */
import { describe, expect, test } from 'vitest';
import { seconds } from '../../core/kit/time.ts';
import { at, declared, edit, editInstance, facts, instance, note, refused, running, said, wake } from './scene.ts';

describe('start', () => {
  test('makes an instance now, and is an intent with a number of its own', () => {
    const life = declared('Manual');
    life.start();
    expect(life.vm).toMatchObject({ power: { on: true, sequence: 1 }, lastVerb: 'start', pendingStart: null });
    expect(instance(life).phase).toBe('Pending');
  });

  test('again changes nothing while the instance lives', () => {
    const life = declared('Manual');
    life.start();
    const before = life.vm;
    expect(facts(life, () => life.start())).toEqual([]);
    expect(life.vm).toBe(before);
  });

  test('of one that has ended is noted, though power was on', () => {
    const life = declared('Manual');
    life.start();
    life.report('Succeeded');
    expect(said(life, () => life.start())).toHaveLength(2);
    expect(life.vm.power).toEqual({ on: true, sequence: 1 });
  });

  test('after its strategy switched power off is a new intent', () => {
    const life = declared('Manual');
    life.start();
    life.report('Succeeded');
    life.put('Halted');
    life.put('Manual');
    expect(life.vm.power.on).toBe(false);
    life.start();
    expect(life.vm).toMatchObject({ power: { on: true }, instance: { phase: 'Pending' } });
  });

  test('under Once of a VM that never had an instance makes one', () => {
    const life = edit(declared('Once'), { instance: null });
    expect(life.start()).toBe(202);
    expect(instance(life).phase).toBe('Pending');
  });

  test('of an instance that nobody stops keeps it, and is noted', () => {
    const life = running('Always');
    expect(facts(life, () => life.start())).toEqual([note('VM Start Requested', 'started by an operator')]);
    expect(life.vm).toMatchObject({ power: { on: true, sequence: 1 }, pendingStart: null });
  });

  test('in back-off tries now and forgets the failures', () => {
    const life = declared('Always');
    life.failEarly();
    edit(life, { unstableRuns: { count: 3, retryAfter: null } });
    life.start();
    expect(life.vm).toMatchObject({ startFailure: null, unstableRuns: null, pendingStart: null });
    expect(life.status).toBe('Starting');
  });

  test.each(['stopped', 'timed out'])('of an instance that was %s waits for its end, and then starts', (how) => {
    const life = running('Always');
    const first = life.instanceId;
    if (how === 'stopped') life.stop();
    else editInstance(life, { timedOutAt: at(0) });
    life.start();
    expect(life.instanceId).toBe(first);
    expect(life.vm.pendingStart).toEqual({ notBefore: at(0), promised: true });
    life.report('Failed');
    expect(life.instanceId).not.toBe(first);
  });

  test('is refused under Halted, with what to change', () => {
    expect(refused(declared('Halted'), { kind: 'start' })).toEqual({
      status: 409,
      code: 'VmHalted',
      detail:
        'VM web has run strategy Halted and cannot be started; change its runStrategy to Always, RerunOnFailure, Manual or Once first',
    });
  });

  test('is refused under Once after its run, until an explicit stop', () => {
    const life = running('Once');
    expect(life.start()).toBe(202);
    life.report('Succeeded');
    expect(refused(life, { kind: 'start' })).toEqual({
      status: 409,
      code: 'VmRanOnce',
      detail:
        'VM web has run strategy Once and has had its run (Succeeded); stop it explicitly, then start it again, or change its runStrategy',
    });
    life.stop();
    expect(life.start()).toBe(202);
  });

  test('of what is being deleted is refused', () => {
    const life = running('Always');
    life.send({ kind: 'delete', force: false });
    expect(refused(life, { kind: 'start' })).toEqual({
      status: 409,
      code: 'VmTerminating',
      detail: 'VM web is being deleted and cannot be started; declare it again when it is gone',
    });
    expect(refused(life, { kind: 'restart' }).code).toBe('VmTerminating');
  });
});

describe('stop', () => {
  test('tells a live instance to end with the grace that is given, or the VM’s own', () => {
    const life = running('Always', { grace: '40s' });
    const events = facts(life, () => life.stop(7));
    expect(instance(life)).toMatchObject({
      stop: { at: at(0), grace: seconds(7) },
      nextWakeAt: at(60),
      wakesRepeated: 0,
    });
    expect(life.vm).toMatchObject({ power: { on: false, sequence: 1 }, lastVerb: 'stop' });
    expect(events).toEqual([note('VM Stop Requested', 'stopped by an operator'), wake('StopInstance')]);
    const own = running('Always', { grace: '40s' });
    own.stop();
    expect(instance(own).stop?.grace).toBe(seconds(40));
  });

  test('again with a shorter grace holds, with a longer or the same one not', () => {
    const life = running('Always');
    life.stop(20);
    life.wait(5);
    expect(facts(life, () => life.stop(20))).toEqual([]);
    expect(facts(life, () => life.stop(30))).toEqual([]);
    expect(facts(life, () => life.stop(10))).toEqual([
      note('VM Stop Requested', 'stopped by an operator'),
      wake('StopInstance', false),
    ]);
    expect(instance(life).stop).toEqual({ at: at(0), grace: seconds(10) });
  });

  test('without an instance drops what is planned and what was counted', () => {
    const life = declared('Always');
    life.failEarly();
    expect(facts(life, () => life.stop())).toEqual([note('VM Stop Requested', 'stopped by an operator')]);
    expect(life.vm).toMatchObject({ pendingStart: null, startFailure: null, power: { on: false, sequence: 1 } });
    expect(facts(life, () => life.stop())).toEqual([]);
  });

  test('of an instance that timed out is not commanded a second time', () => {
    const life = declared('Always');
    life.report('Scheduled');
    life.wait(301);
    expect(facts(life, () => life.stop())).toContainEqual(wake('StopInstance', false));
    expect(life.commands('StopInstance')).toBe(1);
    expect(life.vm).toMatchObject({ startFailure: null, pendingStart: null });
  });
});

describe('restart', () => {
  test('tells the instance to end and plans the next one', () => {
    const life = running('Always', { grace: '40s' });
    edit(life, { unstableRuns: { count: 1, retryAfter: null } });
    const events = facts(life, () => life.restart());
    expect(life.vm).toMatchObject({
      power: { on: true, sequence: 1 },
      lastVerb: 'restart',
      pendingStart: { notBefore: at(0) },
      unstableRuns: null,
      restartCount: 0,
      instance: { stop: { grace: seconds(40) } },
    });
    expect(events).toEqual([note('VM Restart Requested', 'restarted by an operator'), wake('StopInstance')]);
    const first = life.instanceId;
    life.report('Failed');
    expect(life.instanceId).not.toBe(first);
    expect(life.vm.restartCount).toBe(1);
  });

  test('again while it stops changes nothing; after a stop it is a new wish', () => {
    const life = running('Always');
    life.restart();
    expect(facts(life, () => life.restart())).toEqual([]);
    life.stop();
    expect(said(life, () => life.restart())).toEqual(['VM Restart Requested: restarted by an operator']);
    expect(life.vm).toMatchObject({ power: { on: true, sequence: 3 }, pendingStart: { notBefore: at(0) } });
  });

  test('after a stop and a start tells nobody twice', () => {
    const life = running('Always');
    life.stop();
    life.start();
    expect(facts(life, () => life.restart())).toEqual([note('VM Restart Requested', 'restarted by an operator')]);
  });

  test('after its stop ended, or of a new instance, is done again', () => {
    const life = running('Always');
    life.restart();
    life.report('Failed');
    life.report('Running');
    expect(said(life, () => life.restart())).toEqual(['VM Restart Requested: restarted by an operator']);
    // What was asked for a second time has not been made yet.
    expect(life.vm.restartCount).toBe(1);
  });

  test('while power is off though the verb was restart is done', () => {
    const life = running('Always');
    life.restart();
    edit(life, { power: { on: false, sequence: 5 } });
    expect(said(life, () => life.restart())).toEqual(['VM Restart Requested: restarted by an operator']);
  });

  test('of a VM that never had an instance is a start, and counts as none', () => {
    const life = declared('Manual');
    const events = said(life, () => life.restart());
    expect(events[0]).toBe('VM Restart Requested: restarted by an operator');
    expect(events[1]).toMatch(/^VM Instance Started: /);
    expect(life.vm.restartCount).toBe(0);
  });

  test('is refused under Halted and Once', () => {
    expect(refused(declared('Halted'), { kind: 'restart' })).toEqual({
      status: 409,
      code: 'VmHalted',
      detail:
        'VM web has run strategy Halted and cannot be restarted; change its runStrategy to Always, RerunOnFailure, Manual or Once first',
    });
    expect(refused(declared('Once'), { kind: 'restart' })).toEqual({
      status: 409,
      code: 'VmRunsOnce',
      detail: 'VM web has run strategy Once and is not restarted; stop it, then start it, or change its runStrategy',
    });
  });
});
