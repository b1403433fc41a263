/** What KubeVirt #5905 says and what its reviewers asked for (docs/seed-coverage.md). */
import { describe, expect, test } from 'vitest';
import { VM_BACKOFF_SEED, vmRetryDelay } from '../../core/policy/backoff.ts';
import { formatInstant, type Instant, between, instant } from '../../core/kit/time.ts';
import { HOST, VmLife } from '../kubevirt/vm-life.ts';
import { tell } from './story.ts';

const SEED = { backoff: { preset: 'seed' } } as const;
const always = () => VmLife.declared('Always', SEED);
const secondsTo = (life: VmLife, at: Instant | undefined): number => between(life.now, at ?? instant(0)) / 1000;

describe('a crash loop', () => {
  test.each(['Always', 'RerunOnFailure'] as const)('is counted under %s', (strategy) => {
    const life = VmLife.declared(strategy, SEED);
    life.failEarly();
    expect(life.vm.startFailure?.consecutiveFailCount).toBe(1);
    expect(life.startsAnother()).toBe(true);
    life.failEarly();
    expect(life.vm.startFailure?.consecutiveFailCount).toBe(2);
  });

  test.each(['Manual', 'Once'] as const)('is none under %s', (strategy) => {
    const life = VmLife.declared(strategy, SEED);
    if (strategy === 'Manual') life.start();
    life.failEarly();
    expect(life.vm).toMatchObject({ startFailure: null, pendingStart: null, lastFailure: { reason: 'LaunchFailed' } });
    expect(life.startsAnother()).toBe(false);
  });

  test('counts every instance that never came to run, in a row', () => {
    const life = always();
    for (let count = 1; count <= 8; count += 1) {
      life.failEarly();
      expect(life.vm.startFailure?.consecutiveFailCount).toBe(count);
      expect(life.startsAnother()).toBe(true);
    }
  });

  test('backs off exponentially', () => {
    const life = always();
    life.delay = 0;
    const waits: number[] = [];
    for (let count = 1; count <= 7; count += 1) {
      life.failEarly();
      waits.push(secondsTo(life, life.vm.startFailure?.retryAfter));
      life.wait(300);
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 200, 200]);
  });

  test('is not retried before its time, and then at once', () => {
    const life = always();
    life.failEarly();
    const first = life.instanceId;
    const wait = secondsTo(life, life.vm.startFailure?.retryAfter);
    life.wait(wait - 0.001);
    expect(life.instanceId).toBe(first);
    life.wait(0.001);
    expect(life.instanceId).not.toBe(first);
  });

  test('has ended once an instance is Running', () => {
    const life = always();
    life.failEarly();
    life.wait(300);
    // Straight from Pending: nobody has said Scheduled.
    expect(life.vm.instance?.phase).toBe('Pending');
    life.report('Running');
    expect(life.vm.startFailure).toBeNull();
    expect(life.vm.lastFailure?.message).toBe('exit 1');
    expect(life.events('VM Recovered')).toHaveLength(1);
  });

  test.each(['stop', 'start', 'restart'] as const)('has ended with a manual %s', (verb) => {
    const life = always();
    life.failEarly();
    expect(life[verb]()).toBe(202);
    expect(life.vm.startFailure).toBeNull();
    expect(life.vm.lastFailure?.reason).toBe('LaunchFailed');
  });

  test.each(['stop', 'start', 'restart'] as const)('of young runs has ended with a manual %s too', (verb) => {
    const life = always();
    life.report('Running');
    life.wait(5);
    life.report('Failed', { cause: 'GuestPanic' });
    expect(life.vm.unstableRuns?.count).toBe(1);
    expect(life[verb]()).toBe(202);
    expect(life.vm.unstableRuns).toBeNull();
  });

  test('shows how many failures there were and when the next start is', () => {
    const life = always();
    life.delay = 0.5;
    life.failEarly('no such domain');
    expect(life.shown.startFailure).toEqual({
      consecutiveFailCount: 1,
      lastFailedInstanceId: life.instanceId,
      retryAfter: formatInstant(instant(life.now + 12_500)),
      reason: 'LaunchFailed',
      message: 'no such domain',
    });
    expect(life.shown.explanation).toContain('failed to start once (LaunchFailed); the next start is tried in 13 s');
  });

  test('is shown as CrashLoopBackOff, only while a retry is planned', () => {
    const life = always();
    expect(life.status).toBe('Starting');
    life.failEarly();
    expect(life.status).toBe('CrashLoopBackOff');
    life.wait(15);
    expect(life.status).toBe('Starting');
    life.failEarly();
    life.stop();
    expect(life.status).toBe('Stopped');
  });

  test('each delayed start is a warning event', () => {
    const life = always();
    life.failEarly();
    expect(life.events('VM Start Delayed')).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('exit 1; the next start is delayed by 13 s') as unknown },
    ]);
  });
});

describe('stop', () => {
  test.each(['Always', 'RerunOnFailure'] as const)(
    'is taken under %s without an instance, and nothing starts after it',
    (strategy) => {
      const life = VmLife.declared(strategy, SEED);
      life.failEarly();
      expect(life.stop()).toBe(202);
      expect(life.stop()).toBe(202);
      expect(life.startsAnother()).toBe(false);
      expect(life.vm).toMatchObject({ power: { on: false }, pendingStart: null, body: { runStrategy: strategy } });
      expect(life.commands('StopInstance')).toBe(0);
    },
  );

  test('at the instant of a crash never ends in a restart and never counts', () => {
    const life = always();
    life.report('Scheduled');
    life.stop();
    life.failEarly();
    expect(life.vm).toMatchObject({ startFailure: null, instance: { cause: 'Requested' } });
    expect(life.startsAnother()).toBe(false);
    expect(life.counted('VmStartFailure')).toBe(0);
  });
});

describe('counting', () => {
  test('an instance is counted once, however often its end is told', () => {
    const life = always();
    const { instanceId } = life;
    life.failEarly();
    life.failEarly();
    life.wait(300);
    life.report('Failed', { instanceId });
    expect(life.vm.startFailure?.consecutiveFailCount).toBe(1);
    expect(life.counted('VmStartFailure')).toBe(1);
  });

  test('a launch that timed out is counted then, and not again when it ends', () => {
    const life = always();
    life.report('Scheduled');
    life.wait(361);
    expect(life.vm.startFailure?.consecutiveFailCount).toBe(1);
    life.failEarly('killed');
    expect(life.vm.startFailure?.consecutiveFailCount).toBe(1);
    expect(life.counted('VmStartFailure')).toBe(1);
  });

  test('a guest that runs and dies soon is a crash loop too', () => {
    const life = always();
    for (let count = 1; count <= 3; count += 1) {
      life.report('Running');
      life.wait(5);
      life.report('Failed', { cause: 'GuestPanic' });
      expect(life.vm).toMatchObject({ startFailure: null, unstableRuns: { count } });
      expect(life.status).toBe('CrashLoopBackOff');
      life.wait(300);
    }
    life.report('Running');
    life.wait(599);
    expect(life.vm.unstableRuns?.count).toBe(3);
    life.wait(1);
    expect(life.vm.unstableRuns).toBeNull();
    expect(life.counted('VmUnstableRun')).toBe(3);
  });
});

describe('jitter', () => {
  const spread = (failures: number) =>
    Array.from({ length: 100 }, (_, i) => vmRetryDelay(VM_BACKOFF_SEED, failures, i / 100) / 1000);

  test('adds up to half of the base', () => {
    const delays = spread(2);
    expect(Math.min(...delays)).toBe(20);
    expect(Math.max(...delays)).toBeCloseTo(29.9);
  });

  test.each([6, 7, 100, 1_000_000])('is still there at the cap, after failure %i', (failures) => {
    const delays = spread(failures);
    expect(new Set(delays).size).toBe(100);
    expect(Math.min(...delays)).toBe(200);
    expect(Math.max(...delays)).toBeLessThanOrEqual(300);
    expect(Math.max(...delays)).toBeGreaterThan(298);
  });

  test('spreads the start deadline between 4 and 6 minutes', () => {
    const deadlines = [0, 0.5, 1].map((deadline) => {
      const life = always();
      life.deadline = deadline;
      life.report('Scheduled');
      return secondsTo(life, life.vm.instance?.startDeadlineAt ?? undefined);
    });
    expect(deadlines).toEqual([240, 300, 360]);
  });
});

describe('adoption', () => {
  test('an instance that its host runs before the VM was declared becomes its instance, and none is started beside it', () => {
    const life = always();
    life.report('Running', { instanceId: 'found-1' });
    expect(life.instanceId).toBe('found-1');
    expect(life.status).toBe('Running');
    expect(life.startsAnother()).toBe(false);
    life.report('Failed', { cause: 'Killed' });
    expect(life.vm.unstableRuns?.count).toBe(1);
    expect(life.vm.body.hostId).toBe(HOST);
  });

  test('whether a VM is declared is read from its record, not from a list that lags behind its declaration', () =>
    tell(
      [
        { at: 0, vm: 'web', report: { instanceId: 'found-1', phase: 'Running' } },
        { at: 0, expect: { vm: 'web', match: { printableStatus: 'Running', 'instance.instanceId': 'found-1' } } },
      ],
      { vms: { web: { hostId: HOST, runStrategy: 'Always', launch: { type: 'libvirt', domain: 'web' } } } },
    ));
});
