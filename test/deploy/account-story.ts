/** What the account holds: the table's items, no dead letters, no refused permission; a change in place; and nothing, in the end. */
import { DynamoDBClient, GetItemCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { existsSync, readdirSync } from 'node:fs';
import * as z from 'zod/mini';
import type { NodeJson } from '../../core/contract/answers.ts';
import { parseNodeId } from '../../core/kit/ids.ts';
import { FORMAT_COMMON, itemKey } from '../../functions/aws/item.ts';
import { invoke, query } from './aws.ts';
import { createMachine, type Deployed } from './deployed.ts';
import { DeployTestError, holds, same } from './steps.ts';
import { REGION, ROOT } from './workshop.ts';

const SweepReport = z.object({ failed: z.number() });
const STACKS = ['holdoff-control-plane', 'holdoff-agent'];

const clientOptions = ({ emulator }: Deployed) => ({ region: REGION, endpoint: emulator.url, credentials: ROOT });

/** The item of a node, as the table has it. */
async function itemOf(deployed: Deployed, nodeId: string): Promise<Record<string, unknown>> {
  const client = new DynamoDBClient(clientOptions(deployed));
  const id = parseNodeId(nodeId) ?? '';
  const { Item } = await client.send(
    new GetItemCommand({ TableName: deployed.tableName, Key: itemKey('node', id), ConsistentRead: true }),
  );
  client.destroy();
  if (Item === undefined) throw new DeployTestError(`the table has no item of ${nodeId}`);
  return unmarshall(Item);
}

/** After the stories: everything is where it belongs. */
export async function checkAccount(deployed: Deployed, node: NodeJson): Promise<void> {
  const { step, note } = deployed.steps;
  await step('the table holds what the API says', async () => {
    const item = await itemOf(deployed, node.nodeId);
    same('format', item['format'], FORMAT_COMMON);
    holds('each turn was one write', Number(item['revision']) >= 8, item['revision']);
    holds('it is listed and a member of its group', 'lpk' in item && 'gpk' in item, Object.keys(item));
    note(`${node.nodeId}: revision ${String(item['revision'])}, ${Object.keys(item).length} attributes`);
  });
  await step('the deployed sweep runs, and finds nothing that timers had left behind', async () => {
    const report = await invoke(deployed.emulator.url, 'holdoff-sweep', {});
    note(JSON.stringify(report));
    same('failed', z.parse(SweepReport, report).failed, 0);
  });
  await step('no dead letter, and no permission missing from any role', async () => {
    same('dead letters', await deadLetters(deployed), {
      'holdoff-commands-dead': 0,
      'holdoff-events-dead': 0,
      'holdoff-timers-dead': 0,
    });
    const denied = deployed.emulator.server
      .log()
      .split('\n')
      .filter((line) => line.startsWith('DENIED ') && line.includes(':assumed-role/holdoff-control-plane'));
    same('denied to handlers', [...new Set(denied)], []);
  });
}

async function deadLetters(deployed: Deployed): Promise<Record<string, number>> {
  const client = new SQSClient(clientOptions(deployed));
  const { QueueUrls = [] } = await client.send(new ListQueuesCommand({}));
  const dead = QueueUrls.filter((url) => url.endsWith('-dead')).sort();
  const counts: Record<string, number> = {};
  for (const QueueUrl of dead) {
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] }),
    );
    counts[QueueUrl.split('/').at(-1) ?? ''] = Number(Attributes?.['ApproximateNumberOfMessages']);
  }
  client.destroy();
  return counts;
}

type Context = Readonly<Record<string, string>>;

/** The same again changes nothing. */
export async function tellRepetition({ cdk, steps }: Deployed, settings: Context): Promise<void> {
  await steps.step('deployed again from a new synthesis: no difference, no change', async () => {
    const again = await cdk.synth('again', settings);
    const diff = await cdk.diff(again);
    holds('there is no difference', diff.code === 0, diff.output.slice(-2000));
    const said = await cdk.deploy(again);
    same('stacks without changes', said.match(/\(no changes\)/g)?.length, STACKS.length);
  });
}

/** Other settings change what they name and nothing else; answers the new assembly. */
export async function tellChange(deployed: Deployed, settings: Context, node: NodeJson): Promise<string> {
  const { cdk, steps, emulator } = deployed;
  const changed = { ...settings, removalPolicy: 'destroy', activeReportSeconds: '5', nodeTag: 'fleet=prod' };
  return steps.step('other settings: the difference names them, and the data stays', async () => {
    const before = await itemOf(deployed, node.nodeId);
    const assembly = await cdk.synth('changed', changed);
    const diff = await cdk.diff(assembly);
    same('exit code of the difference', diff.code, 1);
    for (const expected of ['HOLDOFF_ACTIVE_REPORT_SECONDS', 'ssm:resourceTag/fleet', 'DeletionProtectionEnabled']) {
      holds(`the difference names ${expected}`, diff.output.includes(expected), diff.output.slice(-4000));
    }
    const outputs = cdk.outputs();
    await cdk.deploy(assembly);
    // The difference says "may be replaced" of the table; it is not.
    same('the outputs', cdk.outputs(), outputs);
    same('the item', await itemOf(deployed, node.nodeId), before);
    const roles = await query(emulator.url, 'iam', 'GetAccountAuthorizationDetails', {});
    holds('the role of wakes is narrowed to the tag', decodeURIComponent(roles).includes('ssm:resourceTag/fleet'));
    const fresh = { nodeId: 'i-0000000000000001c', group: 'web', version: '1.20.5', offered: '1.21.0' };
    const answer = await createMachine(deployed, fresh).report('Idle');
    same('reportEverySeconds of a node under way', answer.reportEverySeconds, 5);
    return assembly;
  });
}

/** Uninstalls, and looks for what is left. */
export async function tellEnd(deployed: Deployed, assembly: string): Promise<void> {
  const { cdk, steps, emulator, workshop } = deployed;
  await steps.step('destroy leaves nothing', async () => {
    await cdk.destroy(assembly);
    for (const stack of STACKS) {
      const found = await query(emulator.url, 'cloudformation', 'DescribeStacks', { StackName: stack }).catch(
        () => null,
      );
      holds(`${stack} is gone`, found === null || found.includes('DELETE_COMPLETE'), found);
    }
    const dynamodb = new DynamoDBClient(clientOptions(deployed));
    const sqs = new SQSClient(clientOptions(deployed));
    const { TableNames = [] } = await dynamodb.send(new ListTablesCommand({}));
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
    dynamodb.destroy();
    sqs.destroy();
    const roles = await query(emulator.url, 'iam', 'ListRoles', {});
    same('tables and queues', [TableNames, QueueUrls], [[], []]);
    holds('no role of the deployment is left', !/<RoleName>holdoff-/.test(roles), roles);
    same('documents', existsSync(workshop.path('documents')) ? readdirSync(workshop.path('documents')) : [], []);
  });
}
