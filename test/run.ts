/**
 * `npm test`: the two projects of `vitest.config.ts` side by side, those tests that compute and those that wait. Arguments
 * are vitest's own: `npm test -- test/vm -t deadline`. What the waiting ones say is printed when the others are done.
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const VITEST = resolve(ROOT, 'node_modules/vitest/vitest.mjs');
/** vitest says so, whatever its reporter is. */
const NOTHING_THERE = 'No test files found';

type Ended = { code: number; said: string };

/** @param show receives what is printed, as it comes */
function runProject(project: string, args: readonly string[], show: (text: string) => void): Promise<Ended> {
  const child = spawn(process.execPath, [VITEST, 'run', '--project', project, '--passWithNoTests', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}), ...process.env },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      show(text);
    });
  }
  return new Promise((done, broken) => {
    child.once('error', broken);
    child.once('close', (code) => done({ code: code ?? 1, said }));
  });
}

const args = process.argv.slice(2);
// Real guests need a hypervisor: `npm run test:qemu`.
const withoutGuests = args.some((arg) => arg.startsWith('test/qemu')) ? [] : ['--exclude', 'test/qemu/**'];
const [computing, waiting] = await Promise.all([
  runProject('computing', args, (text) => process.stdout.write(text)),
  runProject('waiting', [...args, ...withoutGuests], () => undefined),
]);
process.stdout.write(waiting.said);
const nothing = [computing, waiting].every(({ said }) => said.includes(NOTHING_THERE));
if (nothing) process.stdout.write(`\nno test is there for: ${args.join(' ')}\n`);
process.exitCode = nothing ? 1 : Math.max(computing.code, waiting.code);
