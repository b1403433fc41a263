/** Hooks and scripts that leave something running behind. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HookRuns } from '../../agent/hook-runs.ts';
import { captureCommand } from '../../agent/hooks.ts';
import { alive, until } from './scene.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdoff-hooks-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const env = { PATH: process.env['PATH'] };
/** Far longer than the test may take: only a wait for what was left running would last so long. */
const LONG = 600_000;

test.each([
  ['in a session of its own', 'setsid sleep 300'],
  ['in the same group', 'sleep 300'],
])('a hook that ends and leaves a process %s has ended, and what it left lives on', async (_where, daemon) => {
  const script = `${daemon} & echo $! > "${dir}/pid"; echo ready`;
  const result = await captureCommand(['/bin/sh', '-c', script], env, LONG, new AbortController().signal);
  expect(result).toEqual({ failure: null, out: 'ready' });
  const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
  expect(alive(pid)).toBe(true);
  process.kill(pid, 'SIGKILL');
});

test('a hook that takes too long is killed with what it started', async () => {
  const script = `sleep 300 & echo $! > "${dir}/pid"; wait`;
  const result = await captureCommand(['/bin/sh', '-c', script], env, 300, new AbortController().signal);
  expect(result.failure).toBe('took longer than 0.3 s');
  const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
  await until('the end of what it had started', () => !alive(pid));
});

describe('a hook that an agent before this one has left running', () => {
  const runs = (): HookRuns =>
    new HookRuns({
      folder: join(dir, 'runs'),
      env: { ...env, OUT: dir },
      bootId: () => 'b1',
      uptime: () => performance.now() / 1000,
      ended: new AbortController().signal,
    });
  const slow = [
    '/bin/sh',
    '-c',
    'echo begins >> "$OUT/journal"; while [ ! -e "$OUT/go" ]; do sleep 0.02; done; echo ends >> "$OUT/journal"',
  ];
  const journal = (): string => readFileSync(join(dir, 'journal'), 'utf8');
  const record = (): string => join(dir, 'runs/drain.json');
  const left = (): Promise<string | null> => runs().run('drain', 'drain', slow, LONG);

  test.each(['lost', 'gone'])('and whose record is %s is ended before anything runs in its place', async (how) => {
    const before = left();
    await until('the hook', () => existsSync(join(dir, 'journal')));
    if (how === 'gone') rmSync(record());
    else writeFileSync(record(), '{"id');
    expect(
      await runs().run(
        'drain',
        'drain',
        ['/bin/sh', '-c', 'touch "$OUT/go"; sleep 0.2; echo next >> "$OUT/journal"'],
        LONG,
      ),
    ).toBeNull();
    expect(journal()).toBe('begins\nnext\n');
    expect(await before).toBe('ended without a result');
  });

  test('is ended with all others by an agent that has lost its record, also where only its files are left', async () => {
    const before = left();
    await until('the hook', () => existsSync(join(dir, 'journal')));
    rmSync(record());
    await runs().endAll();
    writeFileSync(join(dir, 'go'), '');
    expect(await before).toBe('ended without a result');
    expect(journal()).toBe('begins\n');
  });
});
