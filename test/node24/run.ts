/**
 * `npm run test:node24`: the suites that run the product in process, under the runtime of the deployed functions. The
 * rest of the tests start processes of their own, or look at files and templates: for those the runtime makes no difference.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, resolve } from 'node:path';
import { installNode24 } from './binary.ts';

const repository = resolve(import.meta.dirname, '../..');

/** Decisions, the shell around them, the AWS adapters against the stand-ins, and the CLI. */
const SUITES = ['api', 'cases', 'cli', 'local', 'properties', 'scenarios', 'spec'];

const node = await installNode24();
const suites = SUITES.map((suite) => `test/${suite}/`);
process.stdout.write(`Node 24: ${node}\n`);
const vitest = resolve(repository, 'node_modules/vitest/vitest.mjs');
const child = spawn(node, [vitest, 'run', ...suites], {
  cwd: repository,
  stdio: 'inherit',
  // Programs that a test starts by name run on it too.
  env: { ...process.env, PATH: `${dirname(node)}:${process.env['PATH'] ?? ''}` },
});
// Only ever an exit code or the name of a signal.
const [code] = (await once(child, 'exit')) as [number | null];
process.exitCode = code ?? 1;
