/** Word of a run whose data is not where the CLI looks first: left where it does look, as long as the run lasts. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ELSEWHERE, USUAL_DATA } from '../../client/local-run.ts';
import { isAlive } from './ancestors.ts';

/**
 * @param directory where `npm start` was called
 * @returns takes the word back
 */
export function leaveWord(directory: string, dataDir: string, pid: number): () => void {
  if (resolve(dataDir) === resolve(directory, USUAL_DATA)) return () => undefined;
  const folder = join(directory, USUAL_DATA, ELSEWHERE);
  const file = join(folder, String(pid));
  mkdirSync(folder, { recursive: true });
  // A run that was killed could not take its own back.
  for (const name of readdirSync(folder)) if (!isAlive(Number(name))) rmSync(join(folder, name), { force: true });
  writeFileSync(file, resolve(dataDir), { mode: 0o600 });
  return () => rmSync(file, { force: true });
}
