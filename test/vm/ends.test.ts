/** How an instance begins and ends, which ends count, and what is planned after each (DESIGN section 3, rules 1, 2, 5). */
import { describe, expect, test } from 'vitest';
import type { EndCause, RunStrategy } from '../../core/contract/words.ts';
import { at, declared, edit, editInstance, facts, instance, note, running, said, wake } from './scene.ts';
import { there } from '../kit/there.ts';

describe('a new instance', () => {
  test('is Pending, and its host is woken for it', () => {
    const life = declared('Manual');
    const events = facts(life.wait(7) ?? life, () => life.start());
    const { instanceId } = life;
    expect(instanceId).toBe(`${life.vm.uid.slice(0, 8)}-0000000000000002`);
    expect(life.vm.instance).toEqual({
      instanceId,
      phase: 'Pending',
      since: at(7),
      createdAt: at(7),
      everRunning: false,
      runningSince: null,
      cause: null,
      stop: null,
      startDeadlineAt: null,
      timedOutAt: null,
      nextWakeAt: at(67),
      wakesRepeated: 0,
    });
    expect(life.vm.pendingStart).toBeNull();
    expect(events).toEqual([
      note('VM Start Requested', 'started by an operator'),
      wake('StartInstance'),
      note('VM Instance Started', `instance ${instanceId} asked of host ${life.vm.body.hostId}`),
    ]);
  });

  test('retires the one before; the last 16 are remembered, newest last', () => {
    const life = declared('Manual');
    const ids: string[] = [];
    for (let lives = 0; lives < 19; lives += 1) {
      life.start();
      ids.push(life.instanceId);
      life.report('Succeeded');
    }
    expect(life.vm.previousInstances).toEqual(ids.slice(2, 18));
  });

  test.each([
    ['power off', { power: { on: false, sequence: 1 } }],
    ['being deleted', { deleting: { at: at(0), deadlineAt: at(9) } }],
  ])('is not made with %s, whatever is planned', (_what, more) => {
    const life = declared('Always');
    life.failEarly();
    edit(life, more);
    life.now = at(400);
    const before = life.instanceId;
    life.send({ kind: 'due' });
    expect(life.instanceId).toBe(before);
  });

  test('is not made before its time: looked at too early, nothing changes', () => {
    const life = declared('Always');
    life.failEarly();
    const before = life.vm;
    life.now = at(12.499);
    expect(facts(life, () => life.send({ kind: 'due' }))).toEqual([]);
    expect(life.vm).toBe(before);
  });

  test('waits no longer than the cap, whatever a clock or a hand did to the record; what is shown is cut too', () => {
    const life = declared('Always');
    life.failEarly();
    const startFailure = there(life.vm.startFailure);
    const far = at(9000);
    edit(life, {
      pendingStart: { notBefore: far },
      startFailure: { ...startFailure, retryAfter: far },
      unstableRuns: { count: 2, retryAfter: far },
    });
    expect(facts(life, () => life.send({ kind: 'due' }))).toEqual([]);
    expect(life.vm).toMatchObject({
      pendingStart: { notBefore: at(300) },
      startFailure: { consecutiveFailCount: 1, retryAfter: at(300) },
      unstableRuns: { count: 2, retryAfter: at(300) },
    });
    edit(life, { pendingStart: { notBefore: far }, startFailure: null, unstableRuns: { count: 2, retryAfter: null } });
    life.send({ kind: 'due' });
    expect(life.vm).toMatchObject({
      pendingStart: { notBefore: at(300) },
      startFailure: null,
      unstableRuns: { retryAfter: null },
    });
    edit(life, {
      pendingStart: { notBefore: far },
      startFailure: { ...startFailure, retryAfter: at(5) },
      unstableRuns: null,
    });
    life.send({ kind: 'due' });
    expect(life.vm).toMatchObject({ startFailure: { retryAfter: at(5) }, unstableRuns: null });
  });
});

describe('an end', () => {
  const COUNTED: EndCause[] = [
    'GuestShutdown',
    'GuestPanic',
    'LaunchFailed',
    'LaunchTimeout',
    'Killed',
    'Unhealthy',
    'Unknown',
  ];
  const UNCOUNTED: EndCause[] = ['Requested', 'HostMaintenance', 'HostLost'];

  test.each(COUNTED)('of cause %s before Running is a start failure', (cause) => {
    const life = declared('Always');
    life.report('Failed', { cause });
    expect(life.vm.startFailure).toMatchObject({ consecutiveFailCount: 1, reason: cause });
    expect(life.vm.lastFailure).toMatchObject({ reason: cause });
  });

  test.each(UNCOUNTED)('of cause %s counts nothing, is no failure, and the next instance starts at once', (cause) => {
    const life = declared('Always');
    const first = life.instanceId;
    life.report('Failed', { cause });
    expect(life.vm).toMatchObject({ startFailure: null, unstableRuns: null, lastFailure: null });
    expect(life.vm.restartCount).toBe(1);
    expect(life.instanceId).not.toBe(first);
    const manual = running('Manual');
    manual.report('Failed', { cause });
    expect(manual.vm.lastFailure).toBeNull();
  });

  test('before Running is counted, written down, and the next start is delayed', () => {
    const life = declared('Always');
    const { instanceId } = life;
    const events = facts(life, () =>
      life.report('Failed', { cause: 'LaunchFailed', message: 'exit 1', console: 'boot' }),
    );
    expect(life.vm).toMatchObject({
      startFailure: {
        consecutiveFailCount: 1,
        lastFailedInstanceId: instanceId,
        retryAfter: at(12.5),
        reason: 'LaunchFailed',
        message: 'exit 1',
      },
      lastFailure: { reason: 'LaunchFailed', message: 'exit 1', console: 'boot', at: at(0) },
      pendingStart: { notBefore: at(12.5) },
      unstableRuns: null,
      restartCount: 0,
      instance: { phase: 'Failed', since: at(0), cause: 'LaunchFailed', nextWakeAt: null, startDeadlineAt: null },
    });
    expect(events).toEqual([
      note('VM Ended', `instance ${instanceId} Failed: LaunchFailed: exit 1`),
      { kind: 'metric', name: 'VmStartFailure', group: null, value: 1 },
      note(
        'VM Start Delayed',
        'never came to run: LaunchFailed (start failure 1): exit 1; the next start is delayed by 13 s',
        'warning',
      ),
    ]);
  });

  test('soon after Running is an unstable run, with a count of its own', () => {
    const life = running('Always');
    const { instanceId } = life;
    life.wait(5);
    const events = facts(life, () => life.report('Failed', { cause: 'GuestPanic' }));
    expect(life.vm).toMatchObject({
      startFailure: null,
      unstableRuns: { count: 1, retryAfter: at(17.5) },
      pendingStart: { notBefore: at(17.5) },
      lastFailure: { reason: 'GuestPanic', message: null, console: null, at: at(5) },
      restartCount: 0,
    });
    expect(events).toEqual([
      note('VM Ended', `instance ${instanceId} Failed: GuestPanic`),
      { kind: 'metric', name: 'VmUnstableRun', group: null, value: 1 },
      note(
        'VM Start Delayed',
        'ran only 5 s and ended GuestPanic (unstable run 1); the next start is delayed by 13 s',
        'warning',
      ),
    ]);
    life.wait(13);
    life.report('Running');
    life.report('Failed', { cause: 'GuestPanic' });
    expect(life.vm.unstableRuns?.count).toBe(2);
  });

  test('after stableFor is none: the next instance starts at once, and what was counted is forgotten', () => {
    const life = running('Always');
    life.report('Failed');
    life.wait(13);
    life.report('Running');
    const began = life.now;
    life.now = at((began - at(0)) / 1000 + 600);
    const before = life.vm.lastFailure;
    const events = facts(life, () => life.report('Failed', { cause: 'GuestPanic', message: 'late' }));
    expect(events.map(({ kind }) => kind)).toEqual(['event', 'wake', 'event']);
    expect(life.vm).toMatchObject({ unstableRuns: null, startFailure: null, lastFailure: before, restartCount: 2 });
    expect(life.status).toBe('Starting');
    const short = running('Always', { stableFor: '20s' });
    short.now = at(19.999);
    short.report('Failed');
    expect(short.vm.unstableRuns?.count).toBe(1);
  });

  test('of an instance that ran, though nobody saw since when, is an unstable run', () => {
    const life = editInstance(running('Always'), { runningSince: null });
    const [, delayed] = said(life, () => life.report('Failed', { cause: 'Killed' }));
    expect(life.vm.unstableRuns?.count).toBe(1);
    expect(delayed).toContain('ran only 0 s and ended Killed');
  });

  test.each<[RunStrategy, 'Failed' | 'Succeeded', boolean, boolean]>([
    ['Always', 'Failed', true, true],
    ['Always', 'Succeeded', true, true],
    ['RerunOnFailure', 'Failed', true, true],
    ['RerunOnFailure', 'Succeeded', false, false],
    ['Manual', 'Failed', false, true],
    ['Manual', 'Succeeded', false, false],
    ['Once', 'Failed', false, true],
    ['Once', 'Succeeded', false, false],
  ])('under %s, %s: planned again %s, remembered as a failure %s', (strategy, phase, again, failed) => {
    const life = declared(strategy);
    if (strategy === 'Manual') life.start();
    life.report(phase);
    expect(life.vm.pendingStart !== null).toBe(again);
    expect(life.vm.lastFailure !== null).toBe(failed);
    // What is only planned was not made (rule 5).
    expect(life.vm.restartCount).toBe(0);
  });

  test('with power off, or while being deleted, plans nothing', () => {
    const off = edit(declared('Always'), { power: { on: false, sequence: 1 } });
    off.report('Failed');
    expect(off.vm).toMatchObject({ pendingStart: null, startFailure: null });
    const going = edit(declared('Always'), { deleting: { at: at(0), deadlineAt: at(9) } });
    going.report('Failed');
    expect(going.vm).toMatchObject({ pendingStart: null, startFailure: null, removed: { at: at(0) } });
  });

  test('that was asked for is Requested, whatever it was, and no failure', () => {
    const life = running('Always');
    life.stop();
    const { instanceId } = life;
    expect(said(life, () => life.report('Failed', { cause: 'GuestPanic', message: 'x' }))).toEqual([
      `VM Ended: instance ${instanceId} Failed: Requested: x`,
    ]);
    expect(life.vm).toMatchObject({ lastFailure: null, unstableRuns: null, restartCount: 0 });
  });

  test.each([
    ['Succeeded', false, 'GuestShutdown'],
    ['Succeeded', true, 'GuestShutdown'],
    ['Failed', false, 'LaunchFailed'],
    ['Failed', true, 'Unknown'],
  ] as const)('%s without a cause, Running before: %s, is taken for %s', (phase, ran, cause) => {
    const life = declared('Once');
    if (ran) life.report('Running');
    life.report(phase);
    expect(instance(life).cause).toBe(cause);
  });

  test('keeps its message and the tail of its console, cut', () => {
    const life = declared('Always');
    life.report('Failed', { message: 'm'.repeat(1001), console: `a${'c'.repeat(4000)}` });
    expect(life.vm.lastFailure).toMatchObject({ message: `${'m'.repeat(999)}…`, console: 'c'.repeat(4000) });
    const silent = declared('Always');
    silent.report('Failed', { message: '', console: '' });
    expect(silent.vm).toMatchObject({
      startFailure: { message: null },
      lastFailure: { message: null, console: null },
    });
  });
});
