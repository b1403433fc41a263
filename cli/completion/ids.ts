/** Ids for a completion, asked of the control plane: as many as come while somebody waits with a finger on Tab. */
import { callOf } from '../../client/request.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { milliseconds } from '../../core/kit/time.ts';
import { readList } from '../answers.ts';
import { type Client, createClient } from '../client.ts';
import { type ConnectionOptions, resolveConnection } from '../connection.ts';
import { CliError, ProblemError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Asked } from './place.ts';

/** Longer than this and a shell seems to hang. */
const PATIENCE = milliseconds(1000);

/**
 * What has come within a second; nothing where nobody answers or lets us ask: a completion has no place for an error.
 *
 * @param found is told each id
 */
export async function askIds(
  asked: readonly Asked[],
  { options, io, patience = PATIENCE }: { options: ConnectionOptions; io: Io; patience?: typeof PATIENCE },
  found: (id: string) => unknown,
): Promise<void> {
  const interrupted = AbortSignal.any([AbortSignal.timeout(patience), io.interrupted]);
  try {
    const connection = await resolveConnection(options, io);
    const client = createClient(connection, { timeout: patience, interrupted, now: io.now });
    await Promise.all(asked.map((noun) => LISTS[noun](client, found)));
  } catch (error) {
    if (!(error instanceof CliError || error instanceof ProblemError)) throw error;
  }
}

type ReadIds = (client: Client, found: (id: string) => unknown) => Promise<unknown>;

/** Each is told as it is read, and kept nowhere: a walk that is cut short has told what it saw. */
const told = (found: (id: string) => unknown, id: string): false => {
  found(id);
  return false;
};

const LISTS: Record<Asked, ReadIds> = {
  nodes: (client, found) =>
    readList(client, 'node', (query) => callOf(ROUTES.listNodes, { query }), {
      keep: ({ nodeId }) => told(found, nodeId),
    }),
  vms: (client, found) =>
    readList(client, 'vm', (query) => callOf(ROUTES.listVms, { query }), { keep: ({ vmId }) => told(found, vmId) }),
  groups: (client, found) =>
    readList(client, 'group', (query) => callOf(ROUTES.listGroups, { query }), {
      keep: ({ group }) => told(found, group),
    }),
};
