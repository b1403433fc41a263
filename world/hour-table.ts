/** A rollout as a table by hour. */
import { formatInstant, type Instant } from '../core/kit/time.ts';
import { codesOf, type Row, type Waiting } from './standing.ts';

const hourOf = (at: Instant): string => formatInstant(at).slice(0, 13);
export const dayAndTime = (at: Instant): string => formatInstant(at).slice(0, 16).replace('T', ' ');

/** The first row of each hour and the last one, without those in which everything stood as it had before. */
export function byHour(rows: readonly Row[]): Row[] {
  const shown: Row[] = [];
  for (const row of rows) {
    const last = shown.at(-1);
    if (last !== undefined && hourOf(last.at) === hourOf(row.at) && row !== rows.at(-1)) continue;
    if (last !== undefined && JSON.stringify(last.groups) === JSON.stringify(row.groups)) continue;
    shown.push(row);
  }
  return shown;
}

const sum = (waiting: Waiting): number => codesOf(waiting).reduce((total, [, count]) => total + count, 0);

const sayWaiting = (waiting: Waiting): string =>
  codesOf(waiting)
    .sort((a, b) => b[1] - a[1])
    .map(([code, count]) => `${count} ${code}`)
    .join(', ') || '–';

const HEAD = ['hour (UTC)', 'group', 'done', 'under way', 'waiting', 'for what'];

/** The lines of the table. */
export function hourTable(rows: readonly Row[]): string[] {
  const cells = byHour(rows).flatMap(({ at, groups }) =>
    Object.entries(groups).map(([group, { done, underWay, waiting }], index) => [
      index === 0 ? dayAndTime(at) : '',
      group,
      String(done),
      String(underWay),
      String(sum(waiting)),
      sayWaiting(waiting),
    ]),
  );
  const widths = HEAD.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const fit = (cell: string, column: number): string =>
    /^\d+$/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return [HEAD, ...cells].map((row) => row.map(fit).join('  ').trimEnd());
}
