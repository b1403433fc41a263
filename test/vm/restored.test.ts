/** A VM after its record was restored from an older copy of the table: it waits for its host (docs/runbooks/restore.md). */
import { describe, expect, test } from 'vitest';
import { awaitedAt, sayAwaiting } from '../../core/vm/recover.ts';
import type { Instance } from '../../core/vm/record.ts';
import { vmAlarm } from '../../core/vm/timing.ts';
import { minutes } from '../../core/kit/time.ts';
import { there } from '../kit/there.ts';
import {
  at,
  decided,
  declared,
  edit,
  editInstance,
  facts,
  HOST,
  instance,
  iso,
  note,
  OTHER_HOST,
  running,
  said,
  type Vm,
  type VmLife,
  wake,
  boots,
} from './scene.ts';
import { ended, FIRST, later, scheduled, stopping, timedOut } from './situations.ts';

const recover = (life: VmLife, seconds = 0): VmLife => {
  life.send({ kind: 'recover', at: at(seconds), settle: minutes(4) });
  return life;
};
const heard = (life: VmLife, seconds: number, hostId = HOST): VmLife => {
  later(life, seconds).send({ kind: 'hostReported', hostId });
  return life;
};
const due = (life: VmLife, seconds: number): VmLife => {
  later(life, seconds).send({ kind: 'due' });
  return life;
};
const unchanged = { kind: 'unchanged' };

describe('a recovery', () => {
  test('has the VM await its host: nothing is known of its instance, and no clock runs against it', () => {
    const life = scheduled();
    const { sequence } = life.vm.power;
    life.now = at(60);
    expect(facts(life, () => recover(life, 50))).toEqual([
      note(
        'VM Restored',
        `restored from an older copy: nothing is started before host ${HOST} has reported`,
        'warning',
      ),
    ]);
    expect(life.vm).toMatchObject({
      recoveredAt: at(50),
      awaitingHost: { since: at(60), settleUntil: at(300), heardAt: null, lookAt: at(300), sequence },
      instance: { phase: 'Unknown', since: at(60), startDeadlineAt: null, nextWakeAt: null, wakesRepeated: 0 },
    });
    expect(decided(life, { kind: 'recover', at: at(50), settle: minutes(4) })).toEqual(unchanged);
    expect(decided(life, { kind: 'recover', at: at(51), settle: minutes(4) }).kind).toBe('changed');
  });

  test('leaves an instance that was not taken on Pending, and one that has ended as it is', () => {
    const pending = declared('Always');
    due(pending, 60);
    expect(instance(recover(pending))).toMatchObject({ phase: 'Pending', nextWakeAt: null, wakesRepeated: 0 });
    const over = ended('Manual', 'Succeeded');
    const before = instance(over);
    expect(instance(recover(over))).toEqual(before);
  });
});

describe('the wait for the host', () => {
  const waits = (heardAt: number | null, settleUntil: number): Vm => {
    const life = recover(running('Always'));
    const awaitingHost = there(life.vm.awaitingHost);
    const heard = heardAt === null ? null : at(heardAt);
    return edit(life, {
      awaitingHost: { ...awaitingHost, heardAt: heard, settleUntil: at(settleUntil), lookAt: at(77) },
    }).vm;
  };

  test.each<[string, Vm, number | null]>([
    ['is none for a VM that was not restored', running('Always').vm, null],
    ['is looked at again while nothing was heard', waits(null, 240), 77],
    ['ends 5 min after the host was heard', waits(10, 240), 310],
    ['ends not before every host has had its time', waits(10, 400), 400],
  ])('%s', (_what, vm, seconds) => {
    expect(awaitedAt(vm)).toBe(seconds === null ? null : at(seconds));
    expect(vmAlarm(vm)).toEqual(seconds === null ? null : { at: at(seconds), retry: false });
  });

  test('is told of the first report of its host, and of no other', () => {
    const life = recover(running('Always'));
    expect(decided(life, { kind: 'hostReported', hostId: OTHER_HOST })).toEqual(unchanged);
    expect(facts(life, () => heard(life, 10))).toEqual([]);
    expect(life.vm.awaitingHost).toMatchObject({ heardAt: at(10), settleUntil: at(240) });
    expect(decided(later(life, 20), { kind: 'hostReported', hostId: HOST })).toEqual(unchanged);
    expect(decided(running('Always'), { kind: 'hostReported', hostId: HOST })).toEqual(unchanged);
  });

  test('goes on while the host is not heard: a look every 15 min', () => {
    const life = recover(running('Always'));
    expect(decided(later(life, 239.999), { kind: 'due' })).toEqual(unchanged);
    expect(facts(life, () => due(life, 240))).toEqual([]);
    expect(life.vm.awaitingHost).toMatchObject({ lookAt: at(1140), heardAt: null });
    expect(instance(life).phase).toBe('Unknown');
  });

  test('ends: what the host does not name has ended, uncounted, and the next one starts', () => {
    const life = heard(recover(running('Always')), 10);
    expect(decided(later(life, 309.999), { kind: 'due' })).toEqual(unchanged);
    const lines = said(life, () => due(life, 310));
    expect(lines).toEqual([
      `VM Ended: instance ${FIRST} Failed: HostLost: host ${HOST} does not report it after the restore`,
      `VM Instance Started: instance ${life.instanceId} asked of host ${HOST}`,
    ]);
    expect(life.vm).toMatchObject({ awaitingHost: null, startFailure: null, unstableRuns: null, lastFailure: null });
    expect(life.instanceId).not.toBe(FIRST);
  });

  test('ends: an instance that was asked for and not taken on is asked for again', () => {
    const life = heard(recover(declared('Always')), 10);
    expect(facts(life, () => due(life, 310))).toEqual([wake('StartInstance', false)]);
    expect(life.instanceId).toBe(FIRST);
    expect(life.vm.awaitingHost).toBeNull();
  });

  test('ends: what has ended in the copy is over, and a start that was asked for happens', () => {
    const life = recover(ended('Manual', 'Succeeded'));
    const before = life.instanceId;
    life.start();
    expect(life.instanceId).toBe(before);
    heard(life, 10);
    expect(said(life, () => due(life, 310))).toEqual([
      `VM Instance Started: instance ${life.instanceId} asked of host ${HOST}`,
    ]);
    expect(life.instanceId).not.toBe(before);
  });
});

describe('a fence while a host is awaited', () => {
  const fence = (life: VmLife, asOf?: number, hostId = HOST) =>
    said(life, () =>
      life.send({ kind: 'hostFenced', hostId, at: life.now, ...(asOf === undefined ? {} : { asOf: at(asOf) }) }),
    );
  const awaited = (): VmLife => recover(later(running('Always'), 100), 100);

  test.each<[string, number | undefined, boolean]>([
    ['of a host that is off', undefined, true],
    ['of a host stopped since the recovery', 100, true],
    ['of a host stopped before it: nothing', 99.999, false],
  ])('%s', (_what, asOf, ends) => {
    const life = later(awaited(), 200);
    fence(life, asOf);
    expect(life.vm.awaitingHost?.heardAt).toBe(ends ? at(200) : null);
    // Another host may run what began after the copy: nothing is started before all have had their time (G5).
    expect([life.instanceId, life.vm.instance?.phase]).toEqual([FIRST, ends ? 'Failed' : 'Unknown']);
    later(life, 20_000).send({ kind: 'due' });
    boots(life);
    later(life, 20_000).send({ kind: 'due' });
    expect(life.instanceId !== FIRST).toBe(ends);
  });

  test('not that of another host, and where nothing is awaited it is a fence as ever', () => {
    const life = later(awaited(), 200);
    expect(fence(life, undefined, OTHER_HOST)).toEqual([]);
    expect(life.vm.awaitingHost).not.toBeNull();
    const other = later(running('Always'), 10);
    expect(fence(other)[0]).toBe(`VM Ended: instance ${FIRST} Failed: HostLost: host ${HOST} was fenced`);
  });

  test.each<[string, number, boolean]>([
    ['what ran before the host stopped has ended', 100, true],
    ['so has what began within 5 s, as the event names seconds', 95, true],
    ['what began later runs', 94.999, false],
  ])('as of an instant: %s', (_what, asOf, ends) => {
    const life = declared('Always');
    later(life, 100).report('Running');
    later(life, 300);
    fence(life, asOf);
    expect(life.vm.instance?.phase === 'Failed').toBe(ends);
  });

  test.each([
    [99.999, false],
    [100, true],
  ])('told late, of a host off at %d s, it ends what ran by then: %s', (off, ends) => {
    const life = declared('Always');
    later(life, 100).report('Running');
    later(life, 300).send({ kind: 'hostFenced', hostId: HOST, at: at(off) });
    expect(life.vm.instance?.phase === 'Failed').toBe(ends);
  });

  test('of an instance that is Unknown it counts since when there is one, not since when its host is silent', () => {
    const life = later(running('Always'), 3600);
    life.send({ kind: 'hostSilent', hostId: HOST });
    later(life, 4000);
    fence(life, 1000);
    expect(life.vm.instance?.phase).toBe('Failed');
  });

  test('a VM that waits for a wake is woken at once', () => {
    const life = recover(stopping());
    const stop = there(instance(life).stop);
    expect(stop.at).toBe(at(0));
    life.report('Running');
    expect(instance(life)).toMatchObject({ stop, nextWakeAt: at(0) });
  });
});

test('the fetch of a launch takes on no instance that is to end', () => {
  const fetched = (more: Partial<Instance>) =>
    decided(editInstance(declared('Always'), more), { kind: 'launchFetched', instanceId: FIRST }).kind;
  expect(fetched({})).toBe('changed');
  expect(fetched({ stop: { at: at(0), grace: minutes(1) } })).toBe('unchanged');
  expect(fetched({ timedOutAt: at(0) })).toBe('unchanged');
});

describe('what is said while the host is awaited', () => {
  const sentence = (until: string): string =>
    `Restored from an older copy: its state is what it was then, and nothing is started until ${until}; an instance that a host reports is adopted.`;

  test('is when that ends', () => {
    const life = recover(running('Always'));
    expect(life.shown.explanation).toBe(`${sentence(`host ${HOST} has reported`)} Fence the host if it is off.`);
    heard(life, 10);
    expect(life.shown.explanation).toBe(sentence(`${iso(310)}, so that every host can name what it runs`));
    expect(sayAwaiting(running('Always').vm)).toBeNull();
  });

  test.each<[string, () => VmLife, string]>([
    ['a live instance', () => running('Always'), 'Unknown'],
    [
      'a planned start',
      () => {
        const life = declared('Always');
        life.failEarly();
        return life;
      },
      'Unknown',
    ],
    [
      'nothing to run',
      () => {
        const life = ended('Once', 'Succeeded');
        return life;
      },
      'Stopped',
    ],
    ['an instance told to end', stopping, 'Stopping'],
    ['an instance that timed out', timedOut, 'CrashLoopBackOff'],
    ['one that is off', () => declared('Manual'), 'Stopped'],
  ])('%s is shown as it must be', (_what, make, status) => {
    expect(recover(make()).status).toBe(status);
  });
});
