/**
 * Runs of hooks that outlive an agent which is killed: each is written down with its process before it counts as begun,
 * so that the next agent waits for it, or ends it, before it runs anything in the same place. Never two at once.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { readIfThere, removeDurably, writeDurably } from './durable.ts';
import { isShortage, messageOf, systemCode } from './failure.ts';
import { isRunning } from './process-identity.ts';
import { Runs, type RunView } from './runs.ts';

const runSchema = z.object({
  id: z.string(),
  hook: z.string(),
  bootId: z.string(),
  /** Seconds since that boot. */
  since: z.number(),
  process: z.nullable(z.object({ pid: z.number(), startTime: z.string() })),
});
type HookRun = z.infer<typeof runSchema>;

export type HookRunsOptions = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly bootId: () => string;
  /** Seconds since that boot. */
  readonly uptime: () => number;
  readonly ended: AbortSignal;
};

const LOOK_EVERY_MS = 50;

export class HookRuns {
  readonly #options: HookRunsOptions;
  /** What is under way in each slot, in this process. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(options: HookRunsOptions) {
    this.#options = options;
  }

  /**
   * Runs a command in a slot: the same hook left there by an earlier agent is waited for and its end taken; another one is
   * ended first. Null when it ends with 0. Throws when it cannot be written down: then it has not begun.
   */
  run(slot: string, hook: string, command: readonly string[], timeoutMs: number): Promise<string | null> {
    return this.#alone(slot, async () => {
      const left = this.#load(slot);
      if (left === null) await this.#endUnknown(slot);
      else if (left.hook !== hook) await this.#end(slot, left);
      const run = left?.hook === hook ? left : this.#begin(slot, hook, command);
      const view = await this.#over(slot, run, timeoutMs);
      this.#forget(slot);
      // Written down, and its agent died before it began: as if nobody had asked.
      if (view.kind === 'never') return left === null ? 'could not be started' : 'was not begun before its agent died';
      return view.failure;
    });
  }

  /** Ends what an earlier agent has left in a slot. */
  end(slot: string): Promise<void> {
    return this.#alone(slot, async () => {
      const left = this.#load(slot);
      if (left === null) await this.#endUnknown(slot);
      else await this.#end(slot, left);
    });
  }

  /** Ends all that earlier agents have left: for one that does not know any more what they were for. */
  async endAll(): Promise<void> {
    for (const slot of this.#slots()) await this.end(slot);
  }

  async #alone<T>(slot: string, act: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(slot) ?? Promise.resolve();
    const turn = before.then(act, act);
    this.#turns.set(slot, turn);
    return turn;
  }

  #begin(slot: string, hook: string, command: readonly string[]): HookRun {
    const { bootId, uptime } = this.#options;
    const since = uptime();
    const run: HookRun = { id: `${hook}-${Math.round(since * 1000)}`, hook, bootId: bootId(), since, process: null };
    this.#save(slot, run);
    const begun = { ...run, process: this.#runs(slot).start(run.id, command, { HOLDOFF_HOOK: hook }) };
    try {
      this.#save(slot, begun);
    } catch (error) {
      // It runs: what cannot be written of it any more is found by its claim.
      if (systemCode(error) === null) throw error;
    }
    return begun;
  }

  /** Waits for its end, or makes it end: with its time, or with the agent. */
  async #over(slot: string, run: HookRun, timeoutMs: number): Promise<Exclude<RunView, { kind: 'runs' }>> {
    const { uptime, ended } = this.#options;
    for (;;) {
      const late = (uptime() - run.since) * 1000 >= timeoutMs;
      const why = ended.aborted ? 'was ended with the agent' : late ? `took longer than ${timeoutMs / 1000} s` : null;
      const view = this.#look(slot, run, why);
      if (view.kind !== 'runs') {
        if (why !== null) await gone(run);
        return view;
      }
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Where there are no descriptors left to look with, it is not known to have ended. */
  #look(slot: string, run: HookRun, why: string | null): RunView {
    try {
      return this.#runs(slot).look(run.id, run.process, why);
    } catch (error) {
      if (isShortage(error)) return { kind: 'runs' };
      throw error;
    }
  }

  async #end(slot: string, run: HookRun): Promise<void> {
    this.#runs(slot).look(run.id, run.process, 'was ended by the agent that found it');
    await gone(run);
    this.#forget(slot);
  }

  /** What may have been left there by an agent whose record of it is lost. */
  async #endUnknown(slot: string): Promise<void> {
    while (this.#runs(slot).endLeft()) await sleep(LOOK_EVERY_MS);
  }

  #runs(slot: string): Runs {
    return new Runs(join(this.#options.folder, slot), this.#options.env);
  }

  /** Null when nothing was left there, or only by an agent of another boot: its processes are gone. */
  #load(slot: string): HookRun | null {
    const text = readIfThere(this.#file(slot));
    if (text === null) return null;
    try {
      const parsed = runSchema.safeParse(JSON.parse(text));
      return parsed.success && parsed.data.bootId === this.#options.bootId() ? parsed.data : null;
    } catch (error) {
      if (error instanceof SyntaxError) return null;
      throw error;
    }
  }

  #save(slot: string, run: HookRun): void {
    writeDurably(this.#file(slot), `${JSON.stringify(run)}\n`);
  }

  /** What cannot be removed is found again, has ended, and is taken as the end of a run: its own end. */
  #forget(slot: string): void {
    try {
      removeDurably(this.#file(slot));
    } catch (error) {
      if (systemCode(error) === null) throw new Error(messageOf(error), { cause: error });
    }
  }

  #slots(): string[] {
    try {
      const names = readdirSync(this.#options.folder).filter((name) => !name.endsWith('.new'));
      return [...new Set(names.map((name) => name.replace(/\.json$/, '')))];
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  #file(slot: string): string {
    return join(this.#options.folder, `${slot}.json`);
  }
}

/** The kernel takes a moment to end what is killed. */
async function gone({ process }: HookRun): Promise<void> {
  while (process !== null && isRunning(process)) await sleep(LOOK_EVERY_MS);
}
