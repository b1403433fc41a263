// @ts-nocheck
import {
  appendFileSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { EmbeddedAwsError } from './errors.ts';

/** A map on disk. Each change is appended before it is answered, so that `kill -9` loses nothing. */
export interface Journal<T> {
  readonly size: number;
  readonly get: (key: string) => T | undefined;
  readonly has: (key: string) => boolean;
  readonly put: (key: string, value: T) => void;
  readonly remove: (key: string) => void;
  readonly entries: () => IterableIterator<[string, T]>;
  readonly close: () => void;
}

/** Lines that no longer matter before the file is written anew. */
const GARBAGE_LINES_MAX = 10_000;

/**
 * Opens a map on disk. `parse` checks each value that was stored. A last line that was cut off by a kill is dropped: it
 * was never acknowledged. Any other line that cannot be read is refused, because dropping it would lose what was.
 */
export function openJournal<T>(file: string, parse: (value: unknown) => T): Journal<T> {
  mkdirSync(dirname(file), { recursive: true });
  const values = existsSync(file) ? replay(file, parse) : new Map<string, T>();
  let { handle, length } = rewrite(file, values);
  let lines = values.size;

  const append = (entry: readonly [string, T] | readonly [string]): void => {
    const line = `${JSON.stringify(entry)}\n`;
    try {
      appendFileSync(handle, line);
    } catch (error) {
      ftruncateSync(handle, length);
      throw new EmbeddedAwsError('JournalBroken', `${file} cannot be written`, { cause: error });
    }
    length += Buffer.byteLength(line);
    lines += 1;
  };
  const compact = (): void => {
    if (lines <= 2 * values.size + GARBAGE_LINES_MAX) return;
    closeSync(handle);
    ({ handle, length } = rewrite(file, values));
    lines = values.size;
  };
  return {
    get size() {
      return values.size;
    },
    get: (key) => values.get(key),
    has: (key) => values.has(key),
    put: (key, value) => {
      append([key, value]);
      values.set(key, value);
      compact();
    },
    remove: (key) => {
      if (!values.has(key)) return;
      append([key]);
      values.delete(key);
      compact();
    },
    entries: () => values.entries(),
    close: () => {
      closeSync(handle);
    },
  };
}

function replay<T>(file: string, parse: (value: unknown) => T): Map<string, T> {
  const values = new Map<string, T>();
  const lines = readFileSync(file, 'utf8').split('\n');
  lines.pop(); // what follows the last newline: nothing, or a line that a kill cut off
  for (const [index, line] of lines.entries()) {
    try {
      const entry: unknown = JSON.parse(line);
      if (!Array.isArray(entry) || typeof entry[0] !== 'string') throw new TypeError('not a [key, value] pair');
      if (entry.length === 1) values.delete(entry[0]);
      else values.set(entry[0], parse(entry[1]));
    } catch (error) {
      throw new EmbeddedAwsError('JournalBroken', `${file}, line ${index + 1} cannot be read`, { cause: error });
    }
  }
  return values;
}

/** Writes only what still matters, then takes the old file's place in one step. */
function rewrite<T>(file: string, values: ReadonlyMap<string, T>): { handle: number; length: number } {
  const text = [...values].map((entry) => `${JSON.stringify(entry)}\n`).join('');
  const fresh = `${file}.new`;
  writeFileSync(fresh, text);
  renameSync(fresh, file);
  return { handle: openSync(file, 'a'), length: Buffer.byteLength(text) };
}
