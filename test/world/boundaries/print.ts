/** `npm run boundaries`: each path, its external calls and its deaths, as a table. `-- --each` tells every death singly. */
import { enumerate, type Path } from './enumerate.ts';
import { STORIES } from './stories/all.ts';

type Row = { calls: number; kills: number; variants: number; told: number };

/** Calls of people, of timers, queues and buses are tried again, and are not; an agent always tries again. */
const variantsOf = ({ handler, path }: Path): number =>
  handler === 'api' && /(?:reports|launch|nodes\/:nodeId\/vms)/.test(path) ? 1 : 2;

const each = process.argv.includes('--each');
const rows = new Map<string, Row>();
const failures: string[] = [];
for (const story of STORIES) {
  const found = await enumerate(story, each);
  failures.push(...found.failures);
  for (const path of found.paths) {
    const row = rows.get(path.path) ?? { calls: 0, kills: 0, variants: variantsOf(path), told: 0 };
    rows.set(path.path, {
      calls: row.calls + path.calls.length,
      kills: row.kills + path.kills,
      variants: row.variants,
      told: row.told + path.outcomes * row.variants,
    });
  }
}
const sum = (pick: (row: Row) => number): number => [...rows.values()].reduce((total, row) => total + pick(row), 0);
const line = (name: string, { calls, kills, variants, told }: Row, shown = String(variants)): string =>
  `| ${name} | ${calls} | ${kills} | ${shown} | ${told} |`;
process.stdout.write('| path | external calls | deaths | variants | stories told |\n|---|---|---|---|---|\n');
for (const [name, row] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1))) process.stdout.write(`${line(name, row)}\n`);
const total = {
  calls: sum((row) => row.calls),
  kills: sum((row) => row.kills),
  variants: 0,
  told: sum((row) => row.told),
};
process.stdout.write(`${line(`all ${rows.size}`, total, '')}\n`);
for (const failure of failures) process.stdout.write(`${failure}\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
