/**
 * Hooks: programs of this node's owner that the API can ask for by name and in no other way. The list stands in a file of
 * the node; there is no shell, and nothing of a request reaches a command line.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { hookName } from '../core/contract-pieces.ts';
import { AgentError, messageOf } from './failure.ts';

const hooksSchema = z.record(
  hookName(),
  z
    .array(z.string())
    .check(
      z.refine(
        (command) => command[0]?.startsWith('/') === true,
        'must be a list whose first item is an absolute path',
      ),
    ),
);
/** Commands by name. */
export type Hooks = Readonly<Record<string, readonly string[]>>;

/** Reads the allow-list; without a file nothing is allowed. Throws a Settings error that says what is wrong. */
export function readHooks(file: string): Hooks {
  if (file === '') return {};
  try {
    const parsed = hooksSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (parsed.success) return parsed.data;
    throw new AgentError('Settings', z.prettifyError(parsed.error));
  } catch (error) {
    throw new AgentError(
      'Settings',
      `--hooks (HOLDOFF_HOOKS): ${file} must be JSON such as {"flush": ["/usr/local/bin/flush"]}: ${messageOf(error)}`,
    );
  }
}

/** `failure` is null when it ended with 0; else the exit and the last thing it said. */
export type HookResult = { known: boolean; failure: string | null };

export type HookRunner = (name: string, timeoutMs: number) => Promise<HookResult>;

/** Runs hooks by name; each gets a bare environment and ends with its time, or with the agent. */
export function createHookRunner(
  hooks: Hooks,
  env: Record<string, string | undefined>,
  ended: AbortSignal,
): HookRunner {
  return async (name, timeoutMs) => {
    const command = Object.hasOwn(hooks, name) ? hooks[name] : undefined;
    if (command === undefined) {
      return { known: false, failure: `hook ${name} is not on this node's list (--hooks)` };
    }
    const failure = await runCommand(command, { ...env, HOLDOFF_HOOK: name }, timeoutMs, ended);
    return { known: true, failure: failure === null ? null : `hook ${name} ${failure}` };
  };
}

const SAID_MAX = 300;

/** Null when the command ends with 0. A command that takes too long is killed with what it started. */
export function runCommand(
  [program = '', ...args]: readonly string[],
  env: Record<string, string | undefined>,
  timeoutMs: number,
  ended: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env, detached: true });
    let said = '';
    const listen = (chunk: string): void => {
      said = (said + chunk).slice(-SAID_MAX * 2);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', listen);
    let cut: string | null = null;
    const kill = (why: string): void => {
      cut = why;
      // The group, and nothing else: it is a session of its own.
      if (child.pid !== undefined) killGroup(child.pid);
    };
    const late = setTimeout(() => kill(`took longer than ${timeoutMs / 1000} s`), timeoutMs);
    const stop = (): void => kill('was ended with the agent');
    ended.addEventListener('abort', stop, { once: true });
    const finish = (failure: string | null): void => {
      clearTimeout(late);
      ended.removeEventListener('abort', stop);
      resolve(failure);
    };
    child.on('error', (error) => finish(`could not be started: ${error.message}`));
    child.on('close', (code, signal) => {
      if (code === 0) return finish(null);
      const last = said.trim().split('\n').at(-1)?.slice(0, SAID_MAX) ?? '';
      return finish([cut ?? `ended with ${code ?? signal ?? '?'}`, last].filter((part) => part !== '').join(': '));
    });
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
