import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const SELF = 'test/architecture/tidy.test.ts';
const SOURCE_LINES_MAX = 400;

/** Not in the repository, or not written by hand. */
const SKIPPED_FOLDERS = new Set([
  'node_modules',
  '.git',
  '.cache',
  '.holdoff',
  '.simulation',
  '.stryker-tmp',
  'cdk.out',
  'coverage',
  'dist',
  'reports',
]);
const GENERATED = new Set(['package-lock.json', 'docs/openapi.json']);
const TEXT = /\.(?:ts|tsx|mjs|cjs|js|json|md|yml|yaml|sh|txt|css|html)$|^\.ci\/run$/;
const SOURCE = /\.(?:ts|tsx|mjs|cjs)$/;

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return SKIPPED_FOLDERS.has(entry.name) || entry.name.startsWith('.venv') ? [] : filesUnder(path);
    }
    return entry.isFile() ? [relative(root, path)] : [];
  });
}

/** What is said of a line that must not stand in the repository; `where` limits it to some files. */
const BANNED_LINES: ReadonlyArray<{ what: string; pattern: RegExp; where: RegExp; not?: RegExp }> = [
  { what: 'a note to oneself instead of an issue', pattern: /\b(?:TODO|FIXME|XXX)\b/, where: TEXT },
  { what: 'a path of one machine', pattern: /(?:^|[\s'"`(=:])\/(?:work|home|Users|root)\/[\w.-]/, where: TEXT },
  { what: 'a focused or skipped test', pattern: /\b(?:test|it|describe)\.(?:only|skip|todo)\(/, where: SOURCE },
  { what: 'a clock read in core', pattern: /\bnew Date\(\s*\)|\bDate\.now\b/, where: /^core\// },
  { what: 'a random number drawn in core', pattern: /\bMath\.random\b/, where: /^core\// },
  { what: 'the environment read in core', pattern: /\bprocess\.env\b/, where: /^core\// },
  { what: 'a literal partition', pattern: /arn:aws:/, where: /^(?:core|functions|infra|agent|cli)\/.*\.ts$/ },
  { what: 'a type check switched off', pattern: /@ts-(?:ignore|nocheck|expect-error)/, where: SOURCE },
];

const files = filesUnder(root).filter((file) => !GENERATED.has(file));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** `file:line what` for each banned line; this file, which has to spell them out, apart. */
function bannedLines(file: string, text: string): string[] {
  const rules = BANNED_LINES.filter(({ where }) => where.test(file));
  if (file === SELF || rules.length === 0) return [];
  return text
    .split('\n')
    .flatMap((line, index) =>
      rules.filter(({ pattern }) => pattern.test(line)).map(({ what }) => `${file}:${index + 1} ${what}`),
    );
}

describe('the repository is tidy', () => {
  test('there is something to look at', () => {
    expect(files).toContain('core/contract/table.ts');
    expect(files).toContain('package.json');
    expect(files.filter((file) => SOURCE.test(file)).length).toBeGreaterThan(20);
  });

  test(`no source file is longer than ${SOURCE_LINES_MAX} lines`, () => {
    const long = files
      .filter((file) => SOURCE.test(file))
      .map((file) => [file, textOf(file).split('\n').length - 1] as const)
      .filter(([, lines]) => lines > SOURCE_LINES_MAX);
    expect(long).toEqual([]);
  });

  test('every file is named after its subject', () => {
    const vague = /^(?:utils?|helpers?|managers?|misc|common)\b|[-.](?:utils?|helpers?|manager)\./i;
    expect(files.filter((file) => vague.test(basename(file)))).toEqual([]);
  });

  test('no banned line', () => {
    expect(files.flatMap((file) => bannedLines(file, TEXT.test(file) ? textOf(file) : ''))).toEqual([]);
  });

  test.each([
    ['core/a.ts', 'const now = new Date();'],
    ['core/a.ts', 'const now = Date.now();'],
    ['core/a.ts', 'const die = Math.random();'],
    ['core/a.ts', 'const home = process.env.HOME;'],
    ['docs/a.md', 'FIXME: say more'],
    ['docs/a.md', 'see `/home/someone/notes.md`'],
    ['test/a.test.ts', "test.skip('later', () => {});"],
    ['infra/a.ts', "const arn = 'arn:aws:s3:::bucket';"],
    ['cli/a.ts', '// @ts-ignore'],
  ])('a banned line in %s is found: %s', (file, line) => {
    expect(bannedLines(file, `\n${line}\n`)).toEqual([expect.stringContaining(`${file}:2 `)]);
  });

  test.each([
    ['core/a.ts', 'const text = new Date(at).toISOString();'],
    ['test/a.test.ts', "const arn = 'arn:aws:s3:::bucket';"],
    ['docs/a.md', 'POST /v1/nodes/{id}/retry'],
  ])('an innocent line in %s is left alone: %s', (file, line) => {
    expect(bannedLines(file, line)).toEqual([]);
  });
});
