/** What a command can touch of the world outside: given to it, so that tests give it another. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { instant, type Instant } from '../core/kit/time.ts';

export type Io = {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly isTty: boolean;
  /** Somebody is there to answer: standard input and error are a terminal. */
  readonly canAsk: boolean;
  /** Asks on the terminal; an empty answer where input ends. */
  readonly ask: (question: string) => Promise<string>;
  /** Columns and lines of the terminal, asked anew each time: windows change. */
  readonly size: () => { readonly width: number; readonly height: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly now: () => Instant;
  readonly readFile: (path: string) => Promise<string>;
  /** The names in a folder; none where there is no such folder. */
  readonly listFolder: (path: string) => Promise<readonly string[]>;
  /** Whether a process of this user's runs. */
  readonly isAlive: (pid: number) => boolean;
  readonly readStdin: () => Promise<string>;
  /** Ends early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
};

/** The process's own streams, clock and environment. */
export function processIo(): Io {
  const interrupt = new AbortController();
  // Once: a second Ctrl-C ends the process in the usual way.
  process.once('SIGINT', () => interrupt.abort());
  // A reader that has seen enough (`| head`) closes the pipe: that is the end, not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return {
    out: (chunk) => void process.stdout.write(chunk),
    err: (chunk) => void process.stderr.write(chunk),
    isTty: process.stdout.isTTY === true,
    canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
    ask: (question) => ask(question, interrupt.signal),
    size: () => ({ width: process.stdout.columns ?? 80, height: process.stdout.rows ?? 24 }),
    env: process.env,
    cwd: process.cwd(),
    now: () => instant(Date.now()),
    readFile: (path) => readFile(path, 'utf8'),
    listFolder: async (path) => (existsSync(path) ? readdir(path) : []),
    isAlive,
    readStdin: () => text(process.stdin),
    sleep: (ms) => sleep(ms, interrupt.signal),
    interrupted: interrupt.signal,
  };
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    // No such process, or somebody else's: not one that this user has started.
    return false;
  }
}

/** Asks on standard error: standard output is for what was asked for. Ctrl-C answers nothing, which is no. */
async function ask(question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.once('SIGINT', () => process.emit('SIGINT'));
  try {
    return await lines.question(question, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    return '';
  } finally {
    lines.close();
  }
}

/** Waits, at most until the signal is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Whether output may be coloured: a terminal that can, and nobody asked for none (no-color.org). */
export const wantsColour = (io: Pick<Io, 'isTty' | 'env'>): boolean =>
  io.isTty && (io.env['NO_COLOR'] ?? '') === '' && io.env['TERM'] !== 'dumb';
