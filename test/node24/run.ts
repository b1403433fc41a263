/**
 * `npm run test:node24`: the suites for which the runtime can make a difference, under that of the deployed functions.
 * The bundles themselves run on it in `npm run test:deploy`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, resolve } from 'node:path';
import { installNode24 } from './binary.ts';

const repository = resolve(import.meta.dirname, '../..');

/** The embedded AWS with the handlers on it, the adapters, and the handlers' bundles; decisions are the same on any Node. */
const SUITES = [
  'test/local/',
  'test/system/requests',
  'test/system/restore',
  'test/system/store',
  'test/node/handlers',
  'test/vm/handlers',
  'test/infra/bundles',
];

const node = await installNode24();
process.stdout.write(`Node 24: ${node}\n`);
const vitest = resolve(repository, 'node_modules/vitest/vitest.mjs');
const child = spawn(node, [vitest, 'run', ...SUITES], {
  cwd: repository,
  stdio: 'inherit',
  // Programs that a test starts by name run on it too.
  env: { ...process.env, PATH: `${dirname(node)}:${process.env['PATH'] ?? ''}` },
});
// Only ever an exit code or the name of a signal.
const [code] = (await once(child, 'exit')) as [number | null];
process.exitCode = code ?? 1;
