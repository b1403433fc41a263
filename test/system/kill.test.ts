import { afterAll, beforeAll, expect, test } from 'vitest';
import { setTimeout as wait } from 'node:timers/promises';
import { buildAgent } from '../../agent/build.mjs';
import { NEW_VERSION, NODES, VM_HOST, VMS } from '../../local/demo/fleet.ts';
import { seededRandom } from '../../world/random.ts';
import { Laptop, until } from './laptop.ts';

const KILLS = 10;
const laptop = new Laptop();

beforeAll(async () => {
  await buildAgent();
  await laptop.start();
}, 120_000);
afterAll(() => laptop.stop(), 60_000);

const [, failing] = NODES;
const failingId = failing?.nodeId ?? '';

/** Distinct values of a field in the entries of an agent's log that are about one event. */
const distinct = (
  nodeId: string,
  event: string,
  field: string,
  wanted: (entry: Record<string, unknown>) => boolean,
): number =>
  new Set(
    laptop
      .agentLog(nodeId)
      .filter((entry) => entry['event'] === event && wanted(entry))
      .map((entry) => entry[field]),
  ).size;

const failedInstances = (vmId: string): number =>
  distinct(
    VM_HOST,
    'instance ended',
    'instance',
    (entry) => entry['phase'] === 'Failed' && String(entry['instance']).startsWith(`${vmId}@`),
  );

test(
  'ten kill -9 of the control plane at random instants end no wait for ever, lose no count and double none',
  { timeout: 400_000 },
  async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = seededRandom(seed);
    // Deadlines are the long defaults: here only a failure that an agent reported may count.
    // Short waits, so that the retries after the last kill come soon.
    const backoff = { unit: '1s', from: 'lastCrash', cap: '8s', resetAfter: 'none' } as const;
    await laptop.group('web', { maxConcurrentUpdates: 1, monitor: { soak: '2s' }, backoff });
    await laptop.group('hosts', { maxConcurrentUpdates: 1, monitor: { soak: '2s' } });
    for (const node of NODES) laptop.machine(node);
    for (const [vmId, body] of Object.entries(VMS))
      await laptop.vm(vmId, { ...body, backoff: { base: '3s', factor: 2, cap: '12s', jitter: 0.5 } });
    for (let kill = 0; kill < KILLS; kill += 1) {
      await wait(1000 + random() * 4000);
      laptop.kill();
      await until('the control plane is back', async () => ((await laptop.nodes()) === null ? null : true));
    }
    expect(
      laptop.notices.filter((text) => text.startsWith('control plane ended (SIGKILL)')).length,
      `seed ${seed}`,
    ).toBe(KILLS);

    await until(`every healthy node is updated and Idle (seed ${seed})`, async () => {
      const nodes = await laptop.nodes();
      const healthy = nodes.filter(({ nodeId }) =>
        NODES.some((node) => node.nodeId === nodeId && node.story.startsWith('updates')),
      );
      return healthy.length === 2 &&
        healthy.every(
          (node) =>
            node.status?.currentVersion === NEW_VERSION && node.spec.state === 'Idle' && node.status.state === 'Idle',
        )
        ? true
        : null;
    });
    const rolledBack = await until(
      `the node that boots back is Idle with its version blocked (seed ${seed})`,
      async () => {
        const node = (await laptop.nodes()).find(({ blockedVersions }) => blockedVersions.includes(NEW_VERSION));
        return node?.status?.state === 'Idle' ? node : null;
      },
    );
    expect(rolledBack.crash.count, `seed ${seed}`).toBe(1);

    const crashesBefore = distinct(failingId, 'step failed', 'generation', () => true);
    await until(`the failing node is tried again, and each failure is counted once (seed ${seed})`, async () => {
      const counted = (await laptop.nodes()).find(({ nodeId }) => nodeId === failingId)?.crash.count;
      const happened = distinct(failingId, 'step failed', 'generation', () => true);
      return happened > crashesBefore && counted === happened ? true : null;
    });
    const startsBefore = failedInstances('never-launches');
    await until(
      `the VM that never launches is tried again, and each start failure is counted once (seed ${seed})`,
      async () => {
        const vm = (await laptop.vms()).find(({ vmId }) => vmId === 'never-launches');
        const happened = failedInstances('never-launches');
        return happened > startsBefore && vm?.startFailure?.consecutiveFailCount === happened ? true : null;
      },
    );
    await until(`each unstable run is counted once (seed ${seed})`, async () => {
      const vm = (await laptop.vms()).find(({ vmId }) => vmId === 'boots-and-dies');
      return vm?.unstableRuns?.count === failedInstances('boots-and-dies') ? true : null;
    });
    const vms = new Map((await laptop.vms()).map((vm) => [vm.vmId, vm.printableStatus]));
    expect(vms.get('nightly-batch'), `seed ${seed}`).toBe('Stopped');
    expect([vms.get('database'), vms.get('frontend')], `seed ${seed}`).toEqual(['Running', 'Running']);
  },
);
