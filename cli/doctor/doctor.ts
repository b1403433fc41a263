/** Looks at everything once, in an order in which each check can say why the next could not be made. */
import { callOf } from '../../client/request.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { type Kind, readList } from '../answers.ts';
import type { Client } from '../client.ts';
import type { Connection } from '../connection.ts';
import { CliError, ProblemError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Duration } from '../../core/kit/time.ts';
import type { Account } from './account.ts';
import { checkDeployment } from './deployment.ts';
import { CHECKS, type Check, fail, type Finding, unchecked } from './finding.ts';
import { judgeAgents, judgeSchedules, judgeSweep, type Read } from './fleet.ts';
import { checkAccess, checkCredentials, probeEndpoint } from './reach.ts';

/** So many nodes and VMs are read: enough to find what is wrong with all of them. */
const READ_MAX = 1000;
const OF_THE_ACCOUNT: readonly Check[] = ['alarms', 'dead letters', 'documents', 'quotas'];

export type Patient = {
  readonly connection: Connection;
  readonly client: Client;
  readonly account: () => Promise<Account>;
  /** Of its names in the account. */
  readonly prefix: string;
  readonly timeout: Duration;
  readonly io: Pick<Io, 'now' | 'interrupted'>;
};

/** What is left to say when it is not even known whom to ask. */
export function unknownPlane(error: CliError): Finding[] {
  const { what, why, next } = error.text;
  const found = why === undefined ? what : `${what}: ${why}`;
  return CHECKS.map((check) =>
    check === 'endpoint'
      ? fail(check, found, next ?? 'name one with --endpoint URL')
      : unchecked(check, 'there is no control plane to ask'),
  );
}

/** @throws {CliError} Interrupted, by Ctrl-C; whatever else fails is a finding */
export async function examine(patient: Patient): Promise<Finding[]> {
  const { connection, client, timeout, io } = patient;
  const [credentials, probe] = await Promise.all([
    checkCredentials(connection, io.now()),
    probeEndpoint(connection, { timeout, now: io.now, interrupted: io.interrupted }),
  ]);
  const first = [credentials, probe.endpoint, probe.clock];
  const [plane, account] = await Promise.all([
    examinePlane(client, { credentials, answers: probe.answers, now: io.now }),
    examineAccount(patient, credentials),
  ]);
  return inOrder([...first, ...plane, ...account]);
}

const inOrder = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => CHECKS.indexOf(a.check) - CHECKS.indexOf(b.check));

const PLANE: readonly Check[] = ['access', 'sweep', 'schedules', 'agents'];

type Before = { readonly credentials: Finding; readonly answers: boolean; readonly now: Io['now'] };

/** What needs an answer of the control plane. */
async function examinePlane(client: Client, { credentials, answers, now }: Before): Promise<Finding[]> {
  if (credentials.status === 'fail') return none(PLANE, 'there are no credentials to ask with');
  if (!answers) return none(PLANE, 'the control plane does not answer');
  const { finding: access, summary } = await checkAccess(client);
  if (summary === null) return [access, ...none(PLANE.slice(1), 'the control plane did not let us ask')];
  const [nodes, vms] = await Promise.all([
    attempt(() => readSome(client, 'node', (query) => callOf(ROUTES.listNodes, { query }))),
    attempt(() => readSome(client, 'vm', (query) => callOf(ROUTES.listVms, { query }))),
  ]);
  const failed = [nodes, vms].find((read) => 'why' in read);
  return [
    access,
    judgeSweep(summary, now()),
    'why' in nodes || 'why' in vms
      ? unchecked(
          'schedules',
          `the fleet could not be read: ${failed !== undefined && 'why' in failed ? failed.why : ''}`,
        )
      : judgeSchedules(nodes, vms, now()),
    'why' in nodes ? unchecked('agents', `the nodes could not be read: ${nodes.why}`) : judgeAgents(nodes),
  ];
}

const none = (checks: readonly Check[], why: string): Finding[] => checks.map((check) => unchecked(check, why));

async function examineAccount({ connection, account, prefix }: Patient, credentials: Finding): Promise<Finding[]> {
  if (connection.isLocal) {
    return none(OF_THE_ACCOUNT, '`npm start` runs on this machine alone: there is no AWS account to ask');
  }
  if (credentials.status === 'fail') return none(OF_THE_ACCOUNT, 'there are no credentials to ask AWS with');
  return checkDeployment(await account(), prefix);
}

type Failed = { readonly why: string };

async function attempt<T>(read: () => Promise<T>): Promise<T | Failed> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof CliError && error.code === 'Interrupted') throw error;
    if (error instanceof CliError || error instanceof ProblemError) return { why: error.message };
    throw error;
  }
}

async function readSome<K extends Kind>(
  client: Client,
  kind: K,
  pageOf: Parameters<typeof readList<K>>[2],
): Promise<Read<Awaited<ReturnType<typeof readList<K>>>['items'][number]>> {
  const { items, cursor } = await readList(client, kind, pageOf, { limit: READ_MAX });
  return { items, more: cursor !== undefined };
}
