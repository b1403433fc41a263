/** The table of the bench. */
import { cpus, totalmem } from 'node:os';
import { type Figure, ratioOf } from './row.ts';

/** The machine that the figures are of. */
export function machineText(): string {
  const all = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${all[0]?.model.trim() ?? 'a CPU without a name'}, ${all.length} cores, ${gigabytes} GB; Node ${process.version}, ${process.platform} ${process.arch}`;
}

const numberText = (value: number): string =>
  Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : String(Math.round(value * (Math.abs(value) < 10 ? 1000 : 10)) / (Math.abs(value) < 10 ? 1000 : 10));

function targetText({ target }: Figure): string {
  if (target === null) return '–';
  return 'most' in target ? `≤ ${numberText(target.most)}` : `≥ ${numberText(target.least)}`;
}

function ratioText(figure: Figure): string {
  const ratio = ratioOf(figure);
  if (ratio === null) return '–';
  return `${ratio.toFixed(2)}${ratio > 1 ? ' MISSED' : ''}`;
}

const line = (what: string, target: string, measured: string, ratio: string): string =>
  `${what.padEnd(76)} ${target.padStart(10)} ${measured.padStart(18)}  ${ratio}`.trimEnd();

/** What stands above all rows. */
export const headText = (): string => line('', 'target', 'measured', 'ratio (1 or less: met)');

export function figureText(figure: Figure): string {
  const measured = `${numberText(figure.measured)}${figure.unit === '' ? '' : ` ${figure.unit}`}`;
  const text = line(`  ${figure.what}`, targetText(figure), measured, ratioText(figure));
  return figure.note === undefined ? text : `${text}\n      ${figure.note}`;
}
