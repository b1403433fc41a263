/**
 * `npm run test:simulation -- --seeds 20000`: many histories on all cores. Prints what was tried, and for a failure its
 * seed, what broke, and a shrunk scenario. Exit code 1 when a guarantee broke.
 *
 *   --seeds N      how many (default 200), from --from (default 1)
 *   --random       from a fresh random seed, which is printed
 *   --for SECONDS  as many as fit in that time
 *   --seed S       one history, with its lines
 *   --bare         of a failure only its seed and what broke, nothing shrunk
 */
import { fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { shrink } from './shrink.ts';
import { type History, simulate } from './simulation.ts';
import { noTally, sayTally, type Tally, together, withHistory } from './tally.ts';
import { toScenario } from './to-scenario.ts';

type Order = { from: number; seeds: number; step: number; until: number };
type News = { kind: 'failed'; seed: number; what: string } | { kind: 'tally'; tally: Tally };

const OUT = resolve(import.meta.dirname, '../../../.simulation');

/** A worker runs every `step`-th seed and stops at its first failure. */
async function work({ from, seeds, step, until }: Order): Promise<News[]> {
  let tally = noTally();
  for (let index = 0; index < seeds && Date.now() < until; index += step) {
    const history = await simulate({ seed: from + index });
    tally = withHistory(tally, history);
    if (history.violations.length > 0)
      return [
        { kind: 'tally', tally },
        { kind: 'failed', seed: from + index, what: sayViolation(history) },
      ];
  }
  return [{ kind: 'tally', tally }];
}

async function explain(seed: number): Promise<void> {
  const history = await simulate({ seed });
  const small = await shrink(history);
  const { machines, vms, minutes, without, alone } = small.plan;
  const struck = [...small.struck.keys()].join(', ');
  console.log(
    `shrunk to ${machines} machines, ${vms} VMs, ${minutes} min${alone ? ', nobody clicking' : ''}: ${sayViolation(small)}`,
  );
  console.log(`faults left: ${struck === '' ? 'none' : struck}; ${without.length} kinds taken away`);
  const replay = await toScenario(small);
  mkdirSync(OUT, { recursive: true });
  const file = join(OUT, `seed-${seed}.json`);
  writeFileSync(file, replay.text);
  console.log(
    replay.fails
      ? `replay it: npm run holdoff -- simulate ${file}`
      : `${file} has the calls; the scenario passes, so the failure needs a process or a service to fail as well. See it: npm run test:simulation -- --seed ${seed}`,
  );
}

const sayViolation = ({ violations, start }: History): string =>
  violations
    .slice(0, 3)
    .map(({ guarantee, subject, at, what }) => `${guarantee} at ${(at - start) / 1000} s, ${subject}: ${what}`)
    .join('; ');

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '200' },
      from: { type: 'string', default: '1' },
      for: { type: 'string' },
      random: { type: 'boolean', default: false },
      seed: { type: 'string' },
      bare: { type: 'boolean', default: false },
    },
  });
  if (values.seed !== undefined) {
    const history = await simulate({ seed: Number(values.seed) }, true);
    console.log(history.lines.join('\n'));
    console.log(`\n${history.digest}`);
    if (history.violations.length > 0) await explain(Number(values.seed));
    return history.violations.length > 0 ? 1 : 0;
  }
  const from = values.random ? randomInt(1, 2 ** 31) : Number(values.from);
  const seeds = values.for === undefined ? Number(values.seeds) : 1e9;
  const until = values.for === undefined ? Infinity : Date.now() + Number(values.for) * 1000;
  if (!(seeds > 0) || !Number.isInteger(from)) throw new Error('--seeds, --from and --for take numbers');
  const began = Date.now();
  console.log(
    `seeds from ${from}${values.random ? ' (fresh; again with --from)' : ''}: ${values.for === undefined ? `${seeds} histories` : `as many as fit in ${values.for} s`}`,
  );
  const step = availableParallelism();
  const news = await Promise.all(
    Array.from({ length: step }, (_, worker) => inChild({ from: from + worker, seeds: seeds - worker, step, until })),
  );
  let tally = noTally();
  const failed: { seed: number; what: string }[] = [];
  for (const one of news.flat()) {
    if (one.kind === 'tally') tally = together(tally, one.tally);
    else failed.push(one);
  }
  console.log(sayTally(tally));
  console.log(`${Math.round((Date.now() - began) / 1000)} s on ${step} cores; ${failed.length} failed`);
  for (const { seed, what } of failed) {
    console.log(`seed ${seed}: ${what}`);
    if (!values.bare) await explain(seed);
  }
  return failed.length === 0 ? 0 : 1;
}

function inChild(order: Order): Promise<News[]> {
  return new Promise((done, broken) => {
    const child = fork(import.meta.filename, [], {
      env: { ...process.env, HOLDOFF_SIMULATION: JSON.stringify(order) },
    });
    let news: News[] | null = null;
    child.once('message', (message) => {
      news = message as News[]; // the worker below sends nothing else
    });
    child.once('error', broken);
    child.once('exit', (code) => {
      if (news === null) broken(new Error(`a worker ended with ${code ?? 'a signal'} and no result`));
      else done(news);
    });
  });
}

const order = process.env['HOLDOFF_SIMULATION'];
if (order === undefined) process.exitCode = await main();
else {
  const parsed: unknown = JSON.parse(order);
  const { until, ...rest } = parsed as Omit<Order, 'until'> & { until: number | null }; // written by `inChild`
  const news = await work({ ...rest, until: until ?? Infinity });
  process.send?.(news, () => process.disconnect());
}
