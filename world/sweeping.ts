/** The sweep on virtual time, every few minutes; one that could find nothing is left out, so that hours cost nothing. */
import { SWEEP_MINUTES } from '../core/contract/names.ts';
import { minutes } from '../core/kit/time.ts';
import type { VirtualTable } from './aws/table.ts';
import type { Kernel } from './kernel.ts';

const EVERY = minutes(SWEEP_MINUTES);
/** So many sweeps that changed nothing are made before one is left out: what one finds may come of age until the next. */
const QUIET = 2;

export class Sweeping {
  readonly #kernel: Kernel;
  readonly #table: VirtualTable;
  readonly #sweep: () => Promise<void> | void;
  #next: number;
  #sweptAtWrites = -1;
  #quiet = 0;

  constructor(kernel: Kernel, table: VirtualTable, sweep: () => Promise<void> | void) {
    this.#kernel = kernel;
    this.#table = table;
    this.#sweep = sweep;
    this.#next = kernel.now + EVERY;
  }

  /** A sweep has been through; one that died has found nothing. */
  through(): void {
    const changed = this.#table.writes !== this.#sweptAtWrites;
    this.#quiet = changed ? 0 : this.#quiet + 1;
    this.#sweptAtWrites = this.#table.writes;
  }

  /** Lets everything happen that is due up to an instant, sweeps included. */
  async runTo(target: number): Promise<void> {
    for (;;) {
      const next = this.#kernel.nextAt;
      const sweepAt = this.#needed();
      if (next !== null && next <= target && (sweepAt === null || next <= sweepAt)) await this.#kernel.runTo(next);
      else if (sweepAt !== null && sweepAt <= target) {
        this.#next = sweepAt + EVERY;
        this.#kernel.in(sweepAt - this.#kernel.now, this.#sweep);
        await this.#kernel.runTo(sweepAt);
      } else break;
    }
    await this.#kernel.runTo(target);
  }

  /** The next sweep that has anything to do: one that follows a change, or that finds something overdue. */
  #needed(): number | null {
    const { now } = this.#kernel;
    if (this.#table.writes !== this.#sweptAtWrites || this.#quiet < QUIET) return this.#onGrid(now);
    const due = this.#table.earliestDue();
    return due === null ? null : this.#onGrid(Math.max(due, now));
  }

  #onGrid(at: number): number {
    return this.#next + Math.max(0, Math.ceil((at - this.#next) / EVERY)) * EVERY;
  }
}
