/** Puts pinned Python tools into an environment of their own, once. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * @param name of the environment's folder at the top of the repository
 * @param pins the file beside this one that pins every package
 * @returns the folder of its commands; made anew when the pinned versions have changed
 */
export function ensurePython(name: `.venv-${string}`, pins: string): string {
  const venv = resolve(import.meta.dirname, '../..', name);
  const commands = join(venv, 'bin');
  const stamp = join(venv, 'holdoff-requirements.txt');
  const requirements = join(import.meta.dirname, pins);
  const wanted = readFileSync(requirements, 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return commands;
  rmSync(venv, { recursive: true, force: true });
  const run = (file: string, args: readonly string[]): void => void execFileSync(file, args, { stdio: 'inherit' });
  run('python3', ['-m', 'venv', venv]);
  run(join(commands, 'pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', requirements]);
  writeFileSync(stamp, wanted);
  return commands;
}
