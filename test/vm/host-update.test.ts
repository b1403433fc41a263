/** What else happens to a VM while its host is updated: what people ask, what the guest does, what gets lost (DESIGN section 3 rule 10). */
import { describe, expect, test } from 'vitest';
import { seconds } from '../../core/kit/time.ts';
import {
  decided,
  edit,
  facts,
  HOST,
  id,
  instance,
  OTHER_HOST,
  running,
  said,
  type VmLife,
  declared,
  at,
  wake,
} from './scene.ts';
import { FIRST, later, timedOut } from './situations.ts';
import { decideVm } from '../../core/vm/decide.ts';
import type { Event } from '../kubevirt/vm-life.ts';
import { waitsForHost } from '../../core/vm/record.ts';

const begins = { kind: 'hostMaintenance', hostId: HOST, begins: true } as const;
const ends = { ...begins, begins: false } as const;
const updated = (life: VmLife): VmLife => {
  life.send(begins);
  return life;
};

/** One decision that has looked at the host, which is being updated. */
function looked(life: VmLife, event: Event) {
  return decideVm(life.vm, event, {
    vmId: life.vm.vmId,
    now: life.now,
    draw: { delay: 0.5, deadline: 0.5, id: 'ffffffffffffffff' },
    hosts: { inMaintenance: true, fenced: false, inOrder: [] },
  });
}
const ended = (cause: 'HostMaintenance' | 'GuestPanic', instanceId = id(FIRST)) =>
  ({ kind: 'report', report: { instanceId, phase: 'Failed', cause }, hostId: HOST }) as const;

describe('while its host has it stopped', () => {
  test.each([
    ['the same', null, 30],
    ['a shorter', 10, 10],
    ['a longer, which changes no grace that was given', 60, 30],
  ])("a person's stop is a stop, with %s grace: it ends Requested and stays off", (_what, grace, left) => {
    const life = later(updated(running('Always')), 5);
    expect(facts(life, () => life.stop(grace)).at(-1)).toEqual(wake('StopInstance', false));
    expect(instance(life).stop).toEqual({ at: at(0), grace: seconds(left) });
    life.report('Failed', { cause: 'HostMaintenance' });
    expect(instance(life).cause).toBe('Requested');
    expect(said(life, () => life.send(ends))).toEqual([]);
    expect(life.vm).toMatchObject({ pendingStart: null, power: { on: false } });
  });

  test('a change to Halted is a stop, too', () => {
    const life = updated(running('Always'));
    life.put('Halted', { backoff: { preset: 'seed' } });
    life.report('Failed', { cause: 'HostMaintenance' });
    life.send(ends);
    expect(life.vm).toMatchObject({ pendingStart: null, instance: { instanceId: FIRST, cause: 'Requested' } });
  });

  test('a delete waits for its end alone', () => {
    const life = updated(running('Always'));
    life.send({ kind: 'delete', force: false });
    expect(life.vm.removed).toBeNull();
    life.report('Failed', { cause: 'HostMaintenance' });
    expect(life.vm.removed).toEqual({ at: at(0) });
  });
});

describe('the update of its host', () => {
  test('ends what it stopped for that reason, and the next start is due at once when it is back', () => {
    const life = later(updated(running('Always')), 5);
    expect(said(life, () => life.report('Succeeded'))).toEqual([
      `VM Ended: instance ${FIRST} Succeeded: HostMaintenance`,
    ]);
    expect(life.vm.pendingStart).toEqual({ notBefore: at(5), promised: true });
  });

  test('shortens no grace that a person gave, and says nothing of what is ending anyway', () => {
    const life = running('Always');
    life.stop(600);
    expect(said(life, () => life.send(begins))).toEqual([]);
    expect(instance(life).stop).toEqual({ at: at(0), grace: seconds(600) });
  });

  test('is not why an instance ends that missed its start deadline', () => {
    const life = timedOut();
    expect(said(life, () => life.send(begins))).toEqual([]);
    expect(instance(life).stop).toBeNull();
    life.report('Failed', { cause: 'HostMaintenance' });
    expect(instance(life).cause).toBe('LaunchTimeout');
    expect(life.counted('VmStartFailure')).toBe(1);
  });

  test('told twice has begun once, and its end is news only where it has begun', () => {
    const life = updated(running('Always'));
    later(life, 100);
    expect(decided(life, begins)).toEqual({ kind: 'unchanged' });
    expect(life.vm.maintenance).toEqual({ since: at(0), lookAt: at(180) });
    expect(decided(running('Always'), ends)).toEqual({ kind: 'unchanged' });
  });

  test('starts nothing whose power is off', () => {
    const life = edit(updated(running('Always')), { power: { on: false, sequence: 1 } });
    life.report('Failed');
    expect(instance(life).cause).toBe('HostMaintenance');
    expect(life.vm.pendingStart).toBeNull();
  });
});

describe('a host that is being updated and was heard of before we were told', () => {
  test('says so by the cause: the VM waits from then on, and looks after three minutes', () => {
    const outcome = looked(later(running('Always'), 20), ended('HostMaintenance'));
    expect(outcome).toMatchObject({
      kind: 'changed',
      next: { maintenance: { since: at(20), lookAt: at(200) }, instance: { cause: 'HostMaintenance' } },
    });
  });

  test('is no reason to wait when the guest ends by itself', () => {
    const outcome = looked(running('Always'), ended('GuestPanic'));
    expect(outcome.kind === 'changed' && waitsForHost(outcome.next)).toBe(false);
  });

  test('says nothing about a VM that never had an instance', () => {
    expect(looked(declared('Manual'), ended('HostMaintenance', id('gone-1')))).toEqual({ kind: 'unchanged' });
  });

  test('takes on no instance of a VM that has none', () => {
    const life = updated(declared('Manual'));
    expect(decided(life, { kind: 'launchFetched', instanceId: FIRST })).toEqual({ kind: 'unchanged' });
  });

  test('has taken on what it says it has: a fetch after its silence is one', () => {
    const life = updated(declared('Always'));
    life.report('Scheduled');
    life.send({ kind: 'hostSilent', hostId: HOST });
    expect(instance(life).phase).toBe('Unknown');
    life.send({ kind: 'launchFetched', instanceId: FIRST });
    expect(instance(life).phase).toBe('Scheduled');
  });
});

describe('where nobody has looked at hosts', () => {
  test('a VM that waits for its own looks again after three minutes', () => {
    const life = updated(running('Always'));
    life.report('Succeeded');
    later(life, 180).send({ kind: 'due' });
    expect(life.vm.maintenance).toEqual({ since: at(0), lookAt: at(360) });
  });

  test('a fenced one is not left', () => {
    const life = running('Always', { restartElsewhere: true, hosts: [OTHER_HOST] });
    life.send({ kind: 'hostFenced', hostId: HOST, at: at(0) });
    expect(life.vm).toMatchObject({ instance: { phase: 'Failed', cause: 'HostLost' } });
    expect(life.vm.placedOn ?? null).toBeNull();
  });
});
