/**
 * Hooks: programs of this node's owner that the API can ask for by name and in no other way. The list stands in a file of
 * the node; there is no shell, and nothing of a request reaches a command line.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { hookName } from '../core/kit/schema.ts';
import { AgentError, messageOf } from './failure.ts';
import type { HookRuns } from './hook-runs.ts';
import { signalGroup } from './process-group.ts';

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

/** Where a hook runs: of two in one slot the second waits for the first, or ends it. */
export type HookPlace = {
  readonly slot: string;
  /** It takes something back: it is run also where its run cannot be written down. */
  readonly undoes?: boolean;
};
export type HookRunner = (name: string, timeoutMs: number, place: HookPlace) => Promise<HookResult>;

/** Runs hooks by name; each gets a bare environment and ends with its time, or with an agent that ends in good order. */
export function createHookRunner(
  hooks: Hooks,
  runs: HookRuns,
  env: Readonly<Record<string, string | undefined>>,
  ended: AbortSignal,
): HookRunner {
  return async (name, timeoutMs, { slot, undoes = false }) => {
    const command = Object.hasOwn(hooks, name) ? hooks[name] : undefined;
    if (command === undefined) {
      return { known: false, failure: `hook ${name} is not on this node's list (--hooks)` };
    }
    const say = (failure: string | null): HookResult => ({
      known: true,
      failure: failure === null ? null : `hook ${name} ${failure}`,
    });
    try {
      return say(await runs.run(slot, name, command, timeoutMs));
    } catch (error) {
      if (undoes) return say(await runCommand(command, { ...env, HOLDOFF_HOOK: name }, timeoutMs, ended));
      return say(`was not begun, since its run cannot be written down: ${messageOf(error)}`);
    }
  };
}

const SAID_MAX = 300;

const OUT_MAX = 64 * 1024;
/** After its exit, for what it printed before. */
const LEFT_TO_READ_MS = 500;

/** Null when the command ends with 0. A command that takes too long is killed with what it started. */
export const runCommand = async (...how: Parameters<typeof captureCommand>): Promise<string | null> =>
  (await captureCommand(...how)).failure;

/** The same, with what it printed to its standard output. */
export function captureCommand(
  [program = '', ...args]: readonly string[],
  env: Record<string, string | undefined>,
  timeoutMs: number,
  ended: AbortSignal,
): Promise<{ failure: string | null; out: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env, detached: true });
    // First of all: without descriptors left it is said so here, and there are no pipes below.
    child.on('error', (error) => resolve({ failure: `could not be started: ${error.message}`, out: '' }));
    if (child.pid === undefined) return;
    let said = '';
    let out = '';
    const listen = (chunk: string): void => {
      said = (said + chunk).slice(-SAID_MAX * 2);
    };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (out.length < OUT_MAX) out += chunk;
    });
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', listen);
    let cut: string | null = null;
    const kill = (why: string): void => {
      cut = why;
      // The group, and nothing else: it is a session of its own.
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
    };
    const late = setTimeout(() => kill(`took longer than ${timeoutMs / 1000} s`), timeoutMs);
    const stop = (): void => kill('was ended with the agent');
    ended.addEventListener('abort', stop, { once: true });
    const finish = (failure: string | null): void => {
      clearTimeout(late);
      ended.removeEventListener('abort', stop);
      resolve({ failure, out: out.trim() });
    };
    let unread: NodeJS.Timeout | undefined;
    child.on('exit', () => {
      // What it leaves running is not ours to kill, nor to wait for: it may hold the pipes for ever.
      clearTimeout(late);
      ended.removeEventListener('abort', stop);
      unread = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, LEFT_TO_READ_MS);
    });
    child.on('close', (code, signal) => {
      clearTimeout(unread);
      if (code === 0) return finish(null);
      const last = said.trim().split('\n').at(-1)?.slice(0, SAID_MAX) ?? '';
      return finish([cut ?? `ended with ${code ?? signal ?? '?'}`, last].filter((part) => part !== '').join(': '));
    });
  });
}
