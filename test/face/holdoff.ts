/** Runs one command line against an API that answers as it is told. */
import { COMMANDS } from '../../cli/commands/all.ts';
import type { ExitCode } from '../../cli/errors.ts';
import { runCommandLine } from '../../cli/run.ts';
import { startApi, type ApiDouble, type Reply, type Responder } from './api-double.ts';
import { fakeIo, type FakeIo, type World } from './fake-io.ts';

export type Ran = {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
  readonly api: ApiDouble;
};

/** Starts an API, uses it, and stops it whatever happened. */
export async function withApi<T>(
  respond: Responder,
  use: (api: ApiDouble) => Promise<T>,
  clock: { date?: Date } = {},
): Promise<T> {
  const api = await startApi(respond, clock);
  try {
    return await use(api);
  } finally {
    await api.close();
  }
}

/** A world whose `npm start` wrote the file given. */
export const startedIo = (localFile: string, world: World = {}): FakeIo =>
  fakeIo({ ...world, files: { ...world.files, '/here/.holdoff/local.json': localFile } });

/** What a command printed, exited with, and asked of the API. */
export const holdoff = (line: string, respond: Responder, world: World = {}): Promise<Ran> =>
  withApi(respond, async (api) => {
    const io = startedIo(api.localFile, world);
    const code = await runCommandLine(line.split(' '), COMMANDS, io);
    return { code, out: io.stdout(), err: io.stderr(), api };
  });

/** A success of the API. */
export const ok = (body: object, status = 200): Reply => ({ status, body: { api: '1.0', ...body } });

/** A list of the API, whole. */
export const items = (...list: object[]): Reply => ok({ items: list });
