/** Declaring anew a VM that its host has lost, that waits for its host, or that was restored (DESIGN section 3 rules 6 and 7). */
import { describe, expect, test } from 'vitest';
import { parseNodeId } from '../../core/kit/ids.ts';
import { minutes, seconds } from '../../core/kit/time.ts';
import { decideVm } from '../../core/vm/decide.ts';
import { needsHosts, type VmEvent } from '../../core/vm/event.ts';
import type { VmRecord } from '../../core/vm/record.ts';
import { at, declared, edit, HOST, id, note, OTHER_HOST, refused, running, said, type VmLife } from './scene.ts';
import { failed, FIRST, later } from './situations.ts';

const OTHER = parseNodeId(OTHER_HOST) ?? expect.fail('a node id');
const ELSEWHERE = { restartElsewhere: true, hosts: [OTHER_HOST] };
const seed = { backoff: { preset: 'seed' as const } };

/** Its host was fenced, and it runs on the other one. */
const onTheOther = (): VmLife => edit(running('Always'), { placedOn: OTHER });
/** What runs ends for the update of its host. */
const updating = (life: VmLife, hostId: string): VmLife => {
  life.send({ kind: 'hostMaintenance', hostId, begins: true });
  life.report('Succeeded');
  return life;
};

describe('a VM that went to another host', () => {
  test('stays there when its settings change, and so does its instance', () => {
    const life = onTheOther();
    expect(life.put('Always', { ...seed, grace: '5s' })).toBe(202);
    expect(life.vm).toMatchObject({ placedOn: OTHER_HOST, instance: { instanceId: FIRST, phase: 'Running' } });
  });

  test('may be declared there, and is then no longer away', () => {
    const life = onTheOther();
    expect(said(life, () => life.put('Always', { ...seed, hostId: OTHER_HOST }))).toEqual([
      `VM Changed: host ${HOST} → ${OTHER_HOST}`,
    ]);
    expect(life.vm).toMatchObject({ placedOn: null, instance: { instanceId: FIRST, phase: 'Running' } });
  });

  test('may not be declared on a third one while it runs', () => {
    const life = onTheOther();
    const third = 'i-0000000000000000c';
    expect(refused(life, { kind: 'put', body: { ...life.vm.body, hostId: third } })).toMatchObject({
      status: 409,
      code: 'InstanceNotEnded',
      detail: `VM web has instance ${FIRST} on host ${OTHER_HOST} whose end is not known; stop it, or fence the host, before moving the VM`,
    });
  });
});

describe('a VM that waits for the update of its host', () => {
  test('does not wait for it once it is declared elsewhere', () => {
    const life = updating(running('Always'), HOST);
    expect(said(life, () => life.put('Always', { ...seed, hostId: OTHER_HOST })).at(-1)).toContain(
      `asked of host ${OTHER_HOST}`,
    );
    expect(life.vm.maintenance).toBeNull();
  });

  test('waits on where it is declared to be where it is', () => {
    const life = updating(onTheOther(), OTHER_HOST);
    const { maintenance } = life.vm;
    expect(maintenance).toEqual({ since: at(0), lookAt: at(180) });
    expect(said(life, () => life.put('Always', { ...seed, hostId: OTHER_HOST }))).toEqual([
      `VM Changed: host ${HOST} → ${OTHER_HOST}`,
    ]);
    expect(life.vm.maintenance).toEqual(maintenance);
  });
});

describe('a VM that was restored from an older copy', () => {
  const restored = (): VmLife => {
    const life = failed();
    life.send({ kind: 'recover', at: at(0), settle: minutes(4) });
    return life;
  };

  test('may not be moved while its host may run an instance of it', () => {
    const life = restored();
    expect(refused(life, { kind: 'put', body: { ...life.vm.body, hostId: OTHER_HOST } })).toMatchObject({
      status: 409,
      code: 'InstanceNotEnded',
      detail: `VM web was restored from an older copy and host ${HOST} may run an instance of it; wait until it has reported, or fence it, before moving the VM`,
    });
  });

  test('goes elsewhere when its host is fenced, once every host has had its time', () => {
    const life = declared('Always', ELSEWHERE);
    life.send({ kind: 'recover', at: at(0), settle: minutes(4) });
    const outcome = decideVm(
      later(life, 10).vm,
      { kind: 'hostFenced', hostId: HOST, at: at(10) },
      {
        vmId: life.vm.vmId,
        now: life.now,
        draw: { delay: 0.5, deadline: 0.5, id: 'ffffffffffffffff' },
        hosts: { inMaintenance: false, fenced: true, inOrder: [OTHER] },
      },
    );
    if (outcome.kind !== 'changed') throw new Error('a fence changes it');
    life.vm = outcome.next;
    expect(life.vm).toMatchObject({ placedOn: OTHER_HOST, pendingStart: { notBefore: at(10) } });
    expect(outcome.facts).toContainEqual(
      note('VM Moved', `host ${HOST} was fenced: it goes on on host ${OTHER_HOST}`, 'warning'),
    );
    expect(said(life, () => later(life, 310).send({ kind: 'due' }))).toEqual([
      `VM Instance Started: instance ${life.instanceId} asked of host ${OTHER_HOST}`,
    ]);
  });

  test('may be changed otherwise, and waits on', () => {
    const life = restored();
    expect(said(life, () => life.put('Always', { ...seed, grace: '5s' }))).toEqual(['VM Changed: settings changed']);
    expect(life.vm.awaitingHost).not.toBeNull();
  });
});

describe('a decision looks at hosts', () => {
  const due = { kind: 'due' } as const;
  const fenced = { kind: 'hostFenced', hostId: HOST, at: at(0) } as const;
  const report = (cause: 'HostMaintenance' | 'Killed') =>
    ({ kind: 'report', report: { instanceId: id(FIRST), phase: 'Failed', cause } }) as const;
  const gone = (): VmLife => edit(running('Always', ELSEWHERE), { removed: { at: at(0) } });
  const waiting = (): VmLife => updating(running('Always'), HOST);

  test.each<[string, () => VmLife, VmEvent]>([
    ['a fence, of a VM that may go elsewhere', () => running('Always', ELSEWHERE), fenced],
    ['a fence, of a VM that stays', () => running('Always', { hosts: [OTHER_HOST] }), fenced],
    ['a start', () => declared('Always'), { kind: 'start' }],
    ['a stop', () => declared('Always'), { kind: 'stop', grace: seconds(1) }],
    ['a restart', () => declared('Always'), { kind: 'restart' }],
    ['a delete', () => declared('Always'), { kind: 'delete', force: false }],
    ['a declaration', () => declared('Always'), { kind: 'put', body: declared('Always').vm.body }],
    ['an end for an update that nobody told of', () => running('Always'), report('HostMaintenance')],
    ['time, of a VM that waits for its host', waiting, due],
    ['time, of a start that may go elsewhere and that no host has taken on', () => declared('Always', ELSEWHERE), due],
  ])('for %s', (_what, make, event) => {
    expect(needsHosts(make().vm, event, at(0))).toBe(true);
  });

  test.each<[string, () => VmRecord | null, VmEvent]>([
    ['a VM that is not there', () => null, report('HostMaintenance')],
    ['a VM that is gone', () => gone().vm, fenced],
    ['another end', () => running('Always').vm, report('Killed')],
    ['time, of a start that stays', () => declared('Always').vm, due],
    ['time, of what runs', () => running('Always', ELSEWHERE).vm, due],
    ['time, of what has ended', () => edit(declared('Manual', ELSEWHERE), { instance: null }).vm, due],
    ...(
      [
        { kind: 'launchFetched', instanceId: FIRST },
        { kind: 'hostSilent', hostId: HOST },
        { kind: 'hostMaintenance', hostId: HOST, begins: true },
        { kind: 'hostReported', hostId: HOST },
        { kind: 'recover', at: at(0), settle: seconds(1) },
        { kind: 'wakeFailed', status: 'Failed' },
      ] satisfies VmEvent[]
    ).map((event): [string, () => VmRecord, VmEvent] => [event.kind, () => declared('Always', ELSEWHERE).vm, event]),
  ])('not for %s', (_what, make, event) => {
    expect(needsHosts(make(), event, at(0))).toBe(false);
  });
});
