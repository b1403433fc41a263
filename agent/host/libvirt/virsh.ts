/** libvirt as the agent calls it: virsh with an argument list, one call after the other, answers in English. */
import { execFile } from 'node:child_process';
import { AgentError } from '../../failure.ts';
import type { Environment } from '../../settings.ts';

export type Virsh = (...args: readonly string[]) => Promise<string>;

/** virsh against one connection; it throws a Host error with virsh's own words. */
export function createVirsh(program: string, uri: string, env: Environment): Virsh {
  const kept = Object.entries(env).filter(([name]) => !/^(?:AWS_|HOLDOFF_|NODE_OPTIONS$|LC_|LANG)/.test(name));
  const clean = { ...Object.fromEntries(kept), LC_ALL: 'C' };
  return (...args) =>
    new Promise((resolve, reject) => {
      execFile(
        program,
        ['-c', uri, '-q', ...args],
        { env: clean, timeout: CALL_MS, cwd: '/' },
        (error, stdout, stderr) => {
          if (error === null) resolve(stdout.trim());
          else reject(new AgentError('Host', `virsh ${args[0] ?? ''}: ${sayFailure(error, stderr)}`, { cause: error }));
        },
      );
    });
}

/** Long enough for a slow start of a guest; libvirt goes on with it if virsh is given up. */
const CALL_MS = 120_000;

function sayFailure(error: Error, stderr: string): string {
  const lines = stderr.split('\n').flatMap((line) => line.replace(/^error: /, '').trim() || []);
  return lines.length === 0 ? error.message : lines.join(': ');
}
