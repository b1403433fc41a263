/** The fifteen scenarios of the VM half of the mission, and the update of a host, through the whole control plane (docs/vm-hosts.md). */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { runScenario } from '../../local/simulate/run.ts';
import { readScenario } from '../../local/simulate/scenario.ts';
import { HOST, Scene } from '../spec/scene.ts';

const folder = resolve(import.meta.dirname, '../../docs/scenarios/vm-hosts');
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
      for (const id of ids) await scene.operator('PUT', `/v1/vms/${id}`, body);
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
    await scene.sees('nodes', HOST, { phase: 'Held', 'spec.state': 'PerformedUpdate' });
    expect(await scene.seen('nodes', HOST, 'explanation')).toMatch(
      /^Ready to reboot into 1\.1, but VM web keeps it from it \(maintenance: block\)/,
    );
    expect(await scene.seen('vms', 'web', 'explanation')).toMatch(/keeps it from rebooting into an update/);
    await scene.operator('PUT', '/v1/vms/web', vm);
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
    await scene.sees('vms', 'web', { 'instance.phase': 'Pending', restartCount: 0, 'power.on': true });
  });
});
