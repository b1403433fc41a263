/**
 * A wait that something else can end early. A `set` that comes while nobody waits is kept for the next wait, so a wake
 * between two waits is never lost; many of them count as one.
 */
// @ts-nocheck

export class Latch {
  #set = false;
  #wake: (() => void) | null = null;

  set(): void {
    this.#set = true;
    this.#wake?.();
  }

  /** Resolves when set, or after `ms`; true when it was set. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#set) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(Math.max(0, ms), LONGEST_TIMEOUT_MS));
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
    }
    const wasSet = this.#set;
    this.#set = false;
    return wasSet;
  }
}

/** setTimeout takes a 32-bit number of milliseconds and fires at once beyond it. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;
