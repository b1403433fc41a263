import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';

const root = resolve(import.meta.dirname, '../..');
const config = join(root, '.dependency-cruiser.cjs');
const FOLDERS = [
  'core',
  'functions',
  'client',
  'present',
  'world',
  'agent',
  'cli',
  'console',
  'local',
  'infra',
  'test',
  'bench',
];

const Report = z.object({
  summary: z.object({
    totalCruised: z.number(),
    violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});
const Config = z.object({ forbidden: z.array(z.object({ name: z.string() })) });

/** Runs the same program with the same rules as `npm run architecture`, in any folder. */
async function cruise(folder: string): Promise<z.infer<typeof Report>['summary']> {
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, '--config', config, '--output-type', 'json', ...FOLDERS.filter((name) => existsSync(join(folder, name)))],
    { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
  );
  return Report.parse(JSON.parse(stdout)).summary;
}

/** One file for each rule that breaks it, and only it; the key is the file, the value what it imports. */
const PLANTED: ReadonlyArray<readonly [rule: string, file: string, imports: string]> = [
  ['core-direction', 'core/a.ts', '../functions/free.ts'],
  ['functions-direction', 'functions/a.ts', '../local/free.ts'],
  ['agent-direction', 'agent/a.ts', '../functions/free.ts'],
  ['client-direction', 'client/a.ts', '../functions/free.ts'],
  ['present-direction', 'present/a.ts', '../client/free.ts'],
  ['console-direction', 'console/a.ts', '../functions/free.ts'],
  ['world-direction', 'world/a.ts', '../local/free.ts'],
  ['cli-direction', 'cli/a.ts', '../world/simulate.ts'],
  ['cli-simulate-exception', 'cli/commands/simulate.ts', '../../local/free.ts'],
  ['local-direction', 'local/a.ts', '../agent/free.ts'],
  ['local-machine-alone', 'local/machine/a.ts', '../free.ts'],
  ['infra-direction', 'infra/a.ts', '../agent/free.ts'],
  ['core-packages', 'core/b.ts', 'node:fs'],
  ['core-packages', 'core/c.ts', 'hono'],
  ['no-circular', 'functions/b.ts', './c.ts'],
  ['no-import-of-tests', 'bench/a.ts', '../test/free.ts'],
  ['not-to-unresolvable', 'bench/b.ts', './absent.ts'],
];

/** Imports that the rules allow. */
const ALLOWED: ReadonlyArray<readonly [file: string, imports: string]> = [
  // The other half of the planted cycle, which is reported once.
  ['functions/c.ts', './b.ts'],
  ['core/d.ts', 'zod/mini'],
  ['functions/d.ts', '../core/d.ts'],
  ['agent/d.ts', '../core/d.ts'],
  ['cli/d.ts', '../core/d.ts'],
  ['cli/commands/show.ts', '../d.ts'],
  ['local/d.ts', '../functions/d.ts'],
  ['world/simulate.ts', '../functions/d.ts'],
  ['client/d.ts', '../core/d.ts'],
  ['present/d.ts', '../core/d.ts'],
  ['console/d.ts', '../client/d.ts'],
  ['agent/e.ts', '../client/d.ts'],
  ['infra/d.ts', '../functions/d.ts'],
  ['test/d.ts', '../infra/d.ts'],
  ['bench/d.ts', '../local/d.ts'],
];

describe('import directions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdoff-directions-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const plant = (file: string, imports: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    const source = imports === '' ? 'export const free = 1;\n' : `import * as it from '${imports}';\nexport { it };\n`;
    writeFileSync(join(folder, file), source);
  };

  test('the repository is cruised, and keeps to them', async () => {
    const summary = await cruise(root);
    expect(summary.totalCruised).toBeGreaterThan(20);
    expect(summary.violations).toEqual([]);
  });

  test('each rule finds its planted violation, and nothing that is allowed', async () => {
    cpSync(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
    for (const name of FOLDERS) plant(`${name}/free.ts`, '');
    for (const [, file, imports] of PLANTED) plant(file, imports);
    for (const [file, imports] of ALLOWED) plant(file, imports);

    const { violations } = await cruise(folder);

    const found = violations.map(({ rule, from }) => `${rule.name} ${from}`).toSorted();
    expect(found).toEqual(PLANTED.map(([rule, file]) => `${rule} ${file}`).toSorted());
    const { forbidden } = Config.parse(createRequire(import.meta.url)(config));
    expect(new Set(PLANTED.map(([rule]) => rule))).toEqual(new Set(forbidden.map(({ name }) => name)));
  });
});
