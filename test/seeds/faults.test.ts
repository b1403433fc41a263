/** The seeded faults, which docs/seed-coverage.md is generated from, speak of what there is. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DIFFERENCES } from '../kubevirt/differences.ts';
import { FAULTS, snippet } from './faults.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

describe('the list of seeded faults', () => {
  test('leaves nothing empty and names no fault twice', () => {
    const cells = FAULTS.flatMap(({ id, sentence, file, find, replace, test: own }) => [
      id,
      sentence,
      file,
      find,
      replace,
      own.file,
      own.title,
    ]);
    expect(cells.filter((cell) => cell.trim() === '')).toEqual([]);
    expect(new Set(FAULTS.map(({ id }) => id)).size).toBe(FAULTS.length);
    expect(FAULTS.length).toBeGreaterThan(40);
  });
});

describe('a seeded fault', () => {
  test.each(FAULTS.map((fault) => [fault.id, fault] as const))(
    '%s changes one expression that is there once',
    (_, fault) => {
      const text = read(fault.file);
      expect(text.match(snippet(fault)) ?? []).toHaveLength(1);
      expect(text.replace(snippet(fault), () => fault.replace)).not.toBe(text);
    },
  );

  test.each(FAULTS.map((fault) => [fault.id, fault] as const))(
    '%s has a test of its own',
    (_, { test: { file, title } }) => {
      expect(
        titles(file).some((known) => known.test(title)),
        `${title} in ${file}`,
      ).toBe(true);
    },
  );
});

/** What the tests of a file are called: a title with a placeholder stands for any text there. */
function titles(file: string): RegExp[] {
  const text = read(file);
  const found = [...text.matchAll(/\btest(?:\.each\([\s\S]*?\))?\(\s*(['"`])((?:\\.|(?!\1).)+)\1/g)].map(
    ([, , title = '']) => title,
  );
  const patterns = found.map(
    (title) => new RegExp(`^${title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/%[sdi]/g, '.+')}$`),
  );
  // The rows of the peer's tables are tests named after their ids.
  if (file === 'test/kubevirt/kubevirt.test.ts')
    return [...patterns, /^(?:backoff-|run-strategy\/|printable-status\/|start-failure-|api-)/];
  return patterns.filter(({ source }) => source !== '^.+$');
}

test('no fault leans on a row where we differ on purpose', () => {
  const differing = DIFFERENCES.map(({ row }) => row);
  expect(FAULTS.filter(({ test: own }) => differing.includes(own.title))).toEqual([]);
});
