/** A row of KubeVirt's own test tables (data/, copied from its sources with their file and lines). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Row = {
  /** `file/section/name`, as differences.ts names it. */
  id: string;
  /** Throws when we do not do what the row expects; null when it is about something that we do not have. */
  check: (() => void) | null;
};

/** The rows of one table file; what a cell holds is known from the file. */
export function readTable<T>(file: string): T {
  // The data are in the repository and change only with it.
  return JSON.parse(readFileSync(join(import.meta.dirname, 'data', `kubevirt-${file}.json`), 'utf8')) as T;
}

/** What tells a row without a name from its neighbours: its cells, without comments. */
export function cellsOf(row: Readonly<Record<string, unknown>>): string {
  return Object.entries(row)
    .filter(([key]) => !['comment', 'meaning', 'effect', 'dryRunToo', 'httpSeenByCaller', 'expect'].includes(key))
    .map(([key, value]) => `${key} ${JSON.stringify(value).replaceAll('"', '')}`)
    .join(', ');
}
