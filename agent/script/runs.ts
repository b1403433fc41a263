/**
 * Runs a script so that its end is known whatever becomes of the agent meanwhile: it is a session of its own, what it
 * prints goes to files, and a fixed line of shell writes its exit code down. Nothing of a request is part of that line.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../durable.ts';
import { systemCode } from '../failure.ts';
import { identify, isRunning, type ProcessIdentity } from '../process-identity.ts';

/** `ended` is null while it runs. */
export type RunView = { ended: { failure: string | null; out: string } | null };

const LINE =
  '"$@"; code=$?; printf %s "$code" > "$HOLDOFF_RESULT.new" && mv -f "$HOLDOFF_RESULT.new" "$HOLDOFF_RESULT"';
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
    mkdirSync(this.#folder, { recursive: true });
    const [out, err] = [openSync(this.#file(id, 'out'), 'w', 0o600), openSync(this.#file(id, 'err'), 'w', 0o600)];
    try {
      const child = spawn('/bin/sh', ['-c', LINE, 'sh', ...script], {
        stdio: ['ignore', out, err],
        env: { ...this.#env, ...env, HOLDOFF_RESULT: this.#file(id, 'exit') },
        cwd: '/',
        detached: true,
      });
      // A shell that cannot be started shows as a run without a process and without a result.
      child.on('error', () => undefined);
      child.unref();
      return child.pid === undefined ? null : identify(child.pid);
    } finally {
      closeSync(out);
      closeSync(err);
    }
  }

  /** What has become of it. A script that is over its time is killed with all it started. */
  look(id: string, process: ProcessIdentity | null, overdue: string | null): RunView {
    // In this order: a script that ends between the two looks has left its result by the second.
    const runs = process !== null && isRunning(process);
    const code = readIfThere(this.#file(id, 'exit'));
    if (code !== null)
      return { ended: { failure: code === '0' ? null : this.#say(id, `ended with ${code}`), out: this.#out(id) } };
    if (!runs) return { ended: { failure: this.#say(id, 'ended without a result'), out: this.#out(id) } };
    if (overdue === null) return { ended: null };
    killGroup(process.pid);
    return { ended: { failure: this.#say(id, overdue), out: this.#out(id) } };
  }

  /** Removes what all runs but this one have left. */
  tidy(kept: string | null): void {
    for (const name of namesIn(this.#folder))
      if (kept === null || !name.startsWith(`${kept}.`)) rmSync(join(this.#folder, name), { force: true });
  }

  #say(id: string, what: string): string {
    const said = (readIfThere(this.#file(id, 'err')) ?? '').trim() || this.#out(id);
    const last = said.split('\n').at(-1)?.slice(0, SAID_MAX) ?? '';
    return last === '' ? what : `${what}: ${last}`;
  }

  #out(id: string): string {
    return (readIfThere(this.#file(id, 'out')) ?? '').slice(0, TEXT_MAX).trim();
  }

  #file(id: string, kind: 'out' | 'err' | 'exit'): string {
    return join(this.#folder, `${id}.${kind}`);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}
