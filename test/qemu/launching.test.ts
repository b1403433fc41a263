/** Launching never sticks, and no instance runs twice on a host, with real guests (DESIGN section 3, G5). */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bundleAgent, Scene, until } from '../agent/scene.ts';
import { Images, qemu } from './fixtures.ts';
import { guestsOf, GuestWatch } from './watch.ts';

const images = new Images();
let agent: ReturnType<typeof bundleAgent>;
const scenes: Scene[] = [];
beforeAll(() => {
  if (qemu !== null) agent = bundleAgent();
});
afterAll(() => {
  if (qemu !== null) agent.remove();
  images.remove();
});
afterEach(async () => {
  await Promise.all(scenes.splice(0).map((scene) => scene.close()));
});
function newScene(): Scene {
  const scene = new Scene(agent.bundle);
  scenes.push(scene);
  return scene;
}

describe.skipIf(qemu === null)('an instance', () => {
  test('that two agents of one host are told to run, each with a state folder of its own, has one guest', async () => {
    const image = join(images.dir, 'twice.img');
    const launch = images.obedient('twice');
    const [first, second] = [newScene(), newScene()];
    const guests = `HOLDOFF_GUESTS_DIR=${first.file('guests')}`;
    const watch = new GuestWatch([image]);
    for (const scene of [first, second]) scene.declare({ launch });
    const agentCommand = ['/usr/bin/env', guests, process.execPath, agent.bundle];
    await Promise.all([first, second].map((scene) => scene.boot({ agentEnv: images.agentEnv, agentCommand })));
    const fetched = (scene: Scene): boolean => scene.plane.launches.includes('a1');
    await until('both have fetched it', () => fetched(first) && fetched(second));
    const runs = (scene: Scene): boolean => scene.plane.phases('web').includes('a1 Running');
    await until(
      'one runs it',
      () => runs(first) || runs(second),
      () => [first.log(), second.log()],
    );
    const other = runs(first) ? second : first;
    const reports = other.plane.reports.length;
    await until('the other goes on reporting', () => other.plane.reports.length > reports + 3);
    expect([runs(first), runs(second)].filter(Boolean)).toEqual([true]);
    // It may be told to run the next one, too: the lock of the VM is held.
    other.declare({ instanceId: 'a2', launch });
    other.wake('next', '0');
    await other.phases('web', 'a2 Failed LaunchFailed');
    expect(other.plane.vmReports.at(-1)?.message).toMatch(/the lock of the VM is held/);
    expect(guestsOf(image)).toHaveLength(1);
    watch.stop();
    expect(watch.most(image)).toBe(1);
  });

  test('whose command holds a NUL is LaunchFailed, with the reason', async () => {
    const scene = newScene();
    scene.declare({ launch: { type: 'exec', command: ['/bin/echo', 'a\0b'] } });
    scene.declare({ vmId: 'guest', uid: 'u-2', instanceId: 'b1', launch: { type: 'qemu', args: ['-m', '1\0'] } });
    await scene.boot({ agentEnv: images.agentEnv });
    await scene.phases('web', 'a1 Failed LaunchFailed');
    await scene.phases('guest', 'b1 Failed LaunchFailed');
    const said = scene.plane.vmReports.filter(({ phase }) => phase === 'Failed').map(({ message }) => message);
    expect(new Set(said).size).toBe(2);
    for (const message of said) expect(message).toMatch(/NUL|null bytes/);
  });

  test('that the kernel refuses to start (here: arguments too long) is LaunchFailed, with the reason', async () => {
    const scene = newScene();
    scene.declare({ launch: { type: 'exec', command: ['/bin/echo', 'a'.repeat(200_000)] } });
    await scene.boot({ agentEnv: images.agentEnv });
    await scene.phases('web', 'a1 Scheduled', 'a1 Failed LaunchFailed');
    expect(scene.plane.vmReports.at(-1)?.message).toMatch(/^cannot be launched: spawn E2BIG/);
    scene.declare({ instanceId: 'a2', launch: images.obedient('next') });
    await scene.phases('web', 'a2 Running');
  });
});
