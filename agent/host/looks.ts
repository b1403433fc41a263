/** Looks at guests through a hypervisor: one look at a guest at a time, and a wish for another meanwhile is kept. */
import type { InstanceKey } from './instance.ts';

export type Watched = {
  busy: boolean;
  again: boolean;
  lookAt: number;
  /** When its power button was last pressed: it is pressed again, since a guest may miss it while it boots. */
  pressedAt: number;
};
export const PRESS_EVERY_MS = 5000;
export const newlyWatched = (): Watched => ({ busy: false, again: false, lookAt: 0, pressedAt: 0 });

export type LooksOptions<State extends Watched> = {
  readonly now: () => number;
  /** Between looks at a guest that boots or ends, and at one that is settled: its events come by themselves. */
  readonly soonMs: number;
  readonly usualMs: number;
  readonly fresh: () => State;
  /** One look; it says itself what went wrong with it. */
  readonly look: (key: InstanceKey, state: State) => Promise<void>;
  /** Whether the guest runs and nothing is asked of it. */
  readonly settled: (key: InstanceKey) => boolean;
};

export class Looks<State extends Watched> {
  readonly #options: LooksOptions<State>;
  readonly #watched = new Map<InstanceKey, State>();

  constructor(options: LooksOptions<State>) {
    this.#options = options;
  }

  /** What is known of every guest that is watched. */
  states(): Iterable<State> {
    return this.#watched.values();
  }

  /** Looks at those whose time has come and forgets all others; answers what it has forgotten. */
  watch(keys: ReadonlySet<InstanceKey>): State[] {
    const gone = [...this.#watched].filter(([key]) => !keys.has(key));
    for (const [key] of gone) this.#watched.delete(key);
    const now = this.#options.now();
    for (const key of keys) if (now >= this.#of(key).lookAt) void this.look(key);
    return gone.map(([, state]) => state);
  }

  async look(key: InstanceKey): Promise<void> {
    const state = this.#of(key);
    if (state.busy) {
      state.again = true;
      return;
    }
    state.busy = true;
    try {
      await this.#options.look(key, state);
    } finally {
      state.busy = false;
      state.lookAt = this.#options.now() + (this.#options.settled(key) ? this.#options.usualMs : this.#options.soonMs);
      if (state.again) {
        state.again = false;
        void this.look(key);
      }
    }
  }

  clear(): void {
    this.#watched.clear();
  }

  #of(key: InstanceKey): State {
    const known = this.#watched.get(key);
    if (known !== undefined) return known;
    const fresh = this.#options.fresh();
    this.#watched.set(key, fresh);
    return fresh;
  }
}
