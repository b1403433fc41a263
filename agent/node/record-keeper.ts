/**
 * The record in memory and on the disk. What begins something is on the disk before it is done; what ends or undoes it goes
 * on where the disk is full or read-only, is kept in memory, and is written as soon as that is possible again.
 */
import { AgentError, messageOf } from '../failure.ts';
import type { Log } from '../log.ts';
import type { ClockMark } from '../steady-clock.ts';
import type { HeldLock, LockStore } from '../updater/version-lock.ts';
import type { Memory, MemoryStore, NodeRecord } from './memory.ts';

export type KeeperOptions = {
  readonly store: MemoryStore;
  readonly locks: LockStore;
  readonly mark: () => ClockMark;
  readonly log: Log;
};

export class RecordKeeper {
  readonly #options: KeeperOptions;
  #memory: Memory;
  #held: HeldLock | null;
  /** What is in memory is newer than what is on the disk. */
  #behind = false;
  #trouble: string | null = null;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#memory = options.store.load();
    this.#held = options.locks.load();
    if (this.#memory.kind === 'lost') options.log('error', 'state lost', { why: this.#memory.why });
  }

  get memory(): Memory {
    return this.#memory;
  }

  /** What of the version-lock is ours. */
  get held(): HeldLock | null {
    return this.#held;
  }

  /** Why the state cannot be written; null when it can. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Keeps the record before something is begun. Throws a Host error when it cannot be written: then it is not begun. */
  keepFirst(record: NodeRecord): void {
    if (!this.#write(record)) throw new AgentError('Host', `nothing is begun: ${this.#trouble ?? ''}`);
    this.#memory = { kind: 'kept', record };
  }

  /** Keeps the record of what has happened, or is being undone: in memory, if it cannot be written. */
  keep(record: NodeRecord): void {
    this.#behind = !this.#write(record);
    this.#memory = { kind: 'kept', record };
  }

  /** Tries anew to write what could not be written. */
  catchUp(): void {
    if (this.#behind && this.#memory.kind === 'kept') this.#behind = !this.#write(this.#memory.record);
  }

  /** Keeps that a lock is ours, before it is set. Throws as `keepFirst`. */
  holdLock(held: HeldLock): void {
    this.#options.locks.save(held);
    this.#held = held;
  }

  /** The lock is not ours any more. */
  forgetLock(): void {
    this.#held = null;
    try {
      this.#options.locks.forget();
    } catch (error) {
      // Found again by the next agent, it is judged by what the lock then is, and forgotten again.
      this.#options.log('warn', 'version lock not forgotten on disk', { why: messageOf(error) });
    }
  }

  #write(record: NodeRecord): boolean {
    try {
      this.#options.store.save({ ...record, clock: this.#options.mark() });
      if (this.#trouble !== null) this.#options.log('info', 'state can be written again');
      this.#trouble = null;
      return true;
    } catch (error) {
      const why = `its state cannot be written (${messageOf(error)})`;
      if (why !== this.#trouble) this.#options.log('error', 'state not written', { why });
      this.#trouble = why;
      return false;
    }
  }
}
