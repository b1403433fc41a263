import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '../..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdoff-cli-'));
  execFileSync(process.execPath, [join(repository, 'cli/build.mjs'), join(folder, 'holdoff.mjs')]);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Away from the repository, so that nothing but the file itself is found. */
const run = (...words: string[]): string =>
  execFileSync(process.execPath, [join(folder, 'holdoff.mjs'), ...words], { cwd: folder, encoding: 'utf8' });

describe('the program as one file', () => {
  it('says how it is used', () => {
    expect(run('--help')).toContain('holdoff explain web');
  });

  it('runs a scenario: nothing of the virtual world was lost on the way', () => {
    expect(run('simulate', join(repository, 'docs/scenarios/two-early-failures.json'))).toContain('at the end');
  });
});
