import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
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

describe('completion in bash, with the program as it is installed', () => {
  /** What bash offers where the cursor is; words are parted as readline parts them. */
  const offered = (...words: string[]): string[] => {
    const program = join(folder, 'holdoff.mjs');
    const line = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _holdoff; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const script = `source <("$1" completion bash); ${line}`;
    // The cursor's word is one word, also where it is still empty.
    const said = execFileSync('bash', ['--norc', '-c', script, 'bash', program, ...words], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return said.split('\n').filter((word) => word !== '');
  };
  beforeAll(() => chmodSync(join(folder, 'holdoff.mjs'), 0o755));

  it('offers commands, options and their values', () => {
    expect(offered('nodes', 're')).toEqual(['retry', 'release']);
    expect(offered('nodes', '--waiting-for', '=', 'Out')).toEqual(['OutsideWindow']);
  });

  it('is the completion of holdoff', () => {
    const said = execFileSync(
      'bash',
      ['--norc', '-c', 'source <("$1" completion bash); complete -p holdoff', 'bash', join(folder, 'holdoff.mjs')],
      { encoding: 'utf8' },
    );
    expect(said.trim()).toBe('complete -F _holdoff holdoff');
  });
});
