/** The start deadline: drawn, passed, counted once, and its instance replaced when its end is known (DESIGN section 3, rule 5). */
import { describe, expect, test } from 'vitest';
import type { RunStrategy } from '../../core/contract/words.ts';
import { hours, seconds } from '../../core/kit/time.ts';
import { at, declared, editInstance, facts, instance, note, running, said, type VmLife, wake } from './scene.ts';

describe('a start deadline', () => {
  const taken = (strategy: RunStrategy = 'Always'): VmLife => {
    const life = declared(strategy);
    if (strategy === 'Manual') life.start();
    life.report('Scheduled');
    return life;
  };

  test.each([
    [0, 240],
    [0.5, 300],
    [1, 360],
  ])('drawn at %d of its range is %d s after the host took the instance on', (deadline, length) => {
    const life = declared('Always');
    life.deadline = deadline;
    life.report('Scheduled');
    expect(instance(life)).toMatchObject({ phase: 'Scheduled', startDeadlineAt: at(length), nextWakeAt: null });
  });

  test('that passes is counted at once, and the host is told to end the instance', () => {
    const life = taken();
    life.now = at(299.999);
    life.send({ kind: 'due' });
    expect(life.vm.startFailure).toBeNull();
    life.now = at(300);
    const events = facts(life, () => life.send({ kind: 'due' }));
    expect(instance(life)).toMatchObject({
      phase: 'Scheduled',
      timedOutAt: at(300),
      cause: 'LaunchTimeout',
      startDeadlineAt: null,
      nextWakeAt: at(360),
      wakesRepeated: 0,
    });
    expect(life.vm).toMatchObject({
      startFailure: {
        reason: 'LaunchTimeout',
        message: 'not Running within its start deadline',
        retryAfter: at(312.5),
      },
      lastFailure: { reason: 'LaunchTimeout', message: 'not Running within its start deadline', console: null },
      pendingStart: { notBefore: at(312.5) },
    });
    expect(events).toEqual([
      wake('StopInstance'),
      { kind: 'metric', name: 'VmStartFailure', group: null, value: 1 },
      note(
        'VM Start Delayed',
        'never came to run: LaunchTimeout (start failure 1): not Running within its start deadline; the next start is delayed by 13 s',
        'warning',
      ),
    ]);
  });

  test('that passed is counted once, and its instance replaced when its end is known', () => {
    const life = taken();
    life.wait(301);
    const { instanceId } = life;
    life.report('Running');
    expect(instance(life)).toMatchObject({ phase: 'Scheduled', everRunning: false });
    life.wait(900);
    expect(life.instanceId).toBe(instanceId);
    expect(said(life, () => life.report('Failed', { cause: 'Killed', console: 'tail' }))[0]).toBe(
      `VM Ended: instance ${instanceId} Failed: LaunchTimeout`,
    );
    expect(life.vm).toMatchObject({
      startFailure: { consecutiveFailCount: 1 },
      lastFailure: { reason: 'LaunchTimeout', message: 'not Running within its start deadline', console: 'tail' },
    });
    expect(life.instanceId).not.toBe(instanceId);
  });

  test.each(['Manual', 'Once'] as const)('under %s is a warning, remembered and not counted', (strategy) => {
    const life = taken(strategy);
    life.now = at(300);
    const events = facts(life, () => life.send({ kind: 'due' }));
    expect(life.vm).toMatchObject({
      startFailure: null,
      pendingStart: null,
      lastFailure: { reason: 'LaunchTimeout', message: 'not Running within its start deadline', at: at(300) },
    });
    expect(events).toEqual([
      wake('StopInstance'),
      note('VM Ended', 'not Running within its start deadline', 'warning'),
    ]);
  });

  test('under RerunOnFailure is counted too', () => {
    const life = taken('RerunOnFailure');
    life.wait(300);
    expect(life.vm.startFailure).toMatchObject({ consecutiveFailCount: 1, reason: 'LaunchTimeout' });
  });

  test('of an instance that is told to end already is dropped', () => {
    const life = taken();
    life.stop();
    editInstance(life, { startDeadlineAt: at(5), nextWakeAt: null });
    life.now = at(5);
    expect(facts(life, () => life.send({ kind: 'due' }))).toEqual([]);
    expect(instance(life)).toMatchObject({ startDeadlineAt: null, timedOutAt: null });
  });

  test('there is none when the VM has none', () => {
    const life = declared('Always', { startDeadline: 'none' });
    life.report('Scheduled');
    expect(instance(life).startDeadlineAt).toBeNull();
  });
});

test('the longest pace of repeats is an hour, of a grace 30 s by default', () => {
  const life = running('Always');
  life.stop();
  expect(instance(life).stop).toEqual({ at: at(0), grace: seconds(30) });
  for (const second of [60, 240, 600]) life.wait(second - (life.now - at(0)) / 1000);
  expect(instance(life).nextWakeAt).toBe(at(600) + hours(1));
});
