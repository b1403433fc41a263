/** Keeps the agent running, as systemd would: started again a while after it ends, unless it is to be off. */
// @ts-nocheck

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

export type AgentServiceOptions = {
  readonly command: readonly string[];
  readonly env: () => Record<string, string | undefined>;
  /** Where its stderr goes; null: to ours. */
  readonly logFile: string | null;
  readonly restartAfterMs: number;
};

/** How long a SIGTERM may take before it becomes a SIGKILL. */
const STOP_MS = 5000;

export class AgentService {
  readonly #options: AgentServiceOptions;
  #child: ChildProcess | null = null;
  #restart: NodeJS.Timeout | null = null;
  #wanted = false;
  /** How often it has been started. */
  starts = 0;

  constructor(options: AgentServiceOptions) {
    this.#options = options;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  start(): void {
    this.#wanted = true;
    if (this.#child !== null) return;
    const [program, ...args] = this.#options.command;
    if (program === undefined) throw new Error('the agent command is empty');
    const log = this.#options.logFile === null ? 'inherit' : openSync(this.#options.logFile, 'a');
    const child = spawn(program, args, { stdio: ['ignore', log, log], env: this.#options.env() });
    if (typeof log === 'number') closeSync(log);
    this.#child = child;
    this.starts += 1;
    const gone = (): void => {
      if (this.#child !== child) return;
      this.#child = null;
      if (this.#wanted) this.#restart = setTimeout(() => this.start(), this.#options.restartAfterMs);
    };
    child.on('exit', gone);
    child.on('error', gone);
  }

  /** Ends the agent and keeps it off. */
  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#wanted = false;
    if (this.#restart !== null) clearTimeout(this.#restart);
    const child = this.#child;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
    });
    child.kill(signal);
    const hard = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(hard);
  }

  /** Kills the agent without warning; it is started again by itself. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }
}
