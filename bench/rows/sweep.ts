/** An Availability Zone is lost: so many nodes fall due at once, and the sweep handles them (DESIGN section 10). */
import type { Item } from '../../world/aws/table.ts';
import { nodeIdentity } from '../../world/environment.ts';
import { seededRandom } from '../../world/random.ts';
import { recordOf } from '../../world/records.ts';
import { Fleet, nodeIdAt, vmIdAt } from './fleet.ts';
import type { Figure, Row } from './row.ts';

const NODES = 10_000;
const SILENT_AFTER_MS = 91 * 60_000;
const SWEEP_EVERY_MS = 180_000;
/** Gauges are emitted first of all. */
const GAUGE = 'NodesSilent';

export const sweep: Row = {
  name: 'sweep',
  about: `${NODES.toLocaleString('en')} nodes fall silent at once: the sweeps that follow, requests of 3 to 12 ms on virtual AWS`,
  measure: async () => [...(await loseNodes()), ...(await loseHosts())],
};

/** A fleet in which only what is measured takes time, and who fell silent in it. */
function slowFleet(): { fleet: Fleet; silent: Set<string>; unknown: Set<string>; begin: () => void } {
  const draw = seededRandom(3);
  const silent = new Set<string>();
  const unknown = new Set<string>();
  let measured = false;
  const written = (item: Item): void => {
    const record = recordOf(item);
    if (record?.kind === 'node' && record.silentSince !== null) silent.add(record.nodeId);
    if (record?.kind === 'vm' && record.instance?.phase === 'Unknown') unknown.add(record.vmId);
  };
  const network = {
    get latency() {
      return measured ? () => 3 + draw() * 9 : null;
    },
    lands: () => true,
  };
  const fleet = new Fleet({ outside: { woken: () => true, registered: () => true, written } }, network);
  return { fleet, silent, unknown, begin: () => (measured = true) };
}

async function loseNodes(): Promise<Figure[]> {
  const { fleet, silent, begin } = slowFleet();
  await fleet.operate('PUT', '/v1/groups/default', { maxConcurrentUpdates: '5%' });
  await fleet.report(nodeIdAt(0), { state: 'Idle', uptime: 1 });
  await fleet.settle();
  fleet.copyNodes(nodeIdAt(0), 1, NODES);
  await fleet.settle(SILENT_AFTER_MS);
  const from = fleet.kernel.now;
  fleet.metrics.length = 0;
  begin();
  const firstMs = await runSweep(fleet);
  const afterOne = silent.size;
  const gaugeAt = fleet.metrics.find(({ name }) => name === GAUGE)?.at ?? Number.NaN;
  await fleet.settle(Math.max(0, SWEEP_EVERY_MS - firstMs));
  await runSweep(fleet);
  return [
    { what: 'gauges after', target: { most: 10 }, measured: (gaugeAt - from) / 1_000, unit: 's, virtual' },
    { what: 'the first sweep takes', target: null, measured: firstMs / 1_000, unit: 's, virtual' },
    { what: 'handled by the first sweep', target: null, measured: afterOne, unit: 'nodes' },
    { what: 'handled by two sweeps', target: { least: NODES }, measured: silent.size, unit: 'nodes' },
  ];
}

const HOSTS = 500;
const VMS_EACH = 20;

async function loseHosts(): Promise<Figure[]> {
  const { fleet, unknown, begin } = slowFleet();
  const [host, vmId] = [nodeIdAt(0), vmIdAt(0)];
  await fleet.report(host, { state: 'Idle', uptime: 1 });
  const launch = { type: 'libvirt', domain: 'web' };
  await fleet.operate('PUT', `/v1/vms/${vmId}`, { hostId: host, runStrategy: 'Always', launch });
  const instanceId = fleet.peekVm(vmId)?.instance?.instanceId;
  const running = { instanceId, phase: 'Running', ranSeconds: 1 };
  await fleet.call('POST', `/v1/vms/${vmId}/reports`, nodeIdentity(host), running);
  await fleet.settle();
  fleet.copyNodes(host, 1, HOSTS);
  fleet.copyVms(vmId, 1, HOSTS * VMS_EACH, (index) => nodeIdAt(Math.floor(index / VMS_EACH)));
  await fleet.settle(SILENT_AFTER_MS);
  begin();
  const firstMs = await runSweep(fleet);
  const afterOne = unknown.size;
  await fleet.settle(Math.max(0, SWEEP_EVERY_MS - firstMs));
  await runSweep(fleet);
  return [
    {
      what: `${HOSTS} hosts with ${VMS_EACH} VMs each fall silent: VMs told by two sweeps`,
      target: { least: HOSTS * VMS_EACH },
      measured: unknown.size,
      unit: 'VMs',
      note: `the first took ${Math.round(firstMs / 1_000)} s and told ${afterOne}`,
    },
  ];
}

/** Milliseconds that a sweep took. */
async function runSweep(fleet: Fleet): Promise<number> {
  const from = fleet.kernel.now;
  let done = false;
  const swept = fleet.deployment.sweep().then(() => {
    done = true;
  });
  while (!done) await fleet.settle(1_000);
  await swept;
  return fleet.kernel.now - from;
}
