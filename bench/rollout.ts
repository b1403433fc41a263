/**
 * A rollout in one run: nodes in three groups (canaries, early, the rest at night), with its wall time, requests a node,
 * the longest wait, and whether a limit was exceeded. `tsx bench/rollout.ts [--nodes 10000] [--svg]`
 */
import { parseArgs } from 'node:util';
import { parseNodeId } from '../core/kit/ids.ts';
import { days, hours, instant, minutes } from '../core/kit/time.ts';
import { NO_CRASH } from '../core/node/record.ts';
import type { ForecastNode } from '../world/forecast/fleet.ts';
import { forecast } from '../world/forecast/forecast.ts';
import { forecastText } from '../world/forecast/print.ts';
import { forecastSvg } from '../world/forecast/svg.ts';

const { values } = parseArgs({
  options: { nodes: { type: 'string', default: '10000' }, svg: { type: 'boolean', default: false } },
});
const count = Number(values.nodes);

const groupAt = (share: number): string => (share < 0.05 ? 'canary' : share < 0.25 ? 'early' : 'night');
const nodes = Array.from({ length: count }, (_, index): ForecastNode => {
  const nodeId = parseNodeId(`i-${index.toString(16).padStart(17, '0')}`);
  if (nodeId === null) throw new Error('no node id');
  return {
    nodeId,
    group: groupAt(index / count),
    zone: null,
    currentVersion: '1.20.5',
    offered: '1.21.0',
    crash: NO_CRASH,
    blockedVersions: [],
    held: false,
    answers: true,
  };
});
const groups = {
  canary: { maxConcurrentUpdates: '25%' },
  early: { maxConcurrentUpdates: '10%', after: { group: 'canary', soak: '1h' } },
  night: {
    maxConcurrentUpdates: '5%',
    after: { group: 'early', soak: '4h' },
    windows: [{ cron: '0 22 * * *', duration: '6h' }],
    breaker: { failures: 100, within: '1d' },
  },
};
const pace = { attempt: minutes(6), failing: 0.01, learntFrom: 0 };
const began = performance.now();
const found = await forecast({
  fleet: { nodes, groups, paused: [] },
  pace,
  start: instant(Date.UTC(2026, 0, 5, 8)),
  length: days(7),
  seed: 1,
});
const wall = (performance.now() - began) / 1000;

if (values.svg) console.log(forecastSvg(found, `A rollout of ${count} nodes in three groups`));
else {
  const exceeded = Object.entries(found.groups).filter(([, { limit, most }]) => limit !== null && most > limit);
  const longest = Math.max(...Object.values(found.groups).map(({ doneAt }) => (doneAt ?? found.end) - found.start));
  console.log(forecastText(found, pace));
  console.log(
    [
      '',
      `wall time                 ${wall.toFixed(1)} s`,
      `reports a node            ${(found.requests / count).toFixed(1)}`,
      `longest until it was done ${(longest / hours(1)).toFixed(1)} h`,
      `limits exceeded           ${exceeded.length === 0 ? 'never' : exceeded.map(([name]) => name).join(', ')}`,
    ].join('\n'),
  );
}
