/** The end of a simulation in a few lines for people. */
import type { Summary } from './summary.ts';
import { clock } from './wording.ts';

/** Only lines that have something to say. */
export function summaryText(summary: Summary): string[] {
  const { starts, failures, lastRecoveredAt, longestWait, timers, sweeps, updates, vms, nodes } = summary;
  const lines: [string, string][] = [];
  if (starts.total > 0) {
    const busiest =
      starts.busiestSecond === null
        ? ''
        : `; busiest second: ${starts.busiestSecond.retries} retries at ${clock(starts.busiestSecond.at)}`;
    lines.push(['starts', `${starts.total}, of which ${starts.retries} retries${busiest}`]);
  }
  const counted = [
    count(failures.start, 'start failure'),
    count(failures.unstable, 'unstable run'),
    count(failures.nodeCrashes, 'node crash', 'node crashes'),
  ].filter((text) => text !== null);
  lines.push(['counted', counted.length === 0 ? 'no failure' : counted.join(', ')]);
  if (updates.begun > 0) {
    const attempts =
      updates.mostByOneNode === null
        ? ''
        : `; most attempts of one node: ${updates.mostByOneNode.begun} (${updates.mostByOneNode.subject.replace('/', ' ')})`;
    lines.push(['updates', `${updates.begun} begun, ${updates.completed} completed${attempts}`]);
  }
  if (longestWait !== null)
    lines.push([
      'waits',
      `the longest was ${Number(longestWait.seconds.toFixed(1))} s (${longestWait.subject.replace('/', ' ')})`,
    ]);
  if (lastRecoveredAt !== null)
    lines.push(['recovery', `the last came to run, or was updated, at ${clock(lastRecoveredAt)}`]);
  if (timers.vernier + timers.scheduler > 0)
    lines.push([
      'timers',
      `${timers.vernier} acted on by the vernier, ${timers.scheduler} by Scheduler, at most ${timers.latestSeconds} s late; ${timers.stale} came when nobody waited any more`,
    ]);
  if (sweeps.found > 0)
    lines.push(['sweeps', `${sweeps.run} run, ${sweeps.found} found something that a timer had not brought`]);
  const states = [...shown('VM', vms), ...shown('node', nodes)];
  if (states.length > 0) lines.push(['at the end', states.join(', ')]);
  return ['  Summary', ...lines.map(([label, text]) => `    ${label.padEnd(11)} ${text}`)];
}

const count = (n: number, one: string, many = `${one}s`): string | null =>
  n === 0 ? null : `${n} ${n === 1 ? one : many}`;

const shown = (what: string, counts: Readonly<Record<string, number>>): string[] =>
  Object.entries(counts).map(([state, n]) => `${n} ${what}${n === 1 ? '' : 's'} ${state}`);
