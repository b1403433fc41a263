/** Requests and DynamoDB units of what happens most, and that they do not grow with what is stored (DESIGN section 10). */
import { Fleet, nodeIdAt, vmIdAt } from './fleet.ts';
import type { Figure, Row } from './row.ts';

const HOST = nodeIdAt(0);
const CRASHING = nodeIdAt(1);
const BREAKING = nodeIdAt(2);
/** A node without VMs, of which there are many. */
const PLAIN = nodeIdAt(3);
const VMS_ON_HOST = 20;

/** A host with VMs, and as many plain nodes as are asked for. */
async function fleetOf(nodes: number): Promise<Fleet> {
  const fleet = new Fleet();
  await fleet.operate('PUT', '/v1/groups/default', { maxConcurrentUpdates: '5%' });
  await fleet.report(HOST, { state: 'Idle' });
  await fleet.report(PLAIN, { state: 'Idle' });
  await fleet.operate('PUT', `/v1/vms/${vmIdAt(0)}`, {
    hostId: HOST,
    runStrategy: 'Always',
    launch: { type: 'libvirt', domain: 'web' },
  });
  await fleet.settle();
  fleet.copyNodes(PLAIN, 10, nodes);
  fleet.copyVms(vmIdAt(0), 1, VMS_ON_HOST, () => HOST);
  fleet.copyVms(vmIdAt(0), VMS_ON_HOST, nodes, (index) => nodeIdAt(index));
  await fleet.settle(1000);
  return fleet;
}

type Found = { what: string; target: number | null; requests: number; dynamodb: number; reads: number; writes: number };

async function crash(fleet: Fleet, id: string, group: string): Promise<Omit<Found, 'what' | 'target'>> {
  const updateCheck = { result: 'Available', version: '1.1' };
  const { body } = await fleet.report(id, { state: 'Idle', group, updateCheck });
  const { generation } = (body as { desired: { generation: number } }).desired; // every answer to a report has it
  await fleet.settle();
  const cost = await fleet.report(id, {
    state: 'ErrorReset',
    group,
    updateCheck,
    generation,
    error: { reason: 'PrepareFailed' },
  });
  if (cost.status !== 200) throw new Error(`the crash was answered with ${cost.status}: ${JSON.stringify(cost.body)}`);
  return cost;
}

async function measureAt(nodes: number): Promise<Found[]> {
  const fleet = await fleetOf(nodes);
  const idle = await fleet.report(nodeIdAt(10), { state: 'Idle', generation: 1, uptime: 5 });
  const host = await fleet.report(HOST, { state: 'Idle', generation: 1, uptime: 5 });
  await fleet.operate('PUT', '/v1/groups/broken', {
    maxConcurrentUpdates: 5,
    breaker: { failures: 3, within: '1h' },
  });
  const crashed = await crash(fleet, CRASHING, 'default');
  const broken = await crash(fleet, BREAKING, 'broken');
  return [
    { what: 'a report that changes nothing', target: 1, ...idle },
    { what: `the same with ${VMS_ON_HOST} VMs on the host`, target: 2, ...host },
    { what: 'a crash: counted, timer, vernier, wake, event', target: 6, ...crashed },
    { what: 'a crash in a group with a breaker', target: 7, ...broken },
  ];
}

const FEW = 1_000;
const MANY = 1_000_000;

export const requests: Row = {
  name: 'requests',
  about: 'AWS requests of a report and of a crash, with 1,000 and 1,000,000 nodes and VMs stored',
  measure: async () => {
    const few = await measureAt(FEW);
    const many = await measureAt(MANY);
    return few.flatMap(({ what, target, ...one }, at): Figure[] => {
      const other = many[at];
      const units = `${one.dynamodb} to DynamoDB; ${one.reads} read and ${one.writes} write units`;
      return [
        {
          what,
          target: target === null ? null : { most: target },
          measured: one.requests,
          unit: 'requests',
          note: units,
        },
        {
          what: `… with 1,000,000 stored ÷ with 1,000 (requests and units)`,
          target: { most: 1 },
          measured:
            other === undefined
              ? Number.NaN
              : (other.requests + other.reads + other.writes) / (one.requests + one.reads + one.writes),
          unit: '',
        },
      ];
    });
  },
};
