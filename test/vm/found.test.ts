/** What hosts report of a VM that was restored: which instance is believed, and which takes the place of the copy's (G5). */
import { describe, expect, test } from 'vitest';
import type { VmReport } from '../../core/contract/agent-bodies.ts';
import type { EndCause } from '../../core/contract/words.ts';
import { parseNodeId } from '../../core/kit/ids.ts';
import { minutes } from '../../core/kit/time.ts';
import {
  at,
  decided,
  declared,
  edit,
  editInstance,
  facts,
  HOST,
  id,
  instance,
  note,
  OTHER_HOST,
  running,
  type VmLife,
  wake,
} from './scene.ts';
import { deleting, ended, FIRST, later, stopping, timedOut } from './situations.ts';

const LATER = 'began-later';
const adopted = (host = HOST) =>
  note('VM Adopted', `instance ${LATER}, begun after the copy was made, is adopted on host ${host}`);
const restored = (life: VmLife): VmLife => {
  life.send({ kind: 'recover', at: at(0), settle: minutes(4) });
  return life;
};
const event = (report: VmReport, hostId?: string) =>
  ({ kind: 'report', report, ...(hostId === undefined ? {} : { hostId }) }) as const;
const told = (life: VmLife, more: Partial<VmReport> = {}, hostId?: string) =>
  facts(life, () => life.send(event({ instanceId: LATER, phase: 'Running', ...more }, hostId)));
const kindOf = (life: VmLife, more: Partial<VmReport>, hostId?: string): string =>
  decided(life, event({ instanceId: LATER, phase: 'Running', ...more }, hostId)).kind;

describe('a report about the instance of the copy', () => {
  test('ends the wait when its host says that it runs', () => {
    const life = later(restored(running('Always')), 10);
    expect(told(life, { instanceId: FIRST })).toEqual([]);
    expect(life.vm.awaitingHost).toBeNull();
    expect(instance(life)).toMatchObject({ phase: 'Running', since: at(10), nextWakeAt: null });
  });

  test('is believed about an end, and the wait goes on: another may run', () => {
    const life = later(restored(running('Always')), 10);
    told(life, { instanceId: FIRST, phase: 'Failed', cause: 'GuestPanic' });
    expect(instance(life)).toMatchObject({ instanceId: FIRST, phase: 'Failed', cause: 'GuestPanic' });
    expect(life.vm.awaitingHost).not.toBeNull();
  });

  test.each<[string, () => VmLife, Partial<VmReport>, string | undefined]>([
    ['another host', () => running('Always'), { instanceId: FIRST }, OTHER_HOST],
    ['an instance that has ended', () => ended('Manual', 'Succeeded'), { instanceId: FIRST }, undefined],
    [
      'the end of one that has ended',
      () => ended('Manual', 'Succeeded'),
      { instanceId: FIRST, phase: 'Failed' },
      undefined,
    ],
    [
      'an instance before it',
      () => edit(running('Always'), { previousInstances: [id('older'), id(LATER)] }),
      {},
      undefined,
    ],
  ])('is passed over: of %s', (_what, make, more, hostId) => {
    const life = restored(make());
    const { instanceId } = life;
    expect(kindOf(life, more.instanceId === undefined ? more : { ...more, instanceId }, hostId)).toBe('unchanged');
  });

  test.each<[string, () => VmLife, boolean]>([
    ['told to end', stopping, true],
    ['that timed out', timedOut, true],
    ['that is to run', () => running('Always'), false],
  ])('of one %s has it woken again or not', (_what, make, wakes) => {
    const life = restored(make());
    const { now } = life;
    told(life, { instanceId: FIRST, phase: 'Scheduled' });
    expect(instance(life).nextWakeAt).toBe(wakes ? now : null);
  });

  test('of one that was not taken on has it woken, until the host takes it on', () => {
    const life = restored(declared('Always'));
    told(life, { instanceId: FIRST, phase: 'Pending' });
    expect(instance(life)).toMatchObject({ phase: 'Pending', nextWakeAt: at(0) });
    told(life, { instanceId: FIRST, phase: 'Scheduled' });
    expect(instance(life)).toMatchObject({ phase: 'Scheduled', nextWakeAt: null });
  });
});

describe('a report about an instance that the copy does not know', () => {
  test.each<[string, string | undefined, Partial<VmReport>, boolean]>([
    ['its host, without a uid', undefined, {}, true],
    ['its host, with its uid', undefined, { uid: 'ours' }, true],
    ['its host, with the uid of a later declaration', undefined, { uid: 'later' }, true],
    ['another host, with its uid', OTHER_HOST, { uid: 'ours' }, true],
    ['another host, without a uid', OTHER_HOST, {}, false],
    ['another host, with another uid', OTHER_HOST, { uid: 'later' }, false],
    ['its host, of an end, without a uid', undefined, { phase: 'Failed' }, true],
    ['its host, of an end, with its uid', undefined, { phase: 'Succeeded', uid: 'ours' }, true],
    ['its host, of a failure of another declaration', undefined, { phase: 'Failed', uid: 'later' }, false],
    ['its host, of an end of another declaration', undefined, { phase: 'Succeeded', uid: 'later' }, false],
    ['another host, of an end, with its uid', OTHER_HOST, { phase: 'Failed', uid: 'ours' }, true],
  ])('of %s is believed or not', (_what, hostId, more, believed) => {
    const life = restored(edit(running('Manual'), { uid: 'ours', previousInstances: [id('older')] }));
    const before = life.instanceId;
    const lines = told(life, more, hostId);
    expect(life.instanceId).toBe(believed ? LATER : before);
    expect(lines.slice(0, 1)).toEqual(believed ? [adopted(hostId ?? HOST)] : []);
    if (!believed) return;
    expect(life.vm).toMatchObject({
      uid: more.uid ?? 'ours',
      body: { hostId: hostId ?? HOST },
      previousInstances: ['older', before],
      pendingStart: null,
    });
  });

  test('takes the place of the one in the copy, and the wait is over', () => {
    const life = later(restored(running('Always')), 10);
    expect(told(life)).toEqual([adopted(), note('VM Running', `instance ${LATER} is Running`)]);
    expect(life.vm).toMatchObject({ awaitingHost: null, power: { on: true }, pendingStart: null });
    expect(instance(life)).toMatchObject({ phase: 'Running', createdAt: at(10), everRunning: true, stop: null });
  });

  test('is the first of a VM that had none in the copy: somebody has started it since', () => {
    const life = later(restored(declared('Manual')), 10);
    expect(told(life)).toEqual([adopted(), note('VM Running', `instance ${LATER} is Running`)]);
    expect(life.vm).toMatchObject({ awaitingHost: null, power: { on: true }, previousInstances: [] });
  });

  test('comes from where the VM was when the copy was made, though it was declared elsewhere', () => {
    const life = edit(restored(running('Always')), { placedOn: parseNodeId(OTHER_HOST) });
    expect(decided(life, event({ instanceId: FIRST, phase: 'Running' }, HOST)).kind).toBe('unchanged');
    told(life, { instanceId: FIRST });
    expect(life.vm).toMatchObject({ awaitingHost: null, placedOn: OTHER_HOST, instance: { phase: 'Running' } });
  });

  test('of an end leaves the wait as it is', () => {
    const life = restored(running('Manual'));
    told(life, { phase: 'Failed', cause: 'Killed', message: 'oom' });
    expect(life.vm.awaitingHost).toMatchObject({ heardAt: null });
    expect(instance(life)).toMatchObject({ instanceId: LATER, phase: 'Failed', cause: 'Killed' });
  });

  test.each<[VmReport['phase'], EndCause | undefined, boolean]>([
    ['Succeeded', undefined, true],
    ['Failed', 'GuestShutdown', true],
    ['Failed', 'GuestPanic', true],
    ['Failed', 'Killed', true],
    ['Failed', 'Unhealthy', true],
    ['Failed', 'HostMaintenance', true],
    ['Failed', 'LaunchFailed', false],
    ['Failed', 'Unknown', false],
    ['Failed', undefined, false],
  ])('of the end %s %s shows whether it had run: %s', (phase, cause, ran) => {
    const life = restored(running('Always'));
    told(life, { phase, ...(cause === undefined ? {} : { cause }) });
    expect(instance(life)).toMatchObject({ instanceId: LATER, everRunning: ran });
  });

  test('that is not final has not run before', () => {
    const life = restored(running('Always'));
    told(life, { phase: 'Scheduled', cause: 'Killed' });
    expect(instance(life)).toMatchObject({ instanceId: LATER, phase: 'Scheduled', everRunning: false });
  });
});

describe('a found instance', () => {
  const off = (sequence: number): VmLife => {
    const life = restored(edit(ended('Manual', 'Succeeded'), { power: { on: false, sequence: 4 }, lastVerb: 'stop' }));
    return edit(life, { power: { on: false, sequence } });
  };

  test('was started by somebody: the power is on, and a stop that the copy knows is over', () => {
    const life = off(4);
    told(life);
    expect(life.vm).toMatchObject({ power: { on: true, sequence: 4 }, lastVerb: null });
    expect(instance(life).stop).toBeNull();
    const on = edit(restored(running('Manual')), { lastVerb: 'restart' });
    told(on);
    expect(on.vm).toMatchObject({ power: { on: true }, lastVerb: 'restart' });
  });

  test.each<[string, () => VmLife]>([
    ['of a VM that was stopped since the recovery', () => off(5)],
    [
      'of a VM that never runs',
      () => {
        const life = restored(running('Manual'));
        return edit(life, { body: { ...life.vm.body, runStrategy: 'Halted' } });
      },
    ],
    ['of a VM that is being deleted', () => restored(deleting(running('Manual')))],
  ])('is told to end within the grace: %s', (_what, make) => {
    const life = make();
    const { power, lastVerb } = life.vm;
    expect(told(life, { phase: 'Scheduled' })).toEqual([adopted(), wake('StopInstance')]);
    expect(life.vm).toMatchObject({ power, lastVerb, awaitingHost: null });
    expect(instance(life)).toMatchObject({ instanceId: LATER, stop: { at: life.now, grace: 30_000 } });
  });

  test('stays when a start was planned, and no other starts', () => {
    const life = restored(editInstance(running('Always'), {}));
    edit(life, { pendingStart: { notBefore: at(0) } });
    told(life);
    expect(life.vm.pendingStart).toBeNull();
    expect(life.instanceId).toBe(LATER);
  });
});
