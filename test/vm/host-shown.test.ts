/** What is shown of a VM whose host is updated, silent or lost, and what that host is told of it (DESIGN section 3 rules 3, 6 and 10). */
import { describe, expect, test } from 'vitest';
import { parseNodeId } from '../../core/kit/ids.ts';
import type { PrintableStatus } from '../../core/contract/words.ts';
import { hostLine } from '../../core/vm/told.ts';
import { at, declared, edit, HOST, iso, OTHER_HOST, running, type VmLife } from './scene.ts';
import { ended, exit1, failed, FIRST, later, silent, soon, unstable } from './situations.ts';
import { minutes } from '../../core/kit/time.ts';

const OTHER = parseNodeId(OTHER_HOST) ?? expect.fail('a node id');

/** Its host goes on to its reboot. */
const updated = (life: VmLife): VmLife => {
  life.send({ kind: 'hostMaintenance', hostId: HOST, begins: true });
  return life;
};
const stoppedForHost = (): VmLife => {
  const life = updated(running('Always'));
  life.report('Succeeded');
  return life;
};
const restored = (life: VmLife): VmLife => {
  life.send({ kind: 'recover', at: at(0), settle: minutes(4) });
  return life;
};
const moved = (): VmLife => edit(running('Always'), { placedOn: OTHER });

const back = 'when the host has reached MonitoringUpdate or is Idle again. Nothing is counted';
const waits = `host ${HOST} is being updated, and the next start waits until the host has reached MonitoringUpdate or is Idle again. Nothing is counted for that.`;

describe('status and explanation', () => {
  test.each<[string, () => VmLife, PrintableStatus, string]>([
    [
      'stopped for its host',
      () => updated(running('Always')),
      'Stopping',
      `Stopping, because host ${HOST} is about to be updated: instance ${FIRST} was told to end and its end is not known yet; the host is woken again ${soon(60, '60 s')}; it is started again ${back}.`,
    ],
    ['ended for its host', stoppedForHost, 'Starting', `Is to be started; ${waits}`],
    [
      'in a crash loop while its host is updated',
      () => updated(failed()),
      'CrashLoopBackOff',
      `In a crash loop: failed to start once (LaunchFailed); ${waits}${exit1}`,
    ],
    [
      'running only shortly while its host is updated',
      () => updated(unstable()),
      'CrashLoopBackOff',
      `In a crash loop: ran only shortly once; ${waits} Last failure ${iso(0)}: GuestPanic.`,
    ],
    [
      'ended for its host, and stopped by a person since',
      () => {
        const life = stoppedForHost();
        life.stop();
        return life;
      },
      'Stopped',
      'Stopped by an operator; it stays off until it is started.',
    ],
    [
      'planned with power off while its host is updated',
      () => edit(stoppedForHost(), { power: { on: false, sequence: 1 } }),
      'Stopped',
      'Its last instance ended Succeeded (HostMaintenance); start it to run it again.',
    ],
    [
      'done before its host is updated',
      () => updated(ended('Once', 'Succeeded')),
      'Completed',
      'Its last instance ended Succeeded (GuestShutdown) and run strategy Once runs it only once; stop it and start it to run it again.',
    ],
    [
      'never started, on a host that is updated',
      () => updated(declared('Manual')),
      'Stopped',
      'Off: it has not been started yet; start it to run it.',
    ],
    [
      'Running, and in the way of its host',
      () => running('Always', { maintenance: 'block' }),
      'Running',
      `Running on host ${HOST} since ${iso(0)}, and keeps it from rebooting into an update (maintenance: block).`,
    ],
    [
      'Running after several short runs',
      () => edit(running('Always'), { unstableRuns: { count: 2, retryAfter: null } }),
      'Running',
      `Running on host ${HOST} after 2 unstable runs, which are forgotten ${soon(600, '10 min')} if it stays up.`,
    ],
    [
      'on a silent host, and it may go elsewhere',
      () => edit(silent(), { body: { ...silent().vm.body, hosts: [OTHER_HOST], restartElsewhere: true } }),
      'Unknown',
      `Host ${HOST} is silent, so nothing is known of instance ${FIRST}; it is started again only after the host reports or is fenced, then on another of its hosts.`,
    ],
    [
      'gone elsewhere',
      moved,
      'Running',
      `Running on host ${OTHER_HOST} since ${iso(0)}. It was declared on host ${HOST}, which was fenced.`,
    ],
    [
      'back where it was declared',
      () => edit(running('Always'), { placedOn: parseNodeId(HOST) }),
      'Running',
      `Running on host ${HOST} since ${iso(0)}.`,
    ],
  ])('%s', (_what, make, printableStatus, explanation) => {
    expect(make().shown).toMatchObject({ printableStatus, explanation });
  });

  test.each<[string, () => VmLife, PrintableStatus]>([
    ['asked of its host, is Unknown', () => declared('Always'), 'Unknown'],
    [
      'told to end for a restart, is Stopping',
      () => {
        const life = running('Always');
        life.restart();
        return life;
      },
      'Stopping',
    ],
  ])('restored from an older copy, an instance that was %s', (_what, make, status) => {
    expect(restored(make()).status).toBe(status);
  });
});

describe('the fields', () => {
  test('of where it may be, and of what an update of its host does, have their defaults', () => {
    expect(running('Always').shown).toMatchObject({
      hostId: HOST,
      placement: { declaredHostId: HOST, hosts: [], restartElsewhere: false },
      maintenance: { policy: 'stop', since: null },
    });
  });

  test('of both are as declared, and as it has come', () => {
    const body = { hosts: [OTHER_HOST], restartElsewhere: true, maintenance: 'block' as const };
    const life = updated(later(running('Always', body), 7));
    edit(life, { placedOn: OTHER });
    expect(life.shown).toMatchObject({
      hostId: OTHER_HOST,
      placement: { declaredHostId: HOST, hosts: [OTHER_HOST], restartElsewhere: true },
      maintenance: { policy: 'block', since: iso(7) },
    });
  });
});

describe('a host that is updated is told', () => {
  test('nothing of what it has not taken on before, which it takes on after', () => {
    const life = updated(declared('Always'));
    expect(hostLine(life.vm, life.now)).toBeNull();
    life.send({ kind: 'hostMaintenance', hostId: HOST, begins: false });
    expect(hostLine(life.vm, life.now)).toMatchObject({ power: 'on', instanceId: FIRST });
  });

  test('to end what runs, and what a person has stopped before it was taken on', () => {
    const off = { power: 'off', instanceId: FIRST, graceSeconds: 30 };
    expect(hostLine(updated(running('Always')).vm, at(0))).toMatchObject(off);
    const life = updated(declared('Always'));
    life.stop();
    expect(hostLine(life.vm, life.now)).toMatchObject(off);
  });

  test('to run on what it has taken on all the same', () => {
    const life = updated(declared('Always'));
    life.report('Running');
    expect(hostLine(life.vm, life.now)).toMatchObject({ power: 'on', instanceId: FIRST });
  });

  test('nothing of what is awaited after a restore: what it runs is left where it is', () => {
    expect(hostLine(restored(running('Always')).vm, at(0))).toBeNull();
  });
});
