/** SSM for the deployed functions: the project's strict stand-in, with the document of the deployed stack. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { ListCommandInvocationsCommand, SSMClient, type CommandInvocation } from '@aws-sdk/client-ssm';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { checkDocument, type SsmDocument } from '../../local/aws/ssm-document.ts';
import { type CommandEvent, startSsm } from '../../local/aws/ssm.ts';
import { DeployTestError } from './steps.ts';
import { ACCOUNT, REGION, ROOT, type Workshop } from './workshop.ts';

export interface RunCommand {
  readonly url: string;
  /** Takes the documents of the deployed stack; until then there are none. */
  readonly takeDocuments: () => readonly string[];
  /** Registers an instance; one without an agent has nothing that could be woken. */
  readonly register: (nodeId: string, agent: 'agent' | 'no agent') => void;
  /** When each wake came that the document's script left on a node, in epoch milliseconds. */
  readonly wakesOf: (nodeId: string) => readonly number[];
  /** Every command sent to a node. */
  readonly commandsTo: (nodeId: string) => Promise<readonly CommandInvocation[]>;
  readonly close: () => Promise<void>;
}

/** @param events where the stand-in's status events go: the account's default bus, once there is one */
export async function startRunCommand(workshop: Workshop, events: () => string): Promise<RunCommand> {
  const documents: Record<string, SsmDocument> = {};
  const failures: unknown[] = [];
  const ssm = await startSsm({
    region: REGION,
    accountId: ACCOUNT,
    managedDir: workshop.path('managed'),
    documents,
    faults: { loseOneIn: 0, loseEventOneIn: 0, refuseOneIn: 0 },
    emit: (event) => void putEvent(events(), event).catch((error: unknown) => failures.push(error)),
    notify: ({ message, error }) => failures.push(new Error(message, { cause: error })),
  });
  const client = new SSMClient({ region: REGION, endpoint: ssm.url, credentials: ROOT });
  const agentDirectory = (nodeId: string): string => workshop.path('nodes', nodeId);
  return {
    url: ssm.url,
    takeDocuments: () => {
      for (const file of readdirSync(workshop.path('documents'))) {
        const name = file.replace(/\.json$/, '');
        // `checkDocument` refuses what the stand-in could not run.
        const document = JSON.parse(readFileSync(workshop.path('documents', file), 'utf8')) as SsmDocument;
        checkDocument(name, document);
        documents[name] = document;
      }
      return Object.keys(documents);
    },
    register: (nodeId, agent) => {
      if (agent === 'agent') mkdirSync(`${agentDirectory(nodeId)}/wake`, { recursive: true });
      const node = { env: { HOLDOFF_AGENT_DIR: agentDirectory(nodeId) } };
      writeFileSync(workshop.path('managed', `${nodeId}.json`), JSON.stringify(node));
    },
    wakesOf: (nodeId) =>
      readdirSync(`${agentDirectory(nodeId)}/wake`)
        .filter((name) => !name.startsWith('.'))
        .map((name) => statSync(`${agentDirectory(nodeId)}/wake/${name}`).mtimeMs),
    commandsTo: async (InstanceId) => {
      const { CommandInvocations = [] } = await client.send(new ListCommandInvocationsCommand({ InstanceId }));
      return CommandInvocations;
    },
    close: async () => {
      client.destroy();
      await ssm.stop();
      await ssm.close();
      if (failures.length > 0)
        throw new DeployTestError(`the stand-in of SSM failed: ${failures.map(String).join('; ')}`);
    },
  };
}

/** Puts a status event on the default bus, as SSM does by itself. */
async function putEvent(endpoint: string, event: CommandEvent): Promise<void> {
  const client = new EventBridgeClient({ region: REGION, endpoint, credentials: ROOT });
  const entry = {
    Source: event.source,
    DetailType: event['detail-type'],
    Detail: JSON.stringify(event.detail),
    Resources: [...event.resources],
  };
  const { FailedEntryCount, Entries } = await client.send(new PutEventsCommand({ Entries: [entry] }));
  client.destroy();
  if (FailedEntryCount !== 0) throw new DeployTestError(`an event was not taken: ${JSON.stringify(Entries)}`);
}
