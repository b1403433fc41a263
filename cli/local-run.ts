/** Which run of `npm start` is meant where nobody says it: the usual one of this directory, or the only one that lives. */
import { join } from 'node:path';
import { ELSEWHERE, PID_FILE, USUAL_DATA } from '../client/local-run.ts';
import { CliError } from './errors.ts';
import type { Io } from './io.ts';

/**
 * The data folder to read. The usual one, unless nobody runs there and one run of this directory keeps its data elsewhere.
 *
 * @throws {CliError} NoLocalControlPlane where several do, and none is the usual one
 */
export async function findLocalRun(io: Io): Promise<string> {
  const usual = join(io.cwd, USUAL_DATA);
  const others = await runsElsewhere(usual, io);
  const [only, ...more] = others;
  if (only === undefined || io.isAlive(Number(await textOf(join(usual, PID_FILE), io)))) return usual;
  if (more.length === 0) return only;
  throw new CliError('NoLocalControlPlane', {
    what: `${others.length} control planes of this directory run, and which one is meant is not said`,
    why: 'each was started with a data folder of its own',
    next: `name one: ${others.map((folder) => `HOLDOFF_DATA=${folder}`).join(', or ')}`,
  });
}

async function runsElsewhere(usual: string, io: Io): Promise<string[]> {
  const folder = join(usual, ELSEWHERE);
  const alive = (await io.listFolder(folder)).filter((name) => io.isAlive(Number(name)));
  const told = await Promise.all(alive.map((name) => textOf(join(folder, name), io)));
  return told.filter((path) => path !== '').toSorted();
}

/** Empty where there is none: a run that ends takes its word back. */
async function textOf(path: string, io: Io): Promise<string> {
  try {
    return (await io.readFile(path)).trim();
  } catch {
    return '';
  }
}
