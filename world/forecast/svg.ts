/** A rollout drawn over time: for each group what was done, under way and waiting, one above the other. */
import { formatInstant } from '../../core/kit/time.ts';
import { codesOf, type Row } from '../standing.ts';
import type { Forecast } from './forecast.ts';

const WIDTH = 860;
const BAND = 110;
const LEFT = 120;
const RIGHT = 20;
const TOP = 40;
const GAP = 34;

/** In the order in which they lie, from below. Told apart by lightness as well as by hue. */
const LAYERS = [
  { name: 'done', fill: '#2f7d5b' },
  { name: 'under way', fill: '#e0a100' },
  { name: 'waiting', fill: '#c9ced6' },
] as const;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** @param title said above, and to who cannot see it */
export function forecastSvg({ rows, groups }: Forecast, title: string): string {
  const names = Object.keys(groups);
  const [first, last] = [rows[0], rows.at(-1)];
  const height = TOP + names.length * (BAND + GAP) + 40;
  const span = Math.max(1, (last?.at ?? 0) - (first?.at ?? 0));
  const x = (row: Row): number => LEFT + ((row.at - (first?.at ?? 0)) / span) * (WIDTH - LEFT - RIGHT);
  const bands = names.flatMap((name, index) => {
    const top = TOP + index * (BAND + GAP);
    const nodes = Math.max(1, groups[name]?.nodes ?? 1);
    return [
      `<text x="${LEFT - 10}" y="${top + BAND / 2}" text-anchor="end">${escaped(name)}</text>`,
      `<text x="${LEFT - 10}" y="${top + BAND / 2 + 17}" text-anchor="end" class="small">${nodes} nodes</text>`,
      ...layers(rows, name, nodes).map(
        ({ fill, values }) =>
          `<path fill="${fill}" d="${area(
            rows.map((row) => x(row)),
            values,
            top,
          )}"/>`,
      ),
      `<rect x="${LEFT}" y="${top}" width="${WIDTH - LEFT - RIGHT}" height="${BAND}" class="frame"/>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">`,
    '<style>text{font:14px system-ui,sans-serif;fill:#24292f}.small{font-size:11px;fill:#57606a}.frame{fill:none;stroke:#8c959f}svg{background:#fff}</style>',
    `<text x="${LEFT}" y="22">${escaped(title)}</text>`,
    ...bands,
    ...hoursAxis(first, span, height),
    ...LAYERS.map(({ name, fill }, index) => legend(name, fill, LEFT + index * 110, height - 12)),
    '</svg>',
    '',
  ].join('\n');
}

type Layer = { fill: string; values: { from: number; to: number }[] };

/** Shares from 0 to 1 of each row, lying on each other. */
function layers(rows: readonly Row[], name: string, nodes: number): Layer[] {
  const shares = rows.map(({ groups }) => {
    const standing = groups[name];
    const waiting = codesOf(standing?.waiting ?? {}).reduce((total, [, count]) => total + count, 0);
    return [standing?.done ?? 0, standing?.underWay ?? 0, waiting].map((count) => count / nodes);
  });
  return LAYERS.map(({ fill }, layer) => ({
    fill,
    values: shares.map((row) => {
      const from = row.slice(0, layer).reduce((total, share) => total + share, 0);
      return { from, to: from + (row[layer] ?? 0) };
    }),
  }));
}

/** Steps, not slopes: nothing is known of what lay between two rows. */
function area(xs: readonly number[], values: Layer['values'], top: number): string {
  const y = (share: number): string => (top + BAND - Math.min(1, share) * BAND).toFixed(1);
  const along = (pick: 'from' | 'to'): string[] =>
    values.flatMap((value, index) => {
      const [here, next] = [xs[index] ?? 0, xs[index + 1] ?? xs[index] ?? 0];
      return [`${here.toFixed(1)},${y(value[pick])}`, `${next.toFixed(1)},${y(value[pick])}`];
    });
  return `M${along('to').join('L')}L${along('from').reverse().join('L')}Z`;
}

function hoursAxis(first: Row | undefined, span: number, height: number): string[] {
  if (first === undefined) return [];
  const y = height - 44;
  return [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = formatInstant(Math.round(first.at + share * span) as typeof first.at).slice(5, 16); // an instant plus milliseconds is one
    const x = LEFT + share * (WIDTH - LEFT - RIGHT);
    const anchor = share === 0 ? 'start' : share === 1 ? 'end' : 'middle';
    return `<text x="${x}" y="${y}" text-anchor="${anchor}" class="small">${at.replace('T', ' ')}</text>`;
  });
}

const legend = (name: string, fill: string, x: number, y: number): string =>
  `<rect x="${x}" y="${y - 10}" width="12" height="12" fill="${fill}"/><text x="${x + 18}" y="${y}" class="small">${name}</text>`;
