/**
 * A thousand nodes enrol at once: `tsx bench/herd.ts [NODES…]` (DESIGN section 10: no refusal, at most 10 requests a node,
 * all slots within a minute). On virtual AWS with its limits; the figures are counted, not timed.
 */
import { type Herd, type HerdOptions, runHerd } from '../world/herd.ts';

const sizes = process.argv.slice(2).map(Number);

const say = (text: string): void => void process.stdout.write(`${text}\n`);

function row(what: string, nodes: number, herd: Herd): void {
  const answers = [...herd.answers]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${count}× ${status === 0 ? 'none' : status}`);
  const { verb } = herd;
  const told =
    verb === null
      ? ''
      : `; the verb ${verb.status} after ${Math.round(verb.ms)} ms and ${verb.requests} requests, ${herd.begunAfterVerb} began after it`;
  say(
    `${what.padEnd(34)} ${answers.join(', ')} (${herd.enrolled} enrolled); slowest ${herd.slowestMs} ms; ${herd.told} told at once; ${herd.slots} slots (${herd.begun} begun) after ${(herd.slotsTakenMs / 1000).toFixed(1)} s; ${(herd.requests / nodes).toFixed(1)} requests a node; group ${herd.groupBytes} bytes${told}`,
  );
  if (process.env['HERD_CALLS'] === undefined) return;
  for (const [name, count] of [...herd.byCall].sort((a, b) => b[1] - a[1]))
    say(`    ${String(count).padStart(7)} ${name}`);
}

for (const nodes of sizes.length > 0 ? sizes : [1_000]) {
  const tried: [string, Partial<HerdOptions>][] = [
    ['in the same millisecond', {}],
    ['within a second', { withinMs: 1_000 }],
    ['within a minute', { withinMs: 60_000 }],
    ['paused meanwhile, then resumed', { withinMs: 1_000, operator: 'resume' }],
    ['paused in the middle', { withinMs: 1_000, operator: 'pause' }],
  ];
  for (const [what, options] of tried) {
    const herd = await runHerd({ nodes, limit: 500, seed: 1, ...options });
    row(`${nodes} ${what}`, nodes, herd);
  }
}
