/**
 * `npm run test:seeds`: puts each seeded fault into a copy of the sources, and requires that its test, green without the
 * fault, is red with it. Exit code 1 when a fault survives.
 */
// @ts-nocheck

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Fault, FAULTS, snippet } from './faults.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCES = [
  'core',
  'functions',
  'agent',
  'cli',
  'local',
  'infra',
  'test',
  'docs',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];
const WORKERS = 2;

type Assertion = { title: string; status: string };
type Verdict = 'caught' | 'survived' | 'did not run';

function copySources(): string {
  const dir = mkdtempSync(join(tmpdir(), 'holdoff-seeds-'));
  for (const name of SOURCES) {
    if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(dir, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  return dir;
}

/** Runs tests and gives what each said, by its title; nothing when the run broke before its tests. */
async function runTests(dir: string, files: readonly string[], title: string | null): Promise<Assertion[]> {
  const report = join(dir, 'report.json');
  rmSync(report, { force: true });
  const named = title === null ? [] : ['-t', title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)];
  const child = spawn(
    process.execPath,
    [
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...files,
      ...named,
      '--reporter=json',
      `--outputFile=${report}`,
    ],
    { cwd: dir, stdio: 'ignore' },
  );
  await new Promise<void>((done, broken) => {
    child.once('error', broken);
    child.once('close', () => done());
  });
  if (!existsSync(report)) return [];
  // The form of vitest's own JSON reporter.
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { assertionResults: Assertion[] }[];
  };
  return testResults.flatMap(({ assertionResults }) => assertionResults);
}

async function tryFault(dir: string, fault: Fault): Promise<Verdict> {
  const path = join(dir, fault.file);
  const sound = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    sound.replace(snippet(fault), () => fault.replace),
  );
  try {
    const said = await runTests(dir, [fault.test.file], fault.test.title);
    const own = said.filter(
      ({ title, status }) => title === fault.test.title && (status === 'passed' || status === 'failed'),
    );
    if (own.length === 0) return 'did not run';
    return own.every(({ status }) => status === 'failed') ? 'caught' : 'survived';
  } finally {
    writeFileSync(path, sound);
  }
}

const only = process.argv.slice(2);
const faults = only.length === 0 ? FAULTS : FAULTS.filter(({ id }) => only.includes(id));
const began = Date.now();
const dirs = Array.from({ length: WORKERS }, copySources);
let bad = faults.length === 0;
try {
  const green = new Map<string, Assertion[]>();
  const queues = { tests: [...new Set(faults.map(({ test }) => test.file))], faults: [...faults] };
  const verdicts = new Map<string, Verdict>();
  await Promise.all(
    dirs.map(async (dir) => {
      for (let file = queues.tests.shift(); file !== undefined; file = queues.tests.shift()) {
        const titles = [...new Set(faults.filter(({ test }) => test.file === file).map(({ test }) => test.title))];
        // Only the tests that the faults name: an agent's file has many that take their time.
        const said: Assertion[] = [];
        if (file.startsWith('test/agent/'))
          for (const title of titles) said.push(...(await runTests(dir, [file], title)));
        else said.push(...(await runTests(dir, [file], null)));
        green.set(file, said);
      }
      for (let fault = queues.faults.shift(); fault !== undefined; fault = queues.faults.shift()) {
        verdicts.set(fault.id, await tryFault(dir, fault));
      }
    }),
  );
  for (const { id, file, test } of faults) {
    const sound =
      green.get(test.file)?.some(({ title, status }) => title === test.title && status === 'passed') === true;
    const verdict = sound ? (verdicts.get(id) ?? 'did not run') : 'not green without the fault';
    if (verdict !== 'caught') bad = true;
    console.log(
      `${verdict === 'caught' ? 'ok  ' : 'BAD '} ${id.padEnd(14)} ${verdict.padEnd(12)} ${file.padEnd(24)} ${test.file} > ${test.title}`,
    );
  }
} finally {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
}
console.log(
  `${faults.length} faults in ${Math.round((Date.now() - began) / 1000)} s: ${bad ? 'not every one was caught' : 'every one was caught'}`,
);
process.exitCode = bad ? 1 : 0;
