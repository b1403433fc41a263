/** Child processes of the deployment test: each in a group of its own, each ended at the end, whatever happens. */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { DeployTestError } from './steps.ts';

export type Environment = Readonly<Record<string, string>>;

export interface RunOptions {
  readonly cwd: string;
  readonly env: Environment;
  /** Everything that the process says is added here. */
  readonly log: string;
  readonly timeoutSeconds: number;
}

export interface Ran {
  readonly code: number | null;
  /** What it wrote to either stream, in the order of arrival. */
  readonly output: string;
}

const running = new Set<ChildProcess>();

/** Kills what is still running, children included. Synchronous, so that it also works while this process is ending. */
export function killAll(): void {
  for (const child of running) kill(child);
}

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // Nobody is left in the group.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function launch(command: string, args: readonly string[], { cwd, env, log }: Omit<RunOptions, 'timeoutSeconds'>) {
  appendFileSync(log, `\n$ ${[command, ...args].join(' ')}\n`);
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output += text;
      appendFileSync(log, text);
    });
  }
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  }).finally(() => running.delete(child));
  return { child, ended, output: () => output };
}

/** Runs a program to its end. @throws {DeployTestError} when it takes too long; its exit code is the caller's to judge */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  const { child, ended, output } = launch(command, args, options);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    kill(child);
  }, options.timeoutSeconds * 1000);
  try {
    const code = await ended;
    if (late) throw failed(command, args, `did not end within ${options.timeoutSeconds} s`, output());
    return { code, output: output() };
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a program that must succeed. @throws {DeployTestError} with the end of what it said */
export async function mustRun(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { code, output } = await run(command, args, options);
  if (code !== 0) throw failed(command, args, `ended with exit code ${code}`, output);
  return output;
}

const failed = (command: string, args: readonly string[], how: string, output: string): DeployTestError =>
  new DeployTestError(`${[command, ...args].join(' ')} ${how}:\n${lastLines(output, 40)}`);

const lastLines = (text: string, count: number): string => text.trimEnd().split('\n').slice(-count).join('\n');

export interface Server {
  /** Null while it runs. */
  readonly exitCode: () => number | null;
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

/** Starts a program that runs until it is stopped. */
export function serve(command: string, args: readonly string[], options: Omit<RunOptions, 'timeoutSeconds'>): Server {
  const { child, ended } = launch(command, args, options);
  // Whoever waits for it learns that it could not be started by its exit code.
  ended.catch(() => undefined);
  return {
    exitCode: () => child.exitCode,
    log: () => readFileSync(options.log, 'utf8'),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      kill(child);
      await ended;
    },
  };
}
