/** What people look at costs the same however many nodes are stored (DESIGN section 10). */
import { Fleet, nodeIdAt } from './fleet.ts';
import type { Figure, Row } from './row.ts';

const FEW = 1_000;
const MANY = 100_000;

const LOOKS: readonly { what: string; path: string }[] = [
  { what: 'GET /v1/summary', path: '/v1/summary' },
  { what: 'GET /v1/groups/default', path: '/v1/groups/default' },
  { what: 'first page of GET /v1/nodes', path: '/v1/nodes?limit=50' },
  { what: 'first page of the nodes of a group', path: '/v1/nodes?group=default&limit=50' },
];

type Look = { requests: number; units: number };

async function lookAt(nodes: number): Promise<Look[]> {
  const fleet = new Fleet();
  await fleet.operate('PUT', '/v1/groups/default', { maxConcurrentUpdates: '5%' });
  await fleet.report(nodeIdAt(0), { state: 'Idle' });
  await fleet.settle();
  fleet.copyNodes(nodeIdAt(0), 1, nodes);
  await fleet.sweepCost();
  const looks: Look[] = [];
  for (const { path } of LOOKS) {
    const { status, requests, reads, writes } = await fleet.operate('GET', path);
    if (status !== 200) throw new Error(`${path} was answered with ${status}`);
    looks.push({ requests, units: reads + writes });
  }
  return looks;
}

export const lists: Row = {
  name: 'lists',
  about: `requests and units of summary, group and lists with ${FEW.toLocaleString('en')} and ${MANY.toLocaleString('en')} nodes stored`,
  measure: async () => {
    const few = await lookAt(FEW);
    const many = await lookAt(MANY);
    return LOOKS.map(({ what }, index): Figure => {
      const [one, other] = [few[index], many[index]];
      const ratio =
        one === undefined || other === undefined
          ? Number.NaN
          : (other.requests + other.units) / (one.requests + one.units);
      return {
        what: `${what}: many ÷ few`,
        target: { most: 1 },
        measured: ratio,
        unit: '',
        note: `${other?.requests ?? 0} requests, ${other?.units ?? 0} units`,
      };
    });
  },
};
