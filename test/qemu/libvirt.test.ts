/** libvirt with its real daemon and real QEMU guests, below the real agent. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { InstanceSeen, Unexpected, VmReport } from '../../core/contract/agent-bodies.ts';
import type { GuestStory } from '../../local/demo/boot-sector.ts';
import type { VmRow } from '../agent/control-plane.ts';
import { bundleAgent, Scene, until } from '../agent/scene.ts';
import { qemu } from './fixtures.ts';
import { LibvirtDaemon, libvirtd, virshProgram } from './libvirt-daemon.ts';

const daemon = new LibvirtDaemon();
const there = qemu !== null && libvirtd !== null && virshProgram !== null;
let agent: ReturnType<typeof bundleAgent>;
let scene: Scene;
beforeAll(async () => {
  if (libvirtd === null || !there) return;
  agent = bundleAgent();
  await daemon.start(libvirtd);
});
afterAll(async () => {
  if (!there) return;
  agent.remove();
  await daemon.stop();
});
beforeEach(() => {
  scene = new Scene(there ? agent.bundle : '');
});
afterEach(() => scene.close());

const seen = (): InstanceSeen | undefined => scene.plane.reports.at(-1)?.instances?.find(({ vmId }) => vmId === 'web');
const unexpected = (): readonly Unexpected[] => scene.plane.reports.at(-1)?.unexpected ?? [];
const last = (): VmReport | undefined => scene.plane.vmReports.at(-1);

/** Defines a domain and declares a VM that is it; the agent's host allows it. */
async function boot(
  domain: string,
  story: GuestStory | null,
  { define = true, ...row }: { define?: boolean } & Partial<VmRow> = {},
): Promise<void> {
  if (define) daemon.define(domain, story);
  scene.declare({ launch: { type: 'libvirt', domain }, ...row });
  await scene.boot({ agentEnv: { HOLDOFF_LIBVIRT: daemon.uri, HOLDOFF_LIBVIRT_DOMAINS: 'vm-*' } });
}
function stop(domain: string, graceSeconds: number): void {
  scene.declare({ launch: { type: 'libvirt', domain }, power: 'off', graceSeconds });
  scene.wake('stop', '0');
}

describe.skipIf(!there)('a domain of libvirt', () => {
  test('is Running once libvirt says so, and Succeeded by its own power-off', async () => {
    await boot('vm-off', { says: 'off has booted', afterTicks: 36, does: 'powerOff' });
    await scene.phases('web', 'a1 Scheduled', 'a1 Running', 'a1 Succeeded GuestShutdown');
    expect(last()?.console).toContain('off has booted');
    expect(daemon.virsh('domstate', 'vm-off')).toBe('shut off');
  });

  test('whose guest panics ends GuestPanic, and its next instance starts it again', async () => {
    await boot('vm-panic', { says: 'panic has booted', afterTicks: 18, does: 'panic' });
    await scene.phases('web', 'a1 Running', 'a1 Failed GuestPanic');
    scene.declare({ instanceId: 'a2', launch: { type: 'libvirt', domain: 'vm-panic' } });
    await scene.phases('web', 'a2 Running', 'a2 Failed GuestPanic');
  });

  test.each([
    ['that is not defined', 'vm-none', false, /failed to get domain 'vm-none'/],
    ['whose image is missing', 'vm-broken', true, /vm-broken\.img.*No such file/],
    ['that this host does not allow', 'other', false, /HOLDOFF_LIBVIRT_DOMAINS/],
  ])('%s is LaunchFailed, in libvirt’s own words', async (_what, domain, define, message) => {
    await boot(domain, null, { define });
    await scene.phases('web', 'a1 Scheduled', 'a1 Failed LaunchFailed');
    expect(last()?.message).toMatch(message);
    expect(scene.plane.phases('web')).not.toContain('a1 Running');
  });

  test('that somebody destroys on the host, or whose QEMU is killed, was Killed', async () => {
    await boot('vm-killed', { says: 'killed has booted', does: 'obey' });
    await scene.phases('web', 'a1 Running');
    daemon.virsh('destroy', 'vm-killed');
    await scene.phases('web', 'a1 Failed Killed');
    expect(last()?.message).toBe('the domain was destroyed on its host');
    scene.declare({ instanceId: 'a2', launch: { type: 'libvirt', domain: 'vm-killed' } });
    await scene.phases('web', 'a2 Running');
    process.kill(daemon.pid('vm-killed'), 'SIGKILL');
    await scene.phases('web', 'a2 Failed Killed');
  });

  test('outlives a killed agent, is found again, and obeys its power button', async () => {
    await boot('vm-kept', { says: 'kept has booted', does: 'obey' });
    await scene.phases('web', 'a1 Running');
    const id = daemon.virsh('domid', 'vm-kept');
    const { starts } = scene.machine.state().agent;
    scene.machine.killAgent();
    await until('the agent is back', () => scene.machine.state().agent.starts > starts);
    const seen = scene.plane.vmReports.length;
    await until('Running is reported again', () =>
      scene.plane.vmReports.slice(seen).some(({ phase }) => phase === 'Running'),
    );
    expect(daemon.virsh('domid', 'vm-kept')).toBe(id);
    stop('vm-kept', 20);
    await scene.phases('web', 'a1 Running', 'a1 Succeeded Requested');
    expect(last()?.console).toContain('bye');
  });

  test('that ignores its power button is destroyed after its grace', async () => {
    await boot('vm-deaf', { says: 'deaf has booted', does: 'ignore' });
    await scene.phases('web', 'a1 Running');
    stop('vm-deaf', 1);
    await scene.phases('web', 'a1 Failed Requested');
    expect(daemon.virsh('domstate', 'vm-deaf', '--reason')).toBe('shut off (destroyed)');
  });

  test('that runs already is taken over, not started a second time; two VMs cannot be one domain', async () => {
    daemon.define('vm-there', { says: 'there has booted', does: 'obey' });
    daemon.virsh('start', 'vm-there');
    const id = daemon.virsh('domid', 'vm-there');
    await boot('vm-there', null, { define: false });
    await scene.phases('web', 'a1 Scheduled', 'a1 Running');
    expect(daemon.virsh('domid', 'vm-there')).toBe(id);
    scene.declare({ vmId: 'second', instanceId: 'b1', launch: { type: 'libvirt', domain: 'vm-there' } });
    await scene.phases('second', 'b1 Failed LaunchFailed');
    expect(last()?.message).toBe('domain vm-there is the guest of VM web (instance a1) on this host');
    stop('vm-there', 20);
    await scene.phases('web', 'a1 Succeeded Requested');
  });

  test('that a person suspends is said to be so, left alone whatever unresponsiveFor is, and runs on when resumed', async () => {
    daemon.define('vm-paused', { says: 'paused has booted', does: 'obey' });
    daemon.define('vm-stopped', { says: 'stopped has booted', does: 'obey' });
    const terms = { unresponsiveFor: '2s' };
    const launch = { type: 'libvirt' as const, domain: 'vm-stopped' };
    scene.declare({ vmId: 'other', uid: 'u-2', instanceId: 'b1', launch, terms });
    await boot('vm-paused', null, { define: false, terms });
    await scene.phases('web', 'a1 Running');
    await scene.phases('other', 'b1 Running');
    const ails = (): string | undefined => seen()?.condition;
    daemon.virsh('suspend', 'vm-paused');
    await until('it is suspended', () => ails() === 'Suspended');
    // Another one, whose process is stopped from now on, is ended meanwhile.
    process.kill(daemon.pid('vm-stopped'), 'SIGSTOP');
    await scene.phases('other', 'b1 Running', 'b1 Failed Unhealthy');
    expect(ails()).toBe('Suspended');
    daemon.virsh('resume', 'vm-paused');
    await until('it runs again', () => seen() !== undefined && ails() === undefined);
    expect(scene.plane.phases('web')).toEqual(['a1 Scheduled', 'a1 Running']);
  });

  test('with a lease is ended while its host hears nothing, and by its wrapper when the agent is stopped', async () => {
    const lease = { leaseSeconds: 5, graceSeconds: 2 };
    await boot('vm-leased', { says: 'leased has booted', does: 'obey' }, lease);
    await scene.phases('web', 'a1 Running');
    await until('the lease is echoed', () => seen()?.leaseSeconds === 5);
    scene.plane.down = true;
    await until('it is off', () => daemon.virsh('domstate', 'vm-leased') === 'shut off');
    scene.declare({ instanceId: 'a2', launch: { type: 'libvirt', domain: 'vm-leased' }, ...lease });
    scene.plane.down = false;
    await scene.phases('web', 'a1 Failed HostLost', 'a2 Running');
    await until('the lease of the next one is echoed', () => seen()?.leaseSeconds === 5);
    const pid = scene.machine.state().agent.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    await until('it is off again', () => daemon.virsh('domstate', 'vm-leased') === 'shut off');
    process.kill(pid, 'SIGCONT');
    await scene.phases('web', 'a2 Running', 'a2 Failed HostLost');
  });

  test('that starts by itself with its host is named, and refused for a VM that may start elsewhere', async () => {
    daemon.define('vm-auto', { says: 'auto has booted', does: 'obey' });
    daemon.virsh('autostart', 'vm-auto');
    await boot('vm-auto', null, { define: false });
    await scene.phases('web', 'a1 Running');
    await until('it is named', () => unexpected().some(({ autostart }) => autostart === true));
    expect(unexpected()).toEqual([{ name: 'vm-auto', vmId: 'web', instanceId: 'a1', autostart: true }]);
    stop('vm-auto', 20);
    await scene.phases('web', 'a1 Running', 'a1 Succeeded Requested');
    const launch = { type: 'libvirt' as const, domain: 'vm-auto' };
    scene.declare({ instanceId: 'a2', launch, leaseSeconds: 300 });
    await scene.phases('web', 'a2 Failed LaunchFailed');
    expect(last()?.message).toMatch(/virsh autostart --disable vm-auto/);
    scene.declare({ instanceId: 'a3', launch, terms: { restartElsewhere: true } });
    await scene.phases('web', 'a3 Failed LaunchFailed');
    daemon.virsh('autostart', '--disable', 'vm-auto');
    // An agent that starts looks at once, and says that there is nothing any more.
    scene.machine.killAgent();
    await until('it is named no more', () => scene.plane.reports.at(-1)?.unexpected?.length === 0);
    scene.declare({ instanceId: 'a4', launch, leaseSeconds: 300 });
    await scene.phases('web', 'a4 Running');
  });

  test('that somebody starts although its VM is off is reported as what should not run', async () => {
    await boot('vm-hand', { says: 'hand has booted', does: 'obey' });
    await scene.phases('web', 'a1 Running');
    stop('vm-hand', 20);
    await scene.phases('web', 'a1 Running', 'a1 Succeeded Requested');
    daemon.virsh('start', 'vm-hand');
    // An agent that starts looks at once; one that runs looks every 30 s.
    scene.machine.killAgent();
    await until('it is named', () => unexpected().some(({ name }) => name === 'vm-hand'));
    expect(unexpected()).toEqual([{ name: 'vm-hand', vmId: 'web' }]);
    expect(daemon.virsh('domstate', 'vm-hand')).toBe('running');
  });
});
