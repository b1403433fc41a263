/** One invocation of a handler as a process: each external call is numbered, and it may die at any of them. */
import { nextTick } from 'node:process';
import type { Cloud } from './cloud.ts';

/**
 * Where a process dies: before a call has reached its service, or after it took effect and before its answer came.
 * The calls from `lostFrom` up to it were issued together with it, are still on their way, and are lost.
 */
export type Kill = { call: number; when: 'before' | 'after'; lostFrom: number };

/** One external call, and the number of the first of the calls that were under way together with it. */
export type Call = { name: string; writes: boolean; batch: number };

export type Ended<T> = { kind: 'returned'; value: T } | { kind: 'died' };

/** Processes run one at a time: what is due together happens one after the other. */
let running: Process | null = null;
const enter = (process: Process | null): void => {
  running = process;
};

/** What a dead process awaits: nothing of it ever goes on. */
const forever = <T>(): Promise<T> => new Promise<T>(() => undefined);

export class Process {
  readonly calls: Call[] = [];
  /** Names of the writes that took effect. */
  readonly effects: string[] = [];
  readonly cloud: Cloud;
  readonly #kill: Kill | null;
  readonly #death: Promise<Ended<never>>;
  #die: () => void = () => undefined;
  #dead = false;
  #inFlight = 0;
  #batch = 1;

  constructor(cloud: Cloud, kill: Kill | null) {
    this.cloud = cloud;
    this.#kill = kill;
    this.#death = new Promise((resolve) => {
      this.#die = () => resolve({ kind: 'died' });
    });
  }

  /** Runs a handler to its end, or to its death. */
  async run<T>(work: () => Promise<T>): Promise<Ended<T>> {
    enter(this);
    const ended = await Promise.race([work().then((value): Ended<T> => ({ kind: 'returned', value })), this.#death]);
    // What the dead one had begun comes to its next call, where it stays.
    if (ended.kind === 'died') await new Promise<void>((resolve) => nextTick(resolve));
    enter(null);
    return ended;
  }

  /** @param effect what the service does, in one go; its answer arrives later, as over a network */
  call<T>(name: string, writes: boolean, effect: (cloud: Cloud) => T | Promise<T>): Promise<T> {
    if (this.#dead) return forever();
    const number = this.calls.length + 1;
    if (this.#inFlight === 0) this.#batch = number;
    this.#inFlight += 1;
    this.calls.push({ name, writes, batch: this.#batch });
    const kill = this.#kill;
    if (kill !== null && number >= kill.lostFrom && number < kill.call) return forever();
    if (kill?.call === number && kill.when === 'before') return this.#end();
    const answer = attempt(() => effect(this.cloud));
    if (writes) this.effects.push(name);
    if (kill?.call === number) return this.#end();
    return new Promise((resolve, reject) => {
      // After everything that runs now has come to its next call: calls issued together are under way together.
      nextTick(() => {
        this.#inFlight -= 1;
        if (this.#dead) return;
        if ('value' in answer) resolve(answer.value);
        else reject(answer.error);
      });
    });
  }

  #end<T>(): Promise<T> {
    this.#dead = true;
    this.#die();
    return forever();
  }
}

function attempt<T>(effect: () => T | Promise<T>): { value: T | Promise<T> } | { error: Error } {
  try {
    return { value: effect() };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** An external call of the process that is running. */
export function external<T>(name: string, writes: boolean, effect: (cloud: Cloud) => T | Promise<T>): Promise<T> {
  if (running === null) throw new Error(`${name}: nobody runs`);
  return running.call(name, writes, effect);
}
