/** Faults of the agent, whose tests start it as a process: each is put into a copy of the sources, on the disk. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fault, snippet } from './faults.ts';
import { type Verdict, verdictOf } from './verdict.ts';

const SOURCES = ['core', 'functions', 'client', 'agent', 'local', 'test', 'package.json', 'tsconfig.json'];
/** These tests wait for processes most of the time. */
const AT_ONCE = 4;

type Assertion = { title: string; status: string };

function copySources(root: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'holdoff-seeds-'));
  for (const name of [...SOURCES, 'vitest.config.ts']) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(dir, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  return dir;
}

/** Runs tests and gives what each said; nothing when the run broke before its tests. */
async function runTests(dir: string, faults: readonly Fault[]): Promise<Assertion[]> {
  const report = join(dir, 'report.json');
  rmSync(report, { force: true });
  const files = [...new Set(faults.map(({ test }) => test.file))];
  const titles = faults.map(({ test }) => test.title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const vitest = join(dir, 'node_modules/vitest/vitest.mjs');
  const named = ['-t', `(?:${titles.join('|')})$`, '--reporter=json', `--outputFile=${report}`];
  const child = spawn(process.execPath, [vitest, 'run', ...files, ...named], { cwd: dir, stdio: 'ignore' });
  await new Promise<void>((done, broken) => {
    child.once('error', broken);
    child.once('close', () => done());
  });
  if (!existsSync(report)) return [];
  // The form of vitest's own JSON reporter.
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { assertionResults: Assertion[] }[];
  };
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed' || status === 'failed');
}

const passed = (said: readonly Assertion[], { test }: Fault): boolean[] =>
  said.filter(({ title }) => title === test.title).map(({ status }) => status === 'passed');

async function tryFault(dir: string, fault: Fault): Promise<Assertion[]> {
  const path = join(dir, fault.file);
  const sound = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    sound.replace(snippet(fault), () => fault.replace),
  );
  try {
    return await runTests(dir, [fault]);
  } finally {
    writeFileSync(path, sound);
  }
}

/** @returns the verdict of each, by its id */
export async function tryOnProcesses(root: string, faults: readonly Fault[]): Promise<Map<string, Verdict>> {
  if (faults.length === 0) return new Map();
  const dirs = Array.from({ length: Math.min(AT_ONCE, faults.length + 1) }, () => copySources(root));
  const said = new Map<string, Assertion[]>();
  let sound: Assertion[] = [];
  // All of them without a fault is the first piece of work, and the longest.
  const queue: ((dir: string) => Promise<void>)[] = [
    async (dir) => {
      sound = await runTests(dir, faults);
    },
    ...faults.map((fault) => async (dir: string) => {
      said.set(fault.id, await tryFault(dir, fault));
    }),
  ];
  try {
    await Promise.all(
      dirs.map(async (dir) => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) await next(dir);
      }),
    );
  } finally {
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  }
  return new Map(
    faults.map((fault) => [fault.id, verdictOf(passed(sound, fault), passed(said.get(fault.id) ?? [], fault))]),
  );
}
