/** Counts real guests while a test goes on: never two of one VM (G5). */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { QEMU } from '../../local/demo/qemu.ts';

/** The QEMU processes that have this image, by pid. */
export function guestsOf(image: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      const [program = '', ...args] = Number.isInteger(pid) ? commandOf(pid) : [];
      return basename(program) === QEMU && args.some((arg) => arg.startsWith(`file=${image},`));
    });
}

/** Empty for a process that is gone, and for a zombie. */
function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    // Gone between the listing and now.
    return [];
  }
}

const EVERY_MS = 50;

/** Looks again and again how many guests there are of each image, and remembers the most. */
export class GuestWatch {
  readonly #most = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(images: readonly string[]) {
    this.#timer = setInterval(() => {
      for (const image of images) this.#most.set(image, Math.max(this.#most.get(image) ?? 0, guestsOf(image).length));
    }, EVERY_MS);
  }

  /** The most that were ever seen at once. */
  most(image: string): number {
    return this.#most.get(image) ?? 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
