/** Virtual time: one queue of events, and the invocations of handlers that wait for external calls in it. */
import { setImmediate } from 'node:timers/promises';
import { Heap } from '../../../world/heap.ts';

/** One run of a handler. Its external calls are counted, so that it can die at any of them. */
export type Invocation = {
  id: number;
  name: string;
  startedAt: number;
  calls: number;
  pending: number;
  state: 'running' | 'done' | 'dead';
  /** Dies at this call, before or after it took effect. */
  dies: { atCall: number; side: 'before' | 'after' } | null;
  /** `kind/id` of each item it has written. */
  writes: string[];
  die: () => void;
};

export type Ended<T> = { kind: 'done'; value: T } | { kind: 'failed'; error: unknown } | { kind: 'died' };

type Event = { at: number; order: number; act: () => void };

const TURNS_MAX = 10_000;

export class Kernel {
  now: number;
  readonly #queue = new Heap<Event>((a, b) => a.at - b.at || a.order - b.order);
  /** Between two events the code of one invocation runs at most: what an event starts or resumes is this one. */
  #current: Invocation | null = null;
  readonly #running = new Set<Invocation>();
  #order = 0;
  #invocations = 0;
  /** An error thrown by an event itself: a fault of the simulation, not of what it tests. */
  #broken: Error | null = null;

  constructor(start: number) {
    this.now = start;
  }

  /** Runs `act` that many milliseconds from now. */
  in(ms: number, act: () => void): void {
    this.#order += 1;
    this.#queue.push({ at: this.now + Math.max(0, Math.round(ms)), order: this.#order, act });
  }

  /** Handles every event up to an instant, or until `enough` says so after one. */
  async runTo(target: number, enough: () => boolean = () => false): Promise<void> {
    for (;;) {
      const event = this.#queue.peek();
      if (event === null || event.at > target) break;
      this.#queue.pop();
      this.now = event.at;
      this.#current = null;
      event.act();
      await this.#settle();
      if (this.#broken !== null) throw this.#broken;
      if (enough()) return;
    }
    this.now = target;
  }

  /** Runs a handler. A dead one never comes back, so its caller hears of that from here. */
  invoke<T>(name: string, dies: Invocation['dies'], work: (self: Invocation) => Promise<T>): Promise<Ended<T>> {
    this.#invocations += 1;
    return new Promise((resolve) => {
      const self: Invocation = {
        id: this.#invocations,
        name,
        startedAt: this.now,
        calls: 0,
        pending: 0,
        state: 'running',
        dies,
        writes: [],
        die: () => end('dead', { kind: 'died' }),
      };
      const end = (state: 'done' | 'dead', outcome: Ended<T>): void => {
        if (self.state !== 'running') return;
        self.state = state;
        this.#running.delete(self);
        resolve(outcome);
      };
      this.#running.add(self);
      this.resume(self);
      work(self).then(
        (value) => end('done', { kind: 'done', value }),
        (error: unknown) => end('done', { kind: 'failed', error }),
      );
    });
  }

  /** The invocation whose code is running now. */
  get current(): Invocation {
    if (this.#current === null) throw new Error('an external call was made outside of any invocation');
    return this.#current;
  }

  /** The present event gives an invocation its turn. */
  resume(self: Invocation): void {
    if (this.#current !== null && this.#current !== self) throw new Error('one event gave two invocations their turn');
    this.#current = self;
  }

  /** Lets time pass inside an invocation. */
  wait(self: Invocation, ms: number): Promise<void> {
    self.pending += 1;
    return new Promise((resolve) => {
      this.in(ms, () => {
        if (self.state === 'dead') return;
        self.pending -= 1;
        this.resume(self);
        resolve();
      });
    });
  }

  /** Runs something that belongs to no invocation; what it throws ends the simulation. */
  guard(promise: Promise<void>): void {
    promise.catch((error: unknown) => {
      this.#broken ??= error instanceof Error ? error : new Error(String(error));
    });
  }

  /** Until every invocation waits for an external call, or has ended. */
  async #settle(): Promise<void> {
    await setImmediate();
    for (let turn = 0; ; turn += 1) {
      let busy = false;
      for (const { pending, state } of this.#running) busy ||= state === 'running' && pending === 0;
      if (!busy) return;
      if (turn > TURNS_MAX) throw new Error('a handler waits for something that is no external call');
      await setImmediate();
    }
  }
}
