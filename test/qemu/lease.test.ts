/** The lease of real guests: a host that is cut off, or whose agent is gone, ends them by itself (DESIGN section 3 rule 6). */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { alive, bundleAgent, Scene, until } from '../agent/scene.ts';
import { Images, qemu } from './fixtures.ts';
import { guestsOf } from './watch.ts';

const images = new Images();
let agent: ReturnType<typeof bundleAgent>;
let scene: Scene;
beforeAll(() => {
  if (qemu !== null) agent = bundleAgent();
});
afterAll(() => {
  if (qemu !== null) agent.remove();
  images.remove();
});
beforeEach(() => {
  scene = new Scene(qemu === null ? '' : agent.bundle);
});
afterEach(() => scene.close());

const LEASE = { leaseSeconds: 5, graceSeconds: 2 };

/** Boots a leased guest; answers the pid of its QEMU. */
async function boot(does: 'obey' | 'ignore'): Promise<number> {
  const launch = images.launch('web', { says: 'web has booted', does });
  scene.declare({ launch, ...LEASE });
  await scene.boot({ agentEnv: images.agentEnv });
  await scene.phases('web', 'a1 Running');
  await until('the lease is echoed', () =>
    scene.plane.reports.some(({ instances }) => instances?.[0]?.leaseSeconds === LEASE.leaseSeconds),
  );
  return scene.pidOf('web@a1', 'guest');
}

const guests = (): number => guestsOf(join(images.dir, 'web.img')).length;

describe.skipIf(qemu === null)('a guest with a lease', () => {
  test('lives on as long as its host is heard, and longer than its lease', async () => {
    const guest = await boot('obey');
    const seen = (): number =>
      Math.max(0, ...scene.plane.reports.map(({ instances }) => instances?.[0]?.ranSeconds ?? 0));
    await until('it has run for longer than lease and grace', () => seen() > 9);
    expect(alive(guest)).toBe(true);
    expect(scene.plane.phases('web')).toEqual(['a1 Scheduled', 'a1 Running']);
  });

  test('is ended while its host hears nothing; that is HostLost, and nothing starts before it was answered', async () => {
    const guest = await boot('obey');
    scene.plane.down = true;
    await until('its guest is gone', () => !alive(guest));
    scene.declare({ instanceId: 'a2', launch: images.obedient('web'), ...LEASE });
    scene.plane.down = false;
    await scene.phases('web', 'a1 Failed HostLost', 'a2 Running');
    expect(guests()).toBe(1);
  });

  test.each([
    ['killed', 'ignore'],
    ['stopped', 'obey'],
  ] as const)('is dead by then also when its agent was %s', async (how, does) => {
    const guest = await boot(does);
    const pid = scene.machine.state().agent.pid ?? 0;
    if (how === 'killed') await scene.machine.stopAgent();
    else process.kill(pid, 'SIGSTOP');
    await until('its guest is gone', () => !alive(guest));
    if (how === 'killed') scene.machine.startAgent();
    else process.kill(pid, 'SIGCONT');
    await scene.phases('web', 'a1 Running', 'a1 Failed HostLost');
    expect(scene.plane.launches).toEqual(['a1']);
  });

  test('is dead as soon as a host goes on that was suspended, agent and wrapper and guest', async () => {
    const guest = await boot('ignore');
    const agentPid = scene.machine.state().agent.pid ?? 0;
    const wrapper = scene.pidOf('web@a1', 'pid');
    process.kill(agentPid, 'SIGSTOP');
    process.kill(-wrapper, 'SIGSTOP');
    const until_ = Date.now() + (LEASE.leaseSeconds + LEASE.graceSeconds + 1) * 1000;
    await until('lease and grace are over', () => Date.now() > until_);
    expect(alive(guest)).toBe(true);
    process.kill(-wrapper, 'SIGCONT');
    await until('its guest is gone', () => !alive(guest));
    process.kill(agentPid, 'SIGCONT');
    await scene.phases('web', 'a1 Running', 'a1 Failed HostLost');
    expect(scene.plane.launches).toEqual(['a1']);
  });
});
