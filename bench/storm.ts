/** `tsx bench/storm.ts FILE`: the starts of a retry storm, second by second, of four curves (docs/scale.md). */
import { writeFileSync } from 'node:fs';
import { CURVES, peakToMean } from './rows/storm.ts';

const WIDTH = 900;
const PANEL = 130;
const GAP = 46;
const LEFT = 60;
const SECONDS = 3_600;
/** Starts a second that a panel shows; the first waves go beyond it and are cut. */
const MOST = 120;

const file = process.argv[2];
if (file === undefined) {
  process.stderr.write('usage: tsx bench/storm.ts FILE\n');
  process.exit(2);
}

const x = (second: number): number => LEFT + (second / SECONDS) * (WIDTH - LEFT - 20);
const round = (value: number): string => String(Math.round(value * 10) / 10);

function panel(name: string, perSecond: readonly number[], top: number): string {
  const y = (starts: number): number => top + PANEL - (Math.min(starts, MOST) / MOST) * PANEL;
  const line = perSecond.map((starts, second) => `${round(x(second))},${round(y(starts))}`).join(' ');
  const ticks = [0, 10, 20, 30, 40, 50, 60].map(
    (minute) => `<text x="${round(x(minute * 60))}" y="${top + PANEL + 16}" text-anchor="middle">${minute} min</text>`,
  );
  const levels = [0, MOST / 2, MOST].map(
    (starts) => `<text x="${LEFT - 8}" y="${round(y(starts) + 4)}" text-anchor="end">${starts}</text>`,
  );
  return [
    `<text x="${LEFT}" y="${top - 8}" class="name">${name}: busiest second ÷ mean second in minutes 40 to 60 is ${peakToMean(perSecond).toFixed(2)}</text>`,
    `<rect x="${LEFT}" y="${top}" width="${WIDTH - LEFT - 20}" height="${PANEL}" class="frame"/>`,
    `<polyline points="${line}"/>`,
    ...levels,
    ...ticks,
  ].join('\n');
}

const height = CURVES.length * (PANEL + GAP) + 40;
const panels = CURVES.map(({ name, perSecond }, index) => panel(name, perSecond(), 34 + index * (PANEL + GAP)));
writeFileSync(
  file,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Starts a second after 10,000 VMs failed together, for four back-off curves">
<style>text{font:12px sans-serif;fill:#444}.name{font-weight:600;fill:#111}rect.frame{fill:#fff;stroke:#ccc}polyline{fill:none;stroke:#1f6feb;stroke-width:.6}</style>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${panels.join('\n')}
</svg>
`,
);
