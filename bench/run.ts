/**
 * `npm run bench [-- NAME…] [--long]`: every row of DESIGN section 10 as target, measured, ratio. What takes minutes or a
 * browser is behind `--long`, or asked for by its name. Figures of CPU are CPU time; what is by a wall clock says so.
 */
import { parseArgs } from 'node:util';
import { figureText, headText, machineText } from './rows/print.ts';
import { ROWS } from './rows/all.ts';
import type { Row } from './rows/row.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const listText = (): string =>
  ROWS.map(({ name, about, long }) => `  ${name.padEnd(14)} ${about}${long === true ? ' (--long)' : ''}`).join('\n');

/** Which rows are asked for; a name that is none ends the bench. */
function chosen(names: readonly string[], long: boolean): readonly Row[] {
  const unknown = names.filter((name) => !ROWS.some((row) => row.name === name));
  if (unknown.length > 0) {
    process.stderr.write(`no row is called ${unknown.join(', ')}. The rows:\n${listText()}\n`);
    process.exit(2);
  }
  return ROWS.filter((row) => (names.length > 0 ? names.includes(row.name) : long || row.long !== true));
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { long: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});
if (values.help) say(`npm run bench [-- NAME…] [--long]\n\nRows:\n${listText()}`);
else {
  const rows = chosen(positionals, values.long);
  say(machineText());
  say(`\n${headText()}`);
  for (const { name, about, measure } of rows) {
    say(`${name}: ${about}`);
    try {
      for (const figure of await measure()) say(figureText(figure));
    } catch (error) {
      // One row that cannot be measured here does not keep the others from being printed.
      process.exitCode = 1;
      say(`  could not be measured: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const left = ROWS.filter((row) => !rows.includes(row)).map(({ name }) => name);
  if (positionals.length === 0 && left.length > 0) say(`\nleft out, with --long or by name: ${left.join(', ')}`);
}
