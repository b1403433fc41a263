/**
 * Tables as text. On a screen: aligned columns that fit its width; the last column takes what is left and is cut or
 * wrapped, and on a narrow screen the less needed columns go. In a pipe: every column, tab-separated, no header.
 */
import type { Instant } from '../core/kit/time.ts';
import { cut, displayWidth, oneCell, oneLine, pad, wrap } from './text.ts';
import { paint, type Screen, type Tone } from './tone.ts';

/** Where and when a table is drawn. `fit: 'cut'` keeps one line a row (live tables); `'wrap'` shows every word. */
export type Surface = Screen & { readonly now: Instant; readonly fit: 'cut' | 'wrap' };

export type Cell = { readonly text: string; readonly tone?: Tone | undefined };

export type Column = {
  readonly title: string;
  readonly align?: 'right';
  /** Columns with a number may be left out when the screen is narrow, the greatest number first. */
  readonly drop?: number;
};

const GAP = 2;
/** The last column holds sentences: with less room than this, other columns make way. */
const SENTENCE_MIN = 22;

type Measured = { column: Column; index: number; width: number };

/** Draws rows under their titles; the last column takes the rest of the line. Lines end without a line break. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], surface: Surface): string {
  const clean = rows.map((row) => row.map((cell) => ({ text: oneLine(cell.text), tone: cell.tone })));
  const measured = columns.map((column, index) => ({
    column,
    index,
    width: Math.max(displayWidth(column.title), ...clean.map((row) => displayWidth(row[index]?.text ?? ''))),
  }));
  const shown = fitting(measured, surface.width);
  const titles = columns.map((column): Cell => ({ text: column.title, tone: 'quiet' }));
  return [titles, ...clean].flatMap((row) => drawRow(row, shown, surface)).join('\n');
}

/** Tab-separated rows without titles, every column. Lines end without a line break. */
export const separated = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(oneCell).join('\t')).join('\n');

/** Leaves out columns until the last one has room for a sentence, or for all it has to say. */
function fitting(columns: readonly Measured[], width: number): readonly Measured[] {
  const last = columns.at(-1);
  if (last === undefined) return columns;
  const room = width - before(columns);
  if (room >= Math.min(SENTENCE_MIN, last.width)) return columns;
  const victim = columns.reduce<Measured | null>(
    (worst, one) => ((one.column.drop ?? 0) > (worst?.column.drop ?? 0) ? one : worst),
    null,
  );
  return victim === null
    ? columns
    : fitting(
        columns.filter((one) => one !== victim),
        width,
      );
}

/** Columns of the screen taken before the last column of the table begins. */
const before = (columns: readonly Measured[]): number =>
  columns.slice(0, -1).reduce((sum, one) => sum + one.width + GAP, 0);

function drawRow(row: readonly Cell[], columns: readonly Measured[], surface: Surface): string[] {
  const head = columns
    .slice(0, -1)
    .map((one) => {
      const cell = row[one.index];
      const text = cell?.text ?? '';
      const padding = pad('', one.width - displayWidth(text));
      const painted = paint(text, cell?.tone, surface);
      return `${one.column.align === 'right' ? padding + painted : painted + padding}${' '.repeat(GAP)}`;
    })
    .join('');
  const last = columns.at(-1);
  const cell = last === undefined ? undefined : row[last.index];
  const indent = before(columns);
  const room = Math.max(SENTENCE_MIN, surface.width - indent);
  const text = cell?.text ?? '';
  const lines = surface.fit === 'cut' ? [cut(text, Math.max(1, surface.width - indent))] : wrap(text, room);
  return lines.map((line, n) => `${n === 0 ? head : ' '.repeat(indent)}${paint(line, cell?.tone, surface)}`.trimEnd());
}
