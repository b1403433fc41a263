/** Hooks and scripts that leave something running behind. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
