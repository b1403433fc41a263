/** Rows that a command of their own prints: they take minutes, or need a browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Row } from './row.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** @throws when it ends with anything but 0 */
async function run(file: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['--no-warnings', '--import', 'tsx', file, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null]; // Node's own event
  if (code !== 0) throw new Error(`${file} ended with ${String(code)}`);
}

const command = (name: string, about: string, file: string, args: readonly string[] = []): Row => ({
  name,
  about: `${about} (${file})`,
  long: true,
  measure: async () => {
    await run(file, args);
    return [];
  },
});

export const COMMANDS: readonly Row[] = [
  command('rollout', 'a rollout of 10,000 nodes in three groups, forecast', 'bench/rollout.ts'),
  command('agent', 'what an idle agent costs its node', 'bench/agent-footprint.ts', ['--minutes', '5']),
  command('console', 'the console with 10,000 nodes, in a browser', 'test/browser/bench.ts'),
];
