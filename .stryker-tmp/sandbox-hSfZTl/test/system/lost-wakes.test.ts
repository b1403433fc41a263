// @ts-nocheck
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildAgent } from '../../agent/build.mjs';
import { NEW_VERSION, NODES, VM_HOST, VMS } from '../../local/demo/fleet.ts';
import { Laptop, until } from './laptop.ts';

const laptop = new Laptop();

beforeAll(async () => {
  await buildAgent();
  await laptop.start({ HOLDOFF_LOSE_WAKES: '3' });
}, 120_000);
afterAll(() => laptop.stop(), 60_000);

test(
  'with one wake in three lost every start and every step still happens, and nothing is counted for it',
  { timeout: 300_000 },
  async () => {
    await laptop.group('web', { maxConcurrentUpdates: 1, monitor: { soak: '1s' } });
    const fleet = NODES.filter(({ story, nodeId }) => story.startsWith('updates') || nodeId === VM_HOST);
    for (const node of fleet) laptop.machine(node);
    for (const vmId of ['database', 'frontend'] as const) {
      const body = VMS[vmId];
      if (body !== undefined) await laptop.vm(vmId, body);
    }
    const nodes = await until('both nodes are updated', async () => {
      const found = (await laptop.nodes()).filter(({ group }) => group === 'web');
      return found.length === 2 &&
        found.every(
          (node) =>
            node.status?.currentVersion === NEW_VERSION && node.status.state === 'Idle' && node.phase === 'Idle',
        )
        ? found
        : null;
    });
    expect(nodes.map((node) => node.crash.count)).toEqual([0, 0]);
    const vms = await until('both VMs are Running', async () => {
      const found = await laptop.vms();
      return found.every((vm) => vm.printableStatus === 'Running') ? found : null;
    });
    expect(vms.map((vm) => [vm.startFailure, vm.unstableRuns, vm.restartCount])).toEqual([
      [null, null, 0],
      [null, null, 0],
    ]);
  },
);
