/** A VM is judged by its host's word: how long it ran, what ails its guest, what it is held by (DESIGN section 3 rules 2, 5, 6, 11). */
import { describe, expect, test } from 'vitest';
import type { InstanceSeen } from '../../core/contract/agent-bodies.ts';
import { vmBodySchema } from '../../core/contract/operator-bodies.ts';
import { decideVm } from '../../core/vm/decide.ts';
import type { HostView, VmEvent as Event } from '../../core/vm/event.ts';
import { hostLine } from '../../core/vm/told.ts';
import { at, boots, declared, edit, HOST, id, instance, OTHER_HOST, running, type VmLife } from './scene.ts';
import { later } from './situations.ts';
import { there } from '../kit/there.ts';

const draw = { delay: 0.5, deadline: 0.5, id: 'eeeeeeeeeeeeeeee' };
const VIEW: HostView = {
  inMaintenance: false,
  fenced: false,
  fencedAt: null,
  enrolled: true,
  heardAt: at(0),
  inOrder: [],
};
/** Decides with a view of the hosts. */
function see(life: VmLife, event: Event, view: Partial<HostView> = {}) {
  const context = { vmId: life.vm.vmId, now: life.now, draw, hosts: { ...VIEW, ...view } };
  const outcome = decideVm(life.vm, event, context);
  if (outcome.kind === 'changed') life.vm = outcome.next;
  return outcome;
}
const due = (life: VmLife, view: Partial<HostView> = {}) => see(life, { kind: 'due' }, view);
const says = (life: VmLife, more: Partial<InstanceSeen> = {}) =>
  see(life, {
    kind: 'hostReported',
    hostId: HOST,
    seen: { vmId: 'web', instanceId: life.instanceId, phase: 'Running', ...more },
  });
const unstable = (): VmLife => {
  const life = running('Always');
  life.report('Failed', { cause: 'GuestPanic' });
  life.wait(60);
  life.report('Running', { ranSeconds: 0 });
  return life;
};

describe('how long it ran', () => {
  test('is what its host says, however late the report arrives', () => {
    const short = later(running('Always'), 3600);
    short.report('Failed', { cause: 'GuestPanic', ranSeconds: 5 });
    expect(short.vm.unstableRuns).toMatchObject({ count: 1 });
    const long = later(running('Always'), 5);
    long.report('Failed', { cause: 'GuestPanic', ranSeconds: 1500 });
    expect(long.vm).toMatchObject({ unstableRuns: null });
  });

  test('of an end that is the first word of it makes no start failure of a run', () => {
    const life = declared('Always');
    life.report('Failed', { cause: 'GuestPanic', ranSeconds: 5 });
    expect(life.vm).toMatchObject({ startFailure: null, unstableRuns: { count: 1 }, instance: { everRunning: true } });
  });

  test('is asked of the host once stableFor may have passed: silence forgives nothing', () => {
    const life = later(unstable(), 700);
    expect(due(life)).toMatchObject({ kind: 'changed', facts: [{ kind: 'listen', hostId: HOST }] });
    expect(life.vm.unstableRuns).not.toBeNull();
    expect(later(life, 1000) && due(life).kind).toBe('unchanged');
    says(life, { ranSeconds: 599 });
    expect(life.vm.unstableRuns).not.toBeNull();
    says(life, { ranSeconds: 600 });
    expect(life.vm).toMatchObject({ unstableRuns: null, failuresInARow: 0 });
  });

  test('of an older agent, which says nothing of it, is judged as its reports arrive', () => {
    const life = running('Always');
    life.report('Failed', { cause: 'GuestPanic' });
    life.wait(60);
    life.report('Running');
    const ran = later(life, 700);
    see(ran, { kind: 'hostReported', hostId: HOST });
    expect(ran.vm.unstableRuns).toBeNull();
  });
});

describe('the start deadline', () => {
  const overdue = (): VmLife => {
    const life = declared('Always');
    life.report('Scheduled');
    return later(life, 301);
  };

  test('waits for the word of a host that has enrolled, and what it says of the instance goes first', () => {
    const life = overdue();
    due(life);
    expect(life.vm).toMatchObject({ startFailure: null, instance: { timedOutAt: null } });
    later(life, 900);
    says(life, { ranSeconds: 880 });
    expect(life.vm).toMatchObject({ startFailure: null, instance: { phase: 'Running' } });
  });

  test('is judged with the first report after it that does not say so', () => {
    const life = overdue();
    due(life);
    see(life, { kind: 'hostReported', hostId: HOST });
    expect(life.vm.startFailure).toMatchObject({ reason: 'LaunchTimeout', consecutiveFailCount: 1 });
    const late = overdue();
    due(late);
    later(late, 900);
    says(late, { ranSeconds: 100 });
    expect(late.vm.startFailure).toMatchObject({ reason: 'LaunchTimeout' });
  });

  test('edited holds for the instance that is starting', () => {
    const life = declared('Always');
    life.report('Scheduled');
    life.put('Always', { backoff: { preset: 'seed' }, startDeadline: '1h' });
    expect(instance(life).startDeadlineAt).toBe(at(3600));
  });
});

describe('a guest that does not run', () => {
  test('is shown at once, in words, and no longer when its cause is gone', () => {
    const life = running('Always');
    says(life, { condition: 'IoError' });
    expect(life.shown).toMatchObject({ printableStatus: 'Running', instance: { condition: { kind: 'IoError' } } });
    expect(life.shown.explanation).toMatch(/paused by an I\/O error .*Unhealthy after 5m/);
    says(life);
    expect(life.shown.instance).not.toHaveProperty('condition');
    expect(says(life).kind).toBe('unchanged');
  });

  test('resets are counted, and three within stableFor are said', () => {
    const life = running('Always');
    says(life, { resets: 2 });
    expect(life.shown.explanation).not.toContain('reset');
    says(later(life, 60), { resets: 3 });
    expect(life.shown.instance?.resets).toBe(3);
    expect(life.shown.explanation).toContain('has reset itself 3 times');
  });
});

describe('giveUpAfter', () => {
  test('counts failures of either kind together, and then waits for a verb', () => {
    const life = declared('Always', { backoff: { preset: 'seed', giveUpAfter: 2 } });
    life.failEarly();
    life.wait(60);
    life.report('Running');
    life.report('Failed', { cause: 'GuestPanic' });
    expect(life.shown).toMatchObject({ printableStatus: 'Failed', failuresInARow: 2 });
    expect(life.shown.explanation).toContain('Given up after 2 times in a row');
    life.wait(3600);
    expect(life.vm.pendingStart).toBeNull();
    life.start();
    expect(life.shown).toMatchObject({ printableStatus: 'Starting', failuresInARow: 0 });
  });

  test('a new launch definition tries at once', () => {
    const life = declared('Always', { backoff: { preset: 'seed', giveUpAfter: 1 } });
    life.failEarly();
    life.put('Always', { backoff: { preset: 'seed', giveUpAfter: 1 }, launch: { type: 'libvirt', domain: 'other' } });
    expect(life.status).toBe('Starting');
  });
});

describe('a lease', () => {
  const body = { lease: '10m', hosts: [OTHER_HOST], restartElsewhere: true };
  const leased = (): VmLife => {
    const life = running('Always', body);
    says(life, { leaseSeconds: 600, graceSeconds: 30, ranSeconds: 1 });
    return life;
  };
  const unheard = (life: VmLife, seconds: number, view: Partial<HostView> = {}): VmLife => {
    see(later(life, seconds), { kind: 'hostUnheard', hostId: HOST, at: life.now }, view);
    return life;
  };
  const inOrder = [OTHER_HOST] as unknown as HostView['inOrder'];

  test('is told to the host, with the grace', () => {
    expect(hostLine(leased().vm, at(0))).toMatchObject({ leaseSeconds: 600, graceSeconds: 30 });
  });

  test('run out with its grace and two minutes, its instance has ended, uncounted, and goes elsewhere', () => {
    const life = unheard(leased(), 749.999, { inOrder });
    expect(life.vm.instance?.phase).toBe('Running');
    due(later(life, 750), { inOrder });
    expect(life.shown).toMatchObject({ hostId: OTHER_HOST, printableStatus: 'Starting', unstableRuns: null });
  });

  test('without another in order waits until the host is heard', () => {
    const life = unheard(leased(), 800);
    expect(life.vm).toMatchObject({ instance: { cause: 'HostLost' }, lostHost: { how: 'unheard' } });
    see(life, { kind: 'hostReported', hostId: HOST });
    expect(life.status).toBe('Starting');
  });

  test('that no agent has echoed holds nothing', () => {
    const life = running('Always', body);
    see(life, { kind: 'leaseSent' });
    unheard(life, 90_000, { inOrder });
    expect(life.vm.instance?.phase).toBe('Running');
  });

  test('that is longer counts from when it was sent, a shorter one from its echo, a removed one for ever', () => {
    const longer = leased();
    longer.put('Always', { ...body, backoff: { preset: 'seed' }, lease: '1h' });
    see(longer, { kind: 'leaseSent' });
    expect(unheard(longer, 3749, { inOrder }).vm.instance?.phase).toBe('Running');
    expect(unheard(longer, 3750, { inOrder }).vm.placedOn).toBe(OTHER_HOST);
    const unsent = leased();
    unsent.put('Always', { ...body, backoff: { preset: 'seed' }, lease: '1h' });
    expect(unheard(unsent, 750, { inOrder }).vm.placedOn).toBe(OTHER_HOST);
    const shorter = leased();
    shorter.put('Always', { ...body, backoff: { preset: 'seed' }, lease: '5m' });
    see(shorter, { kind: 'leaseSent' });
    expect(unheard(shorter, 749, { inOrder }).vm.instance?.phase).toBe('Running');
    says(shorter, { leaseSeconds: 300, graceSeconds: 30 });
    expect(unheard(shorter, 750, { inOrder }).vm.placedOn).toBe(OTHER_HOST);
    const removed = leased();
    removed.put('Always', { backoff: { preset: 'seed' }, hosts: [OTHER_HOST], restartElsewhere: true });
    see(removed, { kind: 'leaseSent' });
    expect(unheard(removed, 90_000, { inOrder }).vm.instance?.phase).toBe('Running');
  });

  test.each(['4m59s', '8d', '0s'])('of %s is refused', (lease) => {
    const vm = { hostId: HOST, runStrategy: 'Always', launch: { type: 'libvirt', domain: 'd' } };
    expect(vmBodySchema.safeParse({ ...vm, lease }).success).toBe(false);
    expect(vmBodySchema.safeParse({ ...vm, lease: '5m' }).success).toBe(true);
  });
});

describe('a host under another boot', () => {
  test('has ended what it ran, uncounted, but for what it says it runs', () => {
    const life = later(running('Always'), 100);
    const before = life.instanceId;
    see(life, { kind: 'hostBooted', hostId: HOST, at: at(100), bootedAt: at(50), alive: [id(before)] });
    expect(life.instanceId).toBe(before);
    boots(life);
    expect(life.instanceId).not.toBe(before);
    expect(life.vm).toMatchObject({ startFailure: null, unstableRuns: null, hostLosses: 1 });
  });

  test('three times in a row soon after the VM came to run is what a person should look at', () => {
    const life = running('Always');
    for (const second of [10, 20, 30]) {
      boots(later(life, second));
      life.report('Running');
    }
    expect(life.vm.hostLosses).toBe(3);
  });

  test('ends nothing that was taken on since', () => {
    const life = later(running('Always'), 100);
    const before = life.instanceId;
    see(life, { kind: 'hostBooted', hostId: HOST, at: at(100), bootedAt: at(-1), alive: [] });
    expect(life.instanceId).toBe(before);
  });
});

describe('leaving a lost host', () => {
  test.each<[string, Event[]]>([
    [
      'fence, stop',
      [
        { kind: 'hostFenced', hostId: HOST, at: at(0) },
        { kind: 'stop', grace: null },
      ],
    ],
    [
      'stop, fence',
      [
        { kind: 'stop', grace: null },
        { kind: 'hostFenced', hostId: HOST, at: at(0) },
      ],
    ],
  ])('%s, and then put: never in Stopping for ever', (_what, events) => {
    const life = running('Always');
    for (const event of events) see(life, event, { fenced: true, fencedAt: at(0) });
    expect(life.status).toBe('Stopped');
    const moved = { ...life.vm.body, hostId: OTHER_HOST };
    expect(see(life, { kind: 'put', body: moved }, { fenced: true, fencedAt: at(0) }).kind).toBe('changed');
  });

  test('a VM on a host that never enrolled is stopped, moved and deleted', () => {
    const life = declared('Always');
    see(life, { kind: 'stop', grace: null }, { enrolled: false });
    expect(life.status).toBe('Stopped');
    const moved = declared('Always');
    see(moved, { kind: 'put', body: { ...moved.vm.body, hostId: OTHER_HOST } }, { enrolled: false });
    expect(moved.shown).toMatchObject({ hostId: OTHER_HOST, printableStatus: 'Starting', restartCount: 0 });
    const gone = declared('Always');
    see(gone, { kind: 'delete', force: false }, { enrolled: false });
    expect(there(gone.vm.removed).at).toBe(at(0));
  });

  test('nothing is started on a fenced host, whoever asks', () => {
    const life = declared('Manual');
    see(life, { kind: 'start' }, { fenced: true, fencedAt: at(0) });
    expect(life.vm.instance).toBeNull();
    expect(life.shown.explanation).toContain('was fenced, and nothing is started on it');
  });
});

test('a start that was promised survives an edit to Manual', () => {
  const life = running('Always');
  life.restart();
  life.put('Manual', { backoff: { preset: 'seed' } });
  const before = life.instanceId;
  life.report('Succeeded', { cause: 'Requested' });
  expect(life.instanceId).not.toBe(before);
});

describe('the console', () => {
  test('is asked of the host, kept when it comes, and dropped after ten minutes', () => {
    const life = running('Always');
    life.send({ kind: 'askConsole', by: 'ann' });
    expect(hostLine(life.vm, at(0))).toMatchObject({ consoleAsked: true });
    life.report('Running', { console: `${'x'.repeat(20_000)}end` });
    expect(there(there(life.vm.console).received).text).toHaveLength(16 * 1024);
    expect(hostLine(life.vm, at(0))).not.toHaveProperty('consoleAsked');
    life.wait(600);
    expect(life.vm.console).toBeNull();
  });

  test('of a VM that has no live instance is refused', () => {
    expect(declared('Manual').send({ kind: 'askConsole', by: 'ann' })).toBe(409);
  });
});

test('a record of the release before is read: what is new in it may be missing', () => {
  const life = running('Always');
  const { takenOnAt: _at, askHostAt: _ask, ...older } = instance(life);
  edit(life, { instance: older });
  delete life.vm.failuresInARow;
  boots(later(life, 100));
  expect(life.vm).toMatchObject({ startFailure: null, unstableRuns: null });
});
