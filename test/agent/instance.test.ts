import { describe, expect, test } from 'vitest';
import { ended } from '../../agent/host/ends.ts';
import { accepted, type Instance, keyOf, neverLaunched, nextDue, stopping } from '../../agent/host/instance.ts';
import { markTold, untoldReport } from '../../agent/host/told.ts';
import { plan } from '../../agent/host/plan.ts';
import type { VmReport } from '../../core/contract/agent-bodies.ts';
import type { HostVm, LaunchAnswer } from '../../core/contract/agent-answers.ts';

const T0 = 1_000_000;
const moment = { now: T0, bootId: 'b' };
const answer: LaunchAnswer = {
  api: '1.0',
  vmId: 'web',
  uid: 'u1',
  instanceId: 'a1',
  launchRevision: 1,
  launch: { type: 'exec', command: 'true' },
  simulateCrash: false,
  graceSeconds: 30,
  startDeadlineSeconds: 300,
};
const fresh = accepted(answer, moment);
const launched: Instance = { ...fresh, launchingAt: T0, process: { pid: 7, startTime: '1', bootId: 'b' } };
const running: Instance = { ...launched, runningAt: T0 + 300 };
const over: Instance = ended(running, { code: 0, signal: null }, '', T0);
const item = (change: Partial<HostVm> = {}): HostVm => ({
  vmId: 'web',
  uid: 'u1',
  power: 'on',
  instanceId: 'a1',
  launchRevision: 1,
  ...change,
});
const known = (...instances: Instance[]) => new Map(instances.map((instance) => [keyOf(instance), instance]));

describe('how an instance ends', () => {
  test.each<[string, Instance, number | null, string | null, string]>([
    ['exit 0', running, 0, null, 'Succeeded GuestShutdown: exit code 0'],
    ['exit 3 while Running', running, 3, null, 'Failed Killed: exit code 3'],
    ['exit 3 before it was', launched, 3, null, 'Failed LaunchFailed: exit code 3'],
    ['killed, by the shell', running, 137, null, 'Failed Killed: exit code 137 (SIGKILL)'],
    ['killed with its wrapper', running, null, 'SIGKILL', 'Failed Killed: ended by SIGKILL'],
    ['gone while nobody looked', running, null, null, 'Failed Killed: the process is gone; how it ended was not seen'],
    [
      'stopped within its grace',
      stopping(running, 'Requested', 5, T0),
      143,
      null,
      'Succeeded Requested: exit code 143 (SIGTERM)',
    ],
    [
      'stopped by force',
      { ...running, stop: { cause: 'Requested', killAt: T0, forced: true } },
      null,
      'SIGKILL',
      'Failed Requested: killed after its grace: ended by SIGKILL',
    ],
    [
      'too late',
      { ...launched, stop: { cause: 'LaunchTimeout', killAt: T0, forced: true } },
      null,
      'SIGKILL',
      'Failed LaunchTimeout: ended by SIGKILL',
    ],
    [
      'for an update of the host',
      stopping(running, 'HostMaintenance', 5, T0),
      0,
      null,
      'Succeeded HostMaintenance: exit code 0',
    ],
  ])('%s', (_what, instance, code, signal, said) => {
    const { end } = ended(instance, { code, signal }, '', T0);
    expect(`${end?.phase} ${end?.cause}: ${end?.message}`).toBe(said);
  });
});

describe('what time brings', () => {
  test.each<[string, Instance, ReturnType<typeof nextDue>]>([
    ['launched: Running once it has settled', launched, { at: T0 + 300, due: { kind: 'running' } }],
    ['not launched yet: the start deadline', fresh, { at: T0 + 300_000, due: { kind: 'startDeadline' } }],
    ['no start deadline', { ...fresh, deadlineAt: null }, null],
    ['Running: nothing', running, null],
    ['stopping: the kill', stopping(running, 'Requested', 5000, T0), { at: T0 + 5000, due: { kind: 'kill' } }],
    ['ended: nothing', over, null],
  ])('%s', (_what, instance, due) => {
    expect(nextDue(instance, 300)).toEqual(due);
  });

  test('a second stop can bring the kill forward, and never put it off or change the cause', () => {
    const stopped = stopping(running, 'HostMaintenance', 5000, T0);
    expect(stopping(stopped, 'Requested', 9000, T0)).toBe(stopped);
    expect(stopping(stopped, 'Requested', 0, T0).stop).toEqual({
      cause: 'HostMaintenance',
      killAt: T0,
      forced: false,
      at: T0,
    });
  });
});

test('the control plane hears of each phase once and in order', () => {
  const phases: VmReport['phase'][] = [];
  let instance = over;
  for (let next = untoldReport(instance, T0); next !== null; next = untoldReport(instance, T0)) {
    phases.push(next.report.phase);
    instance = markTold(instance, next.told);
  }
  expect(phases).toEqual(['Scheduled', 'Running', 'Succeeded']);
});

describe('what a list asks for', () => {
  const words = (items: HostVm[], instances: Instance[], draining = false): string[] =>
    plan(items, known(...instances), draining).map((order) =>
      order.kind === 'takeOn' || order.kind === 'neverLaunch'
        ? `${order.kind} ${keyOf(order.item)}`
        : `${order.kind} ${order.key}${order.kind === 'stop' ? ` ${order.cause}` : ''}`,
    );
  const other: Instance = { ...running, instanceId: 'a0' };

  test.each<[string, HostVm[], Instance[], boolean, string[]]>([
    ['on, unknown: taken on', [item()], [], false, ['takeOn web@a1']],
    ['on, living: left alone', [item()], [running], false, []],
    ['on, ended: told again, never launched again', [item()], [over], false, ['tellEnd web@a1']],
    ['off, living: stopped', [item({ power: 'off' })], [running], false, ['stop web@a1 Requested']],
    ['off, unknown: it will never start', [item({ power: 'off' })], [], false, ['neverLaunch web@a1']],
    ['on, another one lives: that ends first', [item()], [other], false, ['stop web@a0 Requested']],
    [
      'on, another one lives of which nobody knows whose it is: asked about',
      [item()],
      [{ ...other, uid: null }],
      false,
      ['ask web@a0'],
    ],
    ['not listed: left alone', [], [running], false, []],
    [
      'the same instance id of another VM is another instance',
      [item({ vmId: 'db' })],
      [running],
      false,
      ['takeOn db@a1'],
    ],
    ['draining: nothing begins', [item()], [], true, []],
    ['draining: the living end as HostMaintenance', [item()], [running], true, ['stop web@a1 HostMaintenance']],
  ])('%s', (_what, items, instances, draining, orders) => {
    expect(words(items, instances, draining)).toEqual(orders);
  });

  test('an instance that was never launched is a Succeeded, Requested end', () => {
    expect(untoldReport(neverLaunched(item(), moment), T0)?.report).toMatchObject({
      phase: 'Succeeded',
      cause: 'Requested',
    });
  });
});
