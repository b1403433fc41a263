/**
 * Runs a script so that its end is known whatever becomes of the agent meanwhile: it is a session of its own, what it
 * prints goes to files, and a fixed line of shell writes its exit code down. Nothing of a request is part of that line.
 */
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from './durable.ts';
import { systemCode } from './failure.ts';
import { signalGroup } from './process-group.ts';
import { identify, identifyIfPossible, isRunning, type ProcessIdentity, readProcFile } from './process-identity.ts';

/** `ended` is null while it runs. */
export type RunView =
  | { kind: 'runs' }
  | { kind: 'ended'; failure: string | null; out: string }
  /** It was never begun, and will not be: the agent died before it. */
  | { kind: 'never' };

/** Whoever makes the folder `claim` decides whether the script runs: the shell, or an agent that finds no process. */
const LINE = [
  'mkdir "$HOLDOFF_RUN.claim" 2>/dev/null || exit 125',
  'printf %s $$ > "$HOLDOFF_RUN.pid.new" && mv -f "$HOLDOFF_RUN.pid.new" "$HOLDOFF_RUN.pid"',
  '"$@"',
  'code=$?',
  'printf %s "$code" > "$HOLDOFF_RUN.exit.new" && mv -f "$HOLDOFF_RUN.exit.new" "$HOLDOFF_RUN.exit"',
].join('; ');
const TEXT_MAX = 64 * 1024;
const SAID_MAX = 300;

export class Runs {
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(folder: string, env: Readonly<Record<string, string | undefined>>) {
    this.#folder = folder;
    this.#env = env;
  }

  /** Starts a script under an id that was written down before. Null when it could not be started at all. */
  start(id: string, script: readonly string[], env: Readonly<Record<string, string>>): ProcessIdentity | null {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#tidy();
    const [out, err] = [openSync(this.#file(id, 'out'), 'w', 0o600), openSync(this.#file(id, 'err'), 'w', 0o600)];
    try {
      const child = spawn('/bin/sh', ['-c', LINE, 'sh', ...script], {
        stdio: ['ignore', out, err],
        env: { ...this.#env, ...env, HOLDOFF_RUN: join(this.#folder, id) },
        cwd: '/',
        detached: true,
      });
      // A shell that cannot be started shows as a run that nobody has claimed.
      child.on('error', () => undefined);
      child.unref();
      return child.pid === undefined ? null : identifyIfPossible(child.pid);
    } finally {
      closeSync(out);
      closeSync(err);
    }
  }

  /** What has become of it. A script that is over its time is killed with all it started. */
  look(id: string, known: ProcessIdentity | null, overdue: string | null): RunView {
    const process = known ?? this.#claimed(id);
    if (process === 'nobody') return { kind: 'never' };
    // In this order: a script that ends between the two looks has left its result by the second.
    const runs = process !== null && isRunning(process);
    const code = readIfThere(this.#file(id, 'exit'));
    const out = (): string => readPart(this.#file(id, 'out'), 'head').trim();
    if (code !== null)
      return { kind: 'ended', failure: code === '0' ? null : this.#say(id, `ended with ${code}`), out: out() };
    if (!runs) return { kind: 'ended', failure: this.#say(id, 'ended without a result'), out: out() };
    if (overdue === null) return { kind: 'runs' };
    signalGroup(process.pid, 'SIGKILL');
    return { kind: 'ended', failure: this.#say(id, overdue), out: out() };
  }

  /** The process of a run whose start nobody saw. With the claim taken here, no shell that is late begins it. */
  #claimed(id: string): ProcessIdentity | 'nobody' | null {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    try {
      mkdirSync(this.#file(id, 'claim'));
      return 'nobody';
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    const pid = Number(readIfThere(this.#file(id, 'pid')) ?? '0');
    return pid === 0 ? null : identify(pid);
  }

  /**
   * Ends what is left here of runs that nobody has a record of, and lets none that is late begin. True while something of
   * them still lives.
   */
  endLeft(): boolean {
    const ids = new Set(namesIn(this.#folder).flatMap((name) => /^(.+)\.(?:out|claim)$/.exec(name)?.[1] ?? []));
    return [...ids].filter((id) => this.#endLeft(id)).length > 0;
  }

  #endLeft(id: string): boolean {
    const process = this.#claimed(id);
    // The number may have been given to another process since, in another boot as well.
    if (process === 'nobody' || process === null || !this.#isOf(id, process.pid)) return false;
    signalGroup(process.pid, 'SIGKILL');
    return isRunning(process);
  }

  /** Whether a process is the shell of a run: it has it in its environment. */
  #isOf(id: string, pid: number): boolean {
    const environment = (readProcFile(pid, 'environ') ?? '').split('\0');
    return environment.includes(`HOLDOFF_RUN=${join(this.#folder, id)}`);
  }

  /** What earlier runs have left. Only when another begins: a claim must outlive a shell that is late. */
  #tidy(): void {
    for (const name of namesIn(this.#folder)) rmSync(join(this.#folder, name), { recursive: true, force: true });
  }

  #say(id: string, what: string): string {
    const said = readPart(this.#file(id, 'err'), 'tail').trim() || readPart(this.#file(id, 'out'), 'tail').trim();
    const last = said.split('\n').at(-1)?.slice(0, SAID_MAX) ?? '';
    return last === '' ? what : `${what}: ${last}`;
  }

  #file(id: string, kind: 'out' | 'err' | 'exit' | 'claim' | 'pid'): string {
    return join(this.#folder, `${id}.${kind}`);
  }
}

/** What is in a folder; nothing, when there is none. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The beginning or the end of a text of any length; empty when there is none. */
function readPart(file: string, part: 'head' | 'tail'): string {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, TEXT_MAX));
    const read = readSync(fd, bytes, 0, bytes.length, part === 'head' ? 0 : size - bytes.length);
    return bytes.toString('utf8', 0, read);
  } finally {
    closeSync(fd);
  }
}
