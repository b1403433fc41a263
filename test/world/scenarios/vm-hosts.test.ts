/** The fifteen scenarios of the VM half of the mission, and the update of a host, through the whole control plane (docs/vm-hosts.md). */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { runScenario } from '../../../world/simulate/run.ts';
import { readScenario } from '../../../world/simulate/scenario.ts';
import { parseNodeId } from '../../../core/kit/ids.ts';
import { noteMachineEvent } from '../../../functions/operations/lifecycle.ts';
import { HOST, Scene } from '../../plane/scene.ts';

const folder = resolve(import.meta.dirname, '../../../docs/scenarios/vm-hosts');
const files = readdirSync(folder);

describe('docs/scenarios/vm-hosts', () => {
  test.each(files)('%s passes', async (file) => {
    const { failures } = await runScenario(readScenario(readFileSync(join(folder, file), 'utf8')));
    expect(failures).toEqual([]);
  });

  test('S01 to S15 are there; S03 is below', () => {
    const numbers = files.flatMap((file) => /^s(\d\d)-/.exec(file)?.[1] ?? []);
    expect(numbers).toEqual('01 02 04 05 06 07 08 09 10 11 12 13 14 15'.split(' '));
  });
});

describe('S03: 200 VMs that fail six times', () => {
  const ranges: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
    kubevirt: [
      [10, 15],
      [40, 60],
      [90, 135],
      [160, 240],
      [250, 300],
      [200, 300],
    ],
    seed: [
      [10, 15],
      [20, 30],
      [40, 60],
      [80, 120],
      [160, 240],
      [200, 300],
    ],
  };
  test.each(Object.entries(ranges))(
    'preset %s: each wait is in its range, never above 300 s, and spread at the cap too',
    { timeout: 120_000 },
    async (preset, expected) => {
      const scene = new Scene();
      const ids = Array.from({ length: 200 }, (_, index) => `vm-${index}`);
      const body = {
        hostId: HOST,
        runStrategy: 'Always',
        launch: { type: 'libvirt', domain: 'web' },
        backoff: { preset },
      };
      for (const id of ids)
        await scene.operator('PUT', `/v1/vms/${id}`, { ...body, launch: { type: 'libvirt', domain: id } });
      let now = 0;
      for (const [low, high] of expected) {
        const waits: number[] = [];
        for (const id of ids) {
          await scene.vm(id, { phase: 'Failed', cause: 'LaunchFailed', message: 'exit 1' });
          const retryAfter = Date.parse(String(await scene.seen('vms', id, 'startFailure.retryAfter')));
          waits.push((retryAfter - scene.world.now) / 1000);
        }
        expect(Math.min(...waits)).toBeGreaterThanOrEqual(low);
        expect(Math.max(...waits)).toBeLessThanOrEqual(high);
        expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThanOrEqual(Math.min(50, (high - low) * 0.8));
        now += 301;
        await scene.to(now);
      }
    },
  );
});

describe('a VM that keeps its host from rebooting', () => {
  const vm = { hostId: HOST, runStrategy: 'Always', launch: { type: 'libvirt', domain: 'web' } };

  test('is named in the explanation, and lets the host go on when it no longer blocks', async () => {
    const scene = new Scene();
    await scene.operator('PUT', '/v1/vms/web', { ...vm, maintenance: 'block' });
    await scene.node(HOST, { state: 'Idle' });
    await scene.vm('web', { phase: 'Running' });
    await scene.obey(HOST);
    await scene.obey(HOST);
    await scene.sees('nodes', HOST, { phase: 'Queued', 'spec.state': 'StagedUpdate' });
    expect(await scene.seen('nodes', HOST, 'explanation')).toMatch(
      /^VM web keeps it from its reboot \(maintenance: block\)/,
    );
    expect(await scene.seen('vms', 'web', 'explanation')).toMatch(/keeps it from rebooting into an update/);
    await scene.operator('PUT', '/v1/vms/web', vm);
    await scene.sees('nodes', HOST, { phase: 'Updating', 'spec.state': 'StagedUpdate', waitingFor: null });
    for (let step = 0; step < 2; step += 1) await scene.obey(HOST);
    await scene.sees('nodes', HOST, { phase: 'Updating', 'spec.state': 'RebootedIntoUpdate' });
    await scene.sees('vms', 'web', { printableStatus: 'Stopping' });
  });
});

describe('a notice that was lost', () => {
  test('a VM looks for itself whether its host is back', async () => {
    const scene = new Scene();
    await scene.operator('PUT', '/v1/vms/web', {
      hostId: HOST,
      runStrategy: 'Once',
      launch: { type: 'libvirt', domain: 'web' },
    });
    await scene.node(HOST, { state: 'Idle' });
    await scene.vm('web', { phase: 'Running' });
    for (let step = 0; step < 2; step += 1) await scene.obey(HOST);
    await scene.vm('web', { phase: 'Succeeded', cause: 'HostMaintenance' });
    // The host is back, and its VM does not hear of it.
    const unheard = vi.spyOn(scene.world.store, 'vmsOfHost').mockResolvedValue([]);
    await scene.obey(HOST, { bootId: 'b2', currentVersion: '1.1' });
    await scene.obey(HOST, { bootId: 'b2', currentVersion: '1.1' });
    unheard.mockRestore();
    await scene.sees('vms', 'web', { 'instance.phase': 'Succeeded', printableStatus: 'Starting' });
    await scene.to(200);
    await scene.sees('vms', 'web', { 'instance.phase': 'Pending', restartCount: 1, 'power.on': true });
  });
});

describe('a host that EC2 stops or terminates', () => {
  const [B, C] = ['i-0000000000000000b', 'i-0000000000000000c'];
  const movable = {
    hostId: HOST,
    runStrategy: 'Always',
    launch: { type: 'libvirt', domain: 'web' },
    hosts: [B, C],
    restartElsewhere: true,
  };
  const idle = { state: 'Idle', updateCheck: { result: 'UpToDate' } };
  /** EC2's word reaches the lifecycle handler. */
  const machine = async (scene: Scene, id: string, kind: 'stopped' | 'terminated'): Promise<void> => {
    const nodeId = parseNodeId(id);
    if (nodeId === null) throw new Error('not a node id');
    await noteMachineEvent(scene.world.plane, { nodeId, kind, at: scene.world.now });
    await scene.world.runTo(scene.world.now);
  };
  const lives = (scene: Scene): number => scene.world.instances('web').length;

  test.each(['stopped', 'terminated'] as const)(
    '%s: its VM starts elsewhere, once, uncounted, whoever says so again, and stays there',
    async (kind) => {
      const scene = new Scene();
      for (const id of [HOST, B]) await scene.node(id, idle);
      await scene.operator('PUT', '/v1/vms/web', movable);
      await scene.vm('web', { phase: 'Running' });
      await scene.to(100);
      const late = { instanceId: scene.world.instances('web')[0], phase: 'Running' };
      await machine(scene, HOST, kind);
      await machine(scene, HOST, kind);
      const placement = { declaredHostId: HOST, hosts: [B, C], restartElsewhere: true };
      await scene.sees('vms', 'web', { hostId: B, placement, 'instance.phase': 'Pending', startFailure: null });
      expect(lives(scene)).toBe(2);
      const told = await scene.as(HOST, 'POST', '/v1/vms/web/reports', late);
      expect(told).toMatchObject({ status: 200, body: { desired: { power: 'off' } } });
      expect((await scene.as(HOST, 'GET', `/v1/nodes/${HOST}/vms`)).body).toMatchObject({ items: [] });
      await scene.as(B, 'POST', '/v1/vms/web/reports', {
        instanceId: scene.world.instances('web').at(-1),
        phase: 'Running',
      });
      await scene.node(HOST, { ...idle, bootId: 'b2' });
      await scene.to(3000);
      await scene.sees('vms', 'web', { hostId: B, printableStatus: 'Running', unstableRuns: null, restartCount: 1 });
      expect(lives(scene)).toBe(2);
    },
  );

  test('without another in order it waits, looks again, and goes to the one that enrols', async () => {
    const scene = new Scene();
    await scene.node(HOST, idle);
    await scene.operator('PUT', '/v1/vms/web', movable);
    await scene.vm('web', { phase: 'Running' });
    await scene.to(100);
    await machine(scene, HOST, 'terminated');
    await scene.to(200);
    await scene.sees('vms', 'web', { hostId: HOST, 'instance.phase': 'Failed', printableStatus: 'Starting' });
    await scene.node(C, idle);
    // Looked for every three minutes.
    await scene.to(401);
    await scene.sees('vms', 'web', { hostId: C, 'instance.phase': 'Pending', startFailure: null });
    expect(lives(scene)).toBe(2);
  });

  test('what a fenced host says to have taken on afterwards is told to end: it goes where another is in order', async () => {
    const scene = new Scene();
    for (const id of [HOST, B]) await scene.node(id, idle);
    await scene.operator('PUT', '/v1/vms/web', { ...movable, hosts: [C], startDeadline: 'none' });
    await scene.operator('POST', `/v1/nodes/${HOST}/fence`);
    await scene.vm('web', { phase: 'Scheduled' });
    await scene.node(C, idle);
    await scene.to(3000);
    await scene.sees('vms', 'web', { hostId: C, 'instance.phase': 'Pending' });
    expect(lives(scene)).toBe(2);
  });
});
