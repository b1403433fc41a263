/**
 * Virtual time: one queue of events, and the invocations of handlers that wait for external calls in it. Every external
 * call of an invocation is numbered, and a process can be made to die at any of them.
 */
import { nextTick } from 'node:process';
import { Heap } from './heap.ts';

/**
 * Where a process dies: before a call has reached its service, or after it took effect and before its answer came.
 * The calls from `lostFrom` up to it were issued together with it, are still on their way, and are lost.
 */
export type Kill = { call: number; when: 'before' | 'after'; lostFrom: number };

/** One external call, and the number of the first of the calls that were under way together with it. */
export type ExternalCall = { name: string; writes: boolean; batch: number };

/** One run of a handler. */
export type Invocation = {
  readonly id: number;
  readonly name: string;
  readonly startedAt: number;
  readonly kill: Kill | null;
  readonly calls: ExternalCall[];
  /** Names of the writes that took effect. */
  readonly effects: string[];
  state: 'running' | 'done' | 'dead';
  /** Calls that have no answer yet. */
  pending: number;
  batch: number;
  die: () => void;
};

export type Ended<T> =
  | { kind: 'done'; value: T }
  | { kind: 'failed'; error: unknown }
  | { kind: 'died'; by: Invocation };

/** How long external calls take, and what becomes of those that were under way when their process died. */
export type Network = {
  /** Milliseconds until a call takes effect; null where it does at once, and its answer comes with the next tick. */
  latency: (() => number) | null;
  /** Whether a call of a dead process still takes effect; only asked where calls take time. */
  lands: (invocation: Invocation, call: number) => boolean;
};

/** Services that answer at once: an invocation runs to its end before anything else happens. */
export const AT_ONCE: Network = { latency: null, lands: () => false };

type Event = { at: number; order: number; act: () => void | Promise<void> };

const TURNS_MAX = 10_000;

/** What a dead process awaits: nothing of it ever goes on. */
const forever = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** After everything that runs now has come to its next external call, or to its end. */
const turnOver = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

export class Kernel {
  now: number;
  readonly #network: Network;
  readonly #queue = new Heap<Event>((a, b) => a.at - b.at || a.order - b.order);
  /** Between two events the code of one invocation runs at most: what an event starts or resumes is this one. */
  #current: Invocation | null = null;
  #order = 0;
  #invocations = 0;
  /** An error thrown by an event itself: a fault of the world, not of what it tests. */
  #broken: Error | null = null;

  constructor(start: number, network: Network = AT_ONCE) {
    this.now = start;
    this.#network = network;
  }

  /** Runs `act` that many milliseconds from now; what it awaits is awaited before the next event where services answer at once. */
  in(ms: number, act: () => void | Promise<void>): void {
    this.#order += 1;
    this.#queue.push({ at: this.now + Math.max(0, Math.round(ms)), order: this.#order, act });
  }

  /** When the next event is due; null when there is none. */
  get nextAt(): number | null {
    return this.#queue.peek()?.at ?? null;
  }

  /** Handles every event up to an instant, or until `enough` says so after one. */
  async runTo(target: number, enough: () => boolean = () => false): Promise<void> {
    let stopped = false;
    for (;;) {
      const event = this.#queue.peek();
      if (event === null || event.at > target) break;
      this.#queue.pop();
      this.now = Math.max(this.now, event.at);
      this.#current = null;
      const acted = event.act();
      // Where calls take time, what an event begins goes on in later events.
      if (acted !== undefined && this.#network.latency === null) await acted;
      else if (acted !== undefined) this.guard(acted);
      await this.#settle();
      if (this.#broken !== null) throw this.#broken;
      stopped = enough();
      if (stopped) break;
    }
    // Whoever looks at the world now is none of its invocations, least of all one that has died.
    this.#current = null;
    if (!stopped) this.now = Math.max(this.now, target);
  }

  /** Runs a handler. A dead one never comes back, so its caller hears of that from here. */
  invoke<T>(name: string, kill: Kill | null, work: (self: Invocation) => Promise<T>): Promise<Ended<T>> {
    this.#invocations += 1;
    return new Promise((resolve) => {
      const end = (state: 'done' | 'dead', outcome: Ended<T>): void => {
        if (self.state !== 'running') return;
        self.state = state;
        resolve(outcome);
      };
      const self: Invocation = {
        id: this.#invocations,
        name,
        startedAt: this.now,
        kill,
        calls: [],
        effects: [],
        state: 'running',
        pending: 0,
        batch: 1,
        die: () => end('dead', { kind: 'died', by: self }),
      };
      this.#resume(self);
      work(self).then(
        (value) => end('done', { kind: 'done', value }),
        (error: unknown) => end('done', { kind: 'failed', error }),
      );
    });
  }

  /** The invocation whose code is running now; null where somebody outside of any calls. */
  get current(): Invocation | null {
    return this.#current;
  }

  /**
   * One external call of the invocation that is running.
   * @param effect what the service does, in one go; its answer arrives later, as over a network
   */
  external<T>(name: string, writes: boolean, effect: (self: Invocation | null) => T): Promise<T> {
    const self = this.#current;
    if (self === null) return Promise.resolve().then(() => effect(null));
    if (self.state === 'dead') return forever();
    const number = self.calls.length + 1;
    if (self.pending === 0) self.batch = number;
    self.calls.push({ name, writes, batch: self.batch });
    const { kill } = self;
    if (kill !== null && number >= kill.lostFrom && number < kill.call) {
      self.pending += 1;
      return forever();
    }
    if (kill?.call === number && kill.when === 'before') {
      self.die();
      return forever();
    }
    self.pending += 1;
    const { latency } = this.#network;
    return new Promise((resolve, reject) => {
      const arrives = (): (() => void) | null => {
        if (self.state === 'dead' && !this.#network.lands(self, number)) return null;
        const outcome = outcomeOf(() => effect(self));
        if (writes) self.effects.push(name);
        if (self.state === 'running' && kill?.call === number) self.die();
        return () => {
          self.pending -= 1;
          if (self.state === 'dead') return;
          if (latency !== null) this.#resume(self);
          if ('value' in outcome) resolve(outcome.value);
          else reject(outcome.error);
        };
      };
      if (latency !== null) this.in(latency(), () => arrives()?.());
      else {
        const answer = arrives();
        // After everything that runs now has come to its next call: calls issued together are under way together.
        if (answer !== null) nextTick(answer);
      }
    });
  }

  /** Lets time pass inside an invocation. */
  pause(ms: number): Promise<void> {
    const self = this.#current;
    if (self === null || this.#network.latency === null) return Promise.resolve();
    self.pending += 1;
    return new Promise((resolve) => {
      this.in(ms, () => {
        if (self.state === 'dead') return;
        self.pending -= 1;
        this.#resume(self);
        resolve();
      });
    });
  }

  /** Runs something that belongs to no invocation; what it throws ends the run. */
  guard(promise: Promise<unknown>): void {
    promise.catch((error: unknown) => {
      this.#broken ??= error instanceof Error ? error : new Error(String(error));
    });
  }

  /** The present event gives an invocation its turn. */
  #resume(self: Invocation): void {
    const other = this.#current !== null && this.#current !== self;
    if (other && this.#network.latency !== null) throw new Error('one event gave two invocations their turn');
    this.#current = self;
  }

  /** Until the invocation that runs waits for an external call, or has ended. */
  async #settle(): Promise<void> {
    const self = this.#current;
    if (self === null) return;
    await turnOver();
    for (let turn = 0; self.state === 'running' && self.pending === 0; turn += 1) {
      if (turn > TURNS_MAX) throw new Error(`${self.name} waits for something that is no external call`);
      await turnOver();
    }
  }
}

function outcomeOf<T>(effect: () => T): { value: T } | { error: Error } {
  try {
    return { value: effect() };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
