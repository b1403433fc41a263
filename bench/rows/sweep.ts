/** An Availability Zone is lost: so many nodes fall due at once, and the sweep handles them (DESIGN section 10). */
import { seededRandom } from '../../world/random.ts';
import { recordOf } from '../../world/records.ts';
import { Fleet, nodeIdAt } from './fleet.ts';
import type { Row } from './row.ts';

const NODES = 10_000;
const SILENT_AFTER_MS = 91 * 60_000;
const SWEEP_EVERY_MS = 180_000;
/** Gauges are emitted first of all. */
const GAUGE = 'NodesSilent';

export const sweep: Row = {
  name: 'sweep',
  about: `${NODES.toLocaleString('en')} nodes fall silent at once: the sweeps that follow, requests of 3 to 12 ms on virtual AWS`,
  measure: async () => {
    const draw = seededRandom(3);
    const silent = new Set<string>();
    let measured = false;
    const fleet = new Fleet(
      {
        outside: {
          woken: () => true,
          registered: () => true,
          written: (item) => {
            const record = recordOf(item);
            if (record?.kind === 'node' && record.silentSince !== null) silent.add(record.nodeId);
          },
        },
      },
      {
        // The fleet is made at once; only what is measured takes time.
        get latency() {
          return measured ? () => 3 + draw() * 9 : null;
        },
        lands: () => true,
      },
    );
    await fleet.operate('PUT', '/v1/groups/default', { maxConcurrentUpdates: '5%' });
    await fleet.report(nodeIdAt(0), { state: 'Idle', uptime: 1 });
    await fleet.settle();
    fleet.copyNodes(nodeIdAt(0), 1, NODES);
    await fleet.settle(SILENT_AFTER_MS);
    const begun = fleet.kernel.now;
    fleet.metrics.length = 0;
    measured = true;
    const firstMs = await runSweep(fleet);
    const afterOne = silent.size;
    const gaugeAt = fleet.metrics.find(({ name }) => name === GAUGE)?.at ?? Number.NaN;
    await fleet.settle(Math.max(0, SWEEP_EVERY_MS - firstMs));
    await runSweep(fleet);
    return [
      { what: 'gauges after', target: { most: 10 }, measured: (gaugeAt - begun) / 1_000, unit: 's, virtual' },
      { what: 'the first sweep takes', target: null, measured: firstMs / 1_000, unit: 's, virtual' },
      { what: 'handled by the first sweep', target: null, measured: afterOne, unit: 'nodes' },
      { what: 'handled by two sweeps', target: { least: NODES }, measured: silent.size, unit: 'nodes' },
    ];
  },
};

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
