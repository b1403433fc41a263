/**
 * `npm run test:seeds`: puts each seeded fault into the sources, and requires that its test, green without the fault, is
 * red with it. Exit code 1 when a fault survives. `npm run test:seeds -- b-backoff k-cap` tries these alone.
 */
import { resolve } from 'node:path';
import { tryOnProcesses } from './fault-in-copy.ts';
import { tryInMemory } from './fault-in-memory.ts';
import { FAULTS } from './faults.ts';
import type { Verdict } from './verdict.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Tests that start the agent as a process: what they test is bundled from the disk. */
const PROCESSES = 'test/agent/';

const only = process.argv.slice(2);
const faults = only.length === 0 ? FAULTS : FAULTS.filter(({ id }) => only.includes(id));
const began = Date.now();
const onProcesses = faults.filter(({ test }) => test.file.startsWith(PROCESSES));
const inMemory = faults.filter((fault) => !onProcesses.includes(fault));
// Those of the processes mostly wait: they take their turns beside the others.
const [waited, computed] = await Promise.all([tryOnProcesses(ROOT, onProcesses), tryInMemory(ROOT, inMemory)]);
const verdicts = new Map<string, Verdict>([...waited, ...computed]);

for (const { id, file, test } of faults) {
  const verdict = verdicts.get(id) ?? 'did not run';
  const mark = verdict === 'caught' ? 'ok  ' : 'BAD ';
  console.log(`${mark} ${id.padEnd(14)} ${verdict.padEnd(12)} ${file.padEnd(24)} ${test.file} > ${test.title}`);
}
const bad = faults.length === 0 || faults.some(({ id }) => verdicts.get(id) !== 'caught');
const seconds = Math.round((Date.now() - began) / 1000);
console.log(`${faults.length} faults in ${seconds} s: ${bad ? 'not every one was caught' : 'every one was caught'}`);
process.exitCode = bad ? 1 : 0;
