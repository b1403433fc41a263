/** Puts the pinned schemathesis into a Python environment of its own, once. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const VENV = resolve(import.meta.dirname, '../../.venv-fuzz');
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/** The path of the `schemathesis` command; made anew when the pinned versions have changed. */
export function ensureSchemathesis(): string {
  const command = join(VENV, 'bin', 'schemathesis');
  const stamp = join(VENV, 'holdoff-requirements.txt');
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(command) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return command;
  rmSync(VENV, { recursive: true, force: true });
  const run = (file: string, args: readonly string[]): void => void execFileSync(file, args, { stdio: 'inherit' });
  run('python3', ['-m', 'venv', VENV]);
  run(join(VENV, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS]);
  writeFileSync(stamp, wanted);
  return command;
}
