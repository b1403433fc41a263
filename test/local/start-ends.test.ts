/** Whatever ends `npm start`, nothing of it is left running, and the next one is not refused. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leaveWord } from '../../local/demo/elsewhere.ts';

const repository = resolve(import.meta.dirname, '../..');
let mark: string;
let data: string;
const begun: ChildProcess[] = [];

beforeEach(() => {
  mark = `HOLDOFF_TEST_MARK=${randomUUID()}`;
  data = mkdtempSync(join(tmpdir(), 'holdoff-start-'));
});

afterEach(() => {
  for (const pid of marked()) {
    // Only what this test began: each has its mark.
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  }
  begun.length = 0;
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
});

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
};

/** The processes that have the mark of this test in their environment, and live. */
const marked = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && read(`/proc/${name}/environ`).includes(mark))
    .map(Number);
const saying = (text: string): number[] => marked().filter((pid) => read(`/proc/${pid}/cmdline`).includes(text));

async function until(what: () => boolean, why: string): Promise<void> {
  for (const end = Date.now() + 55_000; !what(); await wait(100)) if (Date.now() > end) throw new Error(why);
}

/** As a shell in a script does it: a process group of its own, npm below. */
function start(...options: string[]): ChildProcess {
  const line = `npm start -- --plain --port 0 --data ${data} ${options.join(' ')}`;
  const child = spawn('/bin/sh', ['-c', `${line}; true`], {
    cwd: repository,
    env: { ...process.env, HOLDOFF_TEST_MARK: mark.slice(mark.indexOf('=') + 1) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  child.stdout?.resume();
  child.stderr?.resume();
  begun.push(child);
  return child;
}
const up = (): boolean => existsSync(join(data, 'local.json'));
const nothing = (): boolean => marked().length === 0;

describe.skipIf(process.platform !== 'linux')('nothing is left running of npm start', () => {
  it('when it is killed with its whole demo up', async () => {
    start();
    const isUp = (): boolean => up() && saying('local/machine/main.ts').length === 9 && saying('agent.mjs').length > 0;
    await until(isUp, 'the demo did not come up');
    const supervisor = Number(read(join(data, 'start.pid')));
    process.kill(supervisor, 'SIGKILL');
    await until(nothing, 'something is left');
    expect(marked()).toEqual([]);
  });

  it('and meanwhile the hint for a second terminal works as printed, wherever the data is', async () => {
    let said = '';
    start('--no-demo').stdout?.on('data', (chunk: Buffer) => void (said += chunk.toString()));
    await until(() => said.includes('second terminal: ') && said.includes('no demo'), 'no hint was printed');
    const hint = /second terminal: (.* -- summary) \|/.exec(said)?.[1];
    expect(execFileSync('/bin/sh', ['-c', hint ?? 'false'], { cwd: repository, encoding: 'utf8' })).toContain(
      'nodes\ttotal',
    );
  });

  it('and a second terminal that knows nothing of it finds it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdoff-second-'));
    const takeBack = leaveWord(directory, data, process.pid);
    writeFileSync(join(data, 'local.json'), 'not yet');
    const line = `node ${join(repository, 'cli/holdoff.mjs')} nodes`;
    const { HOLDOFF_DATA: _data, ...env } = process.env;
    const said = (): string => spawnSync('/bin/sh', ['-c', line], { cwd: directory, env, encoding: 'utf8' }).stderr;
    expect(said()).toContain(`${join(data, 'local.json')} does not say where`);
    takeBack();
    expect(said()).toContain(`${join(directory, '.holdoff/local.json')} does not exist`);
    rmSync(directory, { recursive: true });
  });

  it.each(['SIGHUP', 'SIGTERM'] as const)('when it gets %s, as from a terminal that is closed', async (signal) => {
    const shell = start('--no-demo');
    await until(up, 'the control plane did not come up');
    // The whole group, as the kernel does it.
    process.kill(-(shell.pid ?? 0), signal);
    await until(nothing, 'something is left');
    expect(marked()).toEqual([]);
  });

  it.each(['npm', 'sh'])('when %s above it is killed, and the next start is not refused', async (victim) => {
    const shell = start('--no-demo');
    await until(up, 'the control plane did not come up');
    const npm = marked().find((pid) => read(`/proc/${pid}/comm`).startsWith('npm'));
    const pid = victim === 'npm' ? npm : shell.pid;
    expect(pid).toBeGreaterThan(1);
    process.kill(pid ?? Number.NaN, 'SIGKILL');
    await until(
      nothing,
      `something is left: ${marked()
        .map((one) => read(`/proc/${one}/cmdline`))
        .join('; ')}`,
    );
    rmSync(join(data, 'local.json'));
    start('--no-demo');
    await until(up, 'the next start was refused');
  });
});
