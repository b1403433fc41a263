/**
 * When this host's guests were last looked at: an end that nobody saw was not before that. It lies in memory, and is
 * written often.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readIfThere } from '../durable.ts';

const WRITE_EVERY_MS = 5000;

export class LastLook {
  readonly #file: string;
  readonly #now: () => number;
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** As the agent before this one left it, on the boot clock; null when there was none in this boot. */
  readonly before: number | null;

  constructor(file: string, now: () => number) {
    this.#file = file;
    this.#now = now;
    const at = Number.parseInt(readIfThere(file) ?? '', 10);
    this.before = Number.isInteger(at) && at <= now() ? at : null;
  }

  write(): void {
    const now = this.#now();
    if (now - this.#writtenAt < WRITE_EVERY_MS) return;
    this.#writtenAt = now;
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    writeFileSync(this.#file, `${now}\n`);
  }
}
