import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../cli/errors.ts';

const MAIN = resolve(import.meta.dirname, '../../cli/main.ts');
const TSX = resolve(import.meta.dirname, '../../node_modules/.bin/tsx');

const run = (argv: string[], cwd: string): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((done) => {
    const child = execFile(TSX, [MAIN, ...argv], { cwd }, (_error, stdout, stderr) => {
      done({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });

describe('the program itself', () => {
  it('exits with the code of what happened, and prints errors on standard error', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'holdoff-cli-'));
    const ran = await run(['vms'], empty);
    expect(ran.code).toBe(EXIT.unreachable);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toContain('error: vms: no control plane is known here');
  }, 20_000);
});
