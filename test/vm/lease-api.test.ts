/** Leases, consoles and domains over HTTP: which report renews, what a host is told, who is refused (DESIGN sections 3 and 6). */
import { describe, expect, test } from 'vitest';
import { nodeIdentity } from '../../world/environment.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { HOST, Scene } from '../plane/scene.ts';

const OTHER = 'i-0000000000000000b';
const launch = { type: 'libvirt', domain: 'web' };
const body = (more: Record<string, unknown> = {}) => ({ hostId: HOST, runStrategy: 'Always', launch, ...more });
const idle = (more: Record<string, unknown> = {}) => ({ state: 'Idle', updateCheck: { result: 'UpToDate' }, ...more });

/** A host that has enrolled and runs the VM. */
async function running(more: Record<string, unknown> = {}): Promise<Scene> {
  const scene = new Scene();
  await scene.node(HOST, idle());
  expect((await scene.operator('PUT', '/v1/vms/web', body(more))).status).toBe(201);
  await scene.vm('web', { phase: 'Scheduled' });
  await scene.vm('web', { phase: 'Running' });
  return scene;
}

/** The host's report of what it holds the instance by; answers the lease that it renews. */
async function holds(scene: Scene, held: Record<string, unknown>): Promise<unknown> {
  const instances = [{ vmId: 'web', instanceId: scene.world.instances('web').at(-1), phase: 'Running', ...held }];
  return valueAt((await scene.node(HOST, idle({ instances }))).body, 'leaseSeconds') ?? null;
}
const lives = (scene: Scene): number => scene.world.instances('web').length;
const ended = (scene: Scene): Promise<unknown> => scene.seen('vms', 'web', 'instance.cause');

describe('a lease', () => {
  test('is told with the list and the launch, with the grace, and what it means with the answer to the PUT', async () => {
    const scene = new Scene();
    await scene.node(HOST, idle());
    const put = await scene.operator('PUT', '/v1/vms/web', body({ lease: '10m', grace: '20s' }));
    expect(JSON.stringify(valueAt(put.body, 'warnings'))).toMatch(/longer than the lease stops every VM/);
    const list = await scene.as(HOST, 'GET', `/v1/nodes/${HOST}/vms`);
    expect(valueAt(list.body, 'items.0')).toMatchObject({ leaseSeconds: 600, graceSeconds: 20 });
    const fetched = await scene.as(HOST, 'GET', `/v1/vms/web/launch?instanceId=${scene.world.instances('web').at(-1)}`);
    expect(fetched.body).toMatchObject({ leaseSeconds: 600, graceSeconds: 20 });
  });

  test('is renewed by the answer to a report that echoes it, and by no other', async () => {
    const scene = await running({ lease: '10m' });
    expect(await holds(scene, {})).toBeNull();
    expect(await holds(scene, { leaseSeconds: 600, graceSeconds: 30 })).toBe(600);
    expect(await holds(scene, { leaseSeconds: 600, graceSeconds: 30 })).toBe(600);
    const stale = await scene.as(HOST, 'POST', `/v1/nodes/${HOST}/reports`, {
      ...idle(),
      bootId: 'b1',
      currentVersion: '1.0',
      uptime: 1,
      instances: [
        { vmId: 'web', instanceId: scene.world.instances('web').at(-1), phase: 'Running', leaseSeconds: 600 },
      ],
    });
    expect(stale.status).toBe(200);
    expect(valueAt(stale.body, 'leaseSeconds') ?? null).toBeNull();
  });

  test('of a host that falls silent runs out with its grace and two minutes, uncounted, and not before', async () => {
    const scene = await running({ lease: '10m', grace: '30s', hosts: [HOST, OTHER], restartElsewhere: true });
    await scene.node(OTHER, idle());
    await holds(scene, { leaseSeconds: 600, graceSeconds: 30 });
    await scene.to(740);
    expect(lives(scene)).toBe(1);
    await scene.to(740 + 400);
    await scene.sees('vms', 'web', { hostId: OTHER, startFailure: null, unstableRuns: null });
    expect(lives(scene)).toBe(2);
  });

  test('that was never echoed is none: the host may be one that knows of no leases', async () => {
    const scene = await running({ lease: '10m', hosts: [HOST, OTHER], restartElsewhere: true });
    await scene.node(OTHER, idle());
    await scene.to(3 * 3600);
    expect(lives(scene)).toBe(1);
    await scene.sees('vms', 'web', { hostId: HOST });
  });

  test.each([
    ['longer', '30m', 1800 + 30 + 120],
    ['shorter', '5m', 600 + 30 + 120],
  ])('that is made %s and not echoed yet counts as the longer of both', async (_how, lease, seconds) => {
    const scene = await running({ lease: '10m' });
    await holds(scene, { leaseSeconds: 600, graceSeconds: 30 });
    expect((await scene.operator('PUT', '/v1/vms/web', body({ lease }))).status).toBe(200);
    // The list that it was told with is the last that the host ever hears.
    await scene.as(HOST, 'GET', `/v1/nodes/${HOST}/vms`);
    await scene.to(seconds - 5);
    expect(await ended(scene)).toBeNull();
    await scene.to(seconds + 400);
    expect(await ended(scene)).toBe('HostLost');
  });

  test('that is taken away is gone from when that was told: the instance may run for ever', async () => {
    const scene = await running({ lease: '10m' });
    await holds(scene, { leaseSeconds: 600, graceSeconds: 30 });
    await scene.operator('PUT', '/v1/vms/web', body());
    const list = await scene.as(HOST, 'GET', `/v1/nodes/${HOST}/vms`);
    expect(valueAt(list.body, 'items.0')).not.toHaveProperty('leaseSeconds');
    await scene.to(3 * 3600);
    expect(await ended(scene)).toBeNull();
  });
});

describe('a console', () => {
  test('is asked for, told to the host, given once it has come, and no node’s to ask for or to read', async () => {
    const scene = await running();
    expect((await scene.operator('GET', '/v1/vms/web/console')).body).toMatchObject({ code: 'ConsoleNotAsked' });
    const asked = await scene.operator('POST', '/v1/vms/web/console');
    expect(asked).toMatchObject({ status: 202, body: { receivedAt: null, console: null } });
    const list = await scene.as(HOST, 'GET', `/v1/nodes/${HOST}/vms`);
    expect(valueAt(list.body, 'items.0.consoleAsked')).toBe(true);
    await scene.vm('web', { phase: 'Running', console: 'login: ' });
    expect(await scene.operator('GET', '/v1/vms/web/console')).toMatchObject({
      status: 200,
      body: { console: 'login: ', instanceId: scene.world.instances('web').at(-1) },
    });
    for (const method of ['GET', 'POST'])
      expect((await scene.world.call(method, '/v1/vms/web/console', undefined, nodeIdentity(HOST))).status).toBe(403);
    await scene.to(11 * 60);
    expect((await scene.operator('GET', '/v1/vms/web/console')).status).toBe(404);
  });
});

describe('a domain', () => {
  test('that is another VM of the host already is refused: 409 DomainTaken; on another host it is not', async () => {
    const scene = await running();
    const second = await scene.operator('PUT', '/v1/vms/second', body());
    expect(second).toMatchObject({ status: 409, body: { code: 'DomainTaken' } });
    expect(valueAt(second.body, 'detail')).toMatch(/domain web of host .* is VM web/);
    expect((await scene.operator('GET', '/v1/vms/second')).status).toBe(404);
    await scene.node(OTHER, idle());
    expect((await scene.operator('PUT', '/v1/vms/second', body({ hostId: OTHER }))).status).toBe(201);
  });

  test.each([[{ lease: '10m' }], [{ hosts: [HOST], restartElsewhere: true }]])(
    'that starts by itself is refused for a VM that may start elsewhere (%j): 409 AutostartOn, with what turns it off',
    async (more) => {
      const scene = await running();
      await scene.node(HOST, idle({ unexpected: [{ name: 'web', vmId: 'web', autostart: true }] }));
      const refused = await scene.operator('PUT', '/v1/vms/web', body(more));
      expect(refused).toMatchObject({ status: 409, body: { code: 'AutostartOn' } });
      expect(valueAt(refused.body, 'detail')).toContain('virsh autostart --disable web');
      expect((await scene.operator('PUT', '/v1/vms/web', body({ grace: '5s' }))).status).toBe(200);
      // A report that says nothing of it is of an agent that does not look; one that says "nothing" takes it back.
      await scene.node(HOST, idle());
      expect((await scene.operator('PUT', '/v1/vms/web', body(more))).status).toBe(409);
      await scene.node(HOST, idle({ unexpected: [] }));
      expect((await scene.operator('PUT', '/v1/vms/web', body(more))).status).toBe(200);
    },
  );
});
