/** The update of a host with real guests on it: DESIGN section 3 rule 10, through control plane, agent and QEMU. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildAgent } from '../../agent/build.mjs';
import type { NodeJson, VmJson } from '../../core/contract/answers.ts';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import { NEW_VERSION } from '../../local/demo/fleet.ts';
import { Laptop, until } from '../system/laptop.ts';
import { Images, qemu } from './fixtures.ts';

const HOST = 'i-0000000000000000f';
const laptop = new Laptop();
const images = new Images();

beforeAll(async () => {
  if (qemu === null) return;
  await buildAgent();
  await laptop.start();
}, 120_000);
afterAll(async () => {
  if (qemu !== null) await laptop.stop();
  images.remove();
}, 60_000);

const vm = async (vmId: string): Promise<VmJson | undefined> => (await laptop.vms()).find((one) => one.vmId === vmId);
const node = async (): Promise<NodeJson | undefined> => (await laptop.nodes())[0];

describe.skipIf(qemu === null)('a host that is updated', () => {
  test(
    'waits for the VM that blocks; then its guests power off with grace, and run again afterwards, and nothing is counted',
    { timeout: 200_000 },
    async () => {
      await laptop.group('hosts', { monitor: { soak: '1s' } });
      const body = (vmId: string, more: Partial<VmBody>): VmBody => ({
        hostId: HOST,
        runStrategy: 'Always',
        launch: images.launch(vmId, { says: `${vmId} has booted`, does: 'obey' }),
        grace: '20s',
        ...more,
      });
      const once = body('once', { runStrategy: 'Once' });
      await laptop.vm('precious', body('precious', { maintenance: 'block' }));
      await laptop.vm('once', once);
      laptop.machine(
        { nodeId: HOST, group: 'hosts', story: '', faults: { rebootSeconds: 1 }, hostsVms: false },
        images.agentEnv,
      );
      await until('the host waits staged for the VM', async () => {
        const held = (await node())?.waitingFor?.code === 'VmBlocksMaintenance';
        const up = (await laptop.vms()).every(({ printableStatus }) => printableStatus === 'Running');
        return held && up ? true : null;
      });
      expect((await node())?.explanation).toMatch(/VM precious .*\(maintenance: block\)/);
      const before = await vm('precious');
      await laptop.vm('precious', body('precious', {}));
      await until('the host runs the new version, and its guests run on it', async () => {
        const host = await node();
        const guests = await laptop.vms();
        const back = guests.every(({ printableStatus }) => printableStatus === 'Running');
        const idle = host?.status?.currentVersion === NEW_VERSION && host.phase === 'Idle';
        return back && idle && guests[0]?.instance?.instanceId !== before?.instance?.instanceId ? true : null;
      });
      expect((await node())?.crash.count).toBe(0);
      for (const vmId of ['precious', 'once']) {
        expect(await vm(vmId)).toMatchObject({
          restartCount: 1,
          startFailure: null,
          unstableRuns: null,
          lastFailure: null,
          power: { on: true, sequence: 0 },
        });
      }
      // They were not killed by the reboot: each was asked to end, and did.
      const ended = laptop.agentLog(HOST).filter(({ event }) => event === 'instance ended');
      const said = ended.map(({ phase, cause, message }) => `${String(phase)} ${String(cause)}: ${String(message)}`);
      expect(said).toHaveLength(2);
      for (const text of said) expect(text).toMatch(/^Succeeded \w+: the guest has powered itself off$/);
    },
  );
});
