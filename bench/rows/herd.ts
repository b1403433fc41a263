/** A thousand nodes enrol at once with an update offered, limit 500 (DESIGN section 10); more of it in `bench/herd.ts`. */
import { runHerd } from '../../world/herd.ts';
import type { Row } from './row.ts';

const NODES = 1_000;
const LIMIT = 500;

export const herd: Row = {
  name: 'herd',
  about: `${NODES} nodes enrol in the same millisecond with an update offered, limit ${LIMIT}, on virtual AWS with its limits`,
  measure: async () => {
    const { answers, requests, slots, slotsTakenMs, slowestMs } = await runHerd({
      nodes: NODES,
      limit: LIMIT,
      seed: 1,
    });
    const refused = NODES - (answers.get(200) ?? 0);
    return [
      { what: 'refused or not answered', target: { most: 0 }, measured: refused, unit: 'nodes' },
      { what: 'requests a node', target: { most: 10 }, measured: requests / NODES, unit: '' },
      { what: 'slots taken', target: { least: LIMIT }, measured: slots, unit: '' },
      { what: 'until all were taken', target: { most: 60 }, measured: slotsTakenMs / 1000, unit: 's, virtual' },
      { what: 'slowest answer', target: null, measured: slowestMs / 1000, unit: 's, virtual' },
    ];
  },
};
