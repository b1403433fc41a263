/** A VM as a whole, and what its host is told of it (DESIGN section 6). */
import { describe, expect, test } from 'vitest';
import type { DesiredVm } from '../../core/contract/agent-answers.ts';
import { desiredFor, hostLine } from '../../core/vm/told.ts';
import { at, declared, edit, HOST, iso, running, type VmLife } from './scene.ts';
import { failed, ended, stopping, timedOut, FIRST } from './situations.ts';

test('a VM is shown as a whole', () => {
  const life = edit(failed(), { unstableRuns: { count: 2, retryAfter: at(9) } });
  expect(life.shown).toMatchObject({
    vmId: 'web',
    uid: life.vm.uid,
    hostId: HOST,
    runStrategy: 'Always',
    power: { on: true, sequence: 0 },
    instance: { instanceId: FIRST, phase: 'Failed', since: iso(0), everRunning: false, cause: 'LaunchFailed' },
    startFailure: {
      consecutiveFailCount: 1,
      lastFailedInstanceId: FIRST,
      retryAfter: iso(12.5),
      reason: 'LaunchFailed',
      message: 'exit 1',
    },
    unstableRuns: { count: 2, retryAfter: iso(9) },
    lastFailure: { reason: 'LaunchFailed', message: 'exit 1', console: null, at: iso(0) },
    restartCount: 0,
    failuresInARow: 1,
  });
  expect(edit(life, { unstableRuns: { count: 2, retryAfter: null } }).shown.unstableRuns).toEqual({
    count: 2,
    retryAfter: null,
  });
  expect(declared('Manual').shown).toMatchObject({
    instance: null,
    startFailure: null,
    unstableRuns: null,
    lastFailure: null,
  });
});

describe('what a host is told', () => {
  test.each<[string, () => VmLife, Omit<DesiredVm, 'instanceId'>]>([
    ['to run', () => running('Always'), { power: 'on' }],
    ['to end, within the grace', stopping, { power: 'off', graceSeconds: 30 }],
    ['to end at once', timedOut, { power: 'off', graceSeconds: 0 }],
  ])('of its live instance: %s', (_what, make, desired) => {
    const { vm } = make();
    expect(desiredFor(vm, FIRST, vm.uid)).toEqual({ ...desired, instanceId: FIRST });
    expect(desiredFor(vm, FIRST, undefined)).toEqual({ ...desired, instanceId: FIRST });
    expect(hostLine(vm, at(0))).toStrictEqual({
      vmId: 'web',
      uid: vm.uid,
      ...desired,
      instanceId: FIRST,
      launchRevision: 1,
    });
  });

  test('of every other instance: to end', () => {
    const off = { power: 'off', instanceId: FIRST };
    const { vm } = running('Always');
    expect(desiredFor(null, FIRST, undefined)).toEqual(off);
    expect(desiredFor(vm, FIRST, 'another')).toEqual(off);
    expect(desiredFor(vm, 'another', undefined)).toEqual({ power: 'off', instanceId: 'another' });
    expect(desiredFor({ ...vm, removed: { at: at(0) } }, FIRST, undefined)).toEqual(off);
    expect(desiredFor(ended('Manual', 'Succeeded').vm, FIRST, undefined).power).toBe('off');
  });

  test('of a VM that has none, or that is gone: nothing', () => {
    expect(hostLine(declared('Manual').vm, at(0))).toBeNull();
    expect(hostLine(ended('Manual', 'Succeeded').vm, at(0))).toBeNull();
    expect(hostLine({ ...running('Always').vm, removed: { at: at(0) } }, at(0))).toBeNull();
  });
});
