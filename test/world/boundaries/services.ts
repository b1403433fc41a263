/** The SDK clients that the adapters are given: each call is a boundary, answered in this process instead of over the network. */
import { type AttributeValue, ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { ConflictException, SchedulerClient } from '@aws-sdk/client-scheduler';
import { SQSClient } from '@aws-sdk/client-sqs';
import { InvalidInstanceId, SSMClient } from '@aws-sdk/client-ssm';
import * as z from 'zod/mini';
import { TABLE } from '../../../core/contract/table.ts';
import type { Attributes, Cloud } from './cloud.ts';
import { external } from './process.ts';

export const QUEUES = { vernier: 'https://sqs/vernier', commands: 'https://sqs/commands' } as const;

const NOWHERE = { region: 'eu-west-1', credentials: { accessKeyId: 'none', secretAccessKey: 'none' } };
const $metadata = {};

/** The client with an answer of its own to each command. */
function answering<C extends object>(client: C, answer: (input: unknown) => Promise<object>): C {
  return Object.defineProperty(client, 'send', { value: ({ input }: { input: unknown }) => answer(input) });
}

const scheduleInput = z.object({
  Name: z.string(),
  ScheduleExpression: z.string(),
  Target: z.object({ Input: z.string() }),
});
export const scheduler = answering(new SchedulerClient(NOWHERE), async (input) => {
  const { Name, ScheduleExpression, Target } = z.parse(scheduleInput, input);
  const at = Date.parse(`${ScheduleExpression.slice('at('.length, -1)}Z`);
  const fresh = await external('Scheduler CreateSchedule', true, (cloud) =>
    cloud.createSchedule(Name, at, Target.Input),
  );
  if (!fresh) throw new ConflictException({ message: `${Name} exists`, Message: `${Name} exists`, $metadata });
  return { $metadata };
});

const messageInput = z.object({ QueueUrl: z.string(), MessageBody: z.string(), DelaySeconds: z.optional(z.number()) });
export const sqs = answering(new SQSClient(NOWHERE), async (input) => {
  const { QueueUrl, MessageBody, DelaySeconds } = z.parse(messageInput, input);
  const queue = QueueUrl === QUEUES.vernier ? 'vernier' : 'commands';
  await external(`SQS SendMessage (${queue})`, true, (cloud) => cloud.queued(queue, MessageBody, DelaySeconds ?? 0));
  return { $metadata };
});

const eventsInput = z.object({ Entries: z.array(z.object({ Detail: z.string() })) });
export const bus = answering(new EventBridgeClient(NOWHERE), async (input) => {
  const { Entries } = z.parse(eventsInput, input);
  await external('EventBridge PutEvents', true, (cloud) => {
    for (const { Detail } of Entries) cloud.published(Detail);
  });
  return { $metadata };
});

const commandInput = z.object({ InstanceIds: z.array(z.string()) });
export const ssm = answering(new SSMClient(NOWHERE), async (input) => {
  const { InstanceIds } = z.parse(commandInput, input);
  const known = await external('SSM SendCommand', true, (cloud) => cloud.commanded(InstanceIds));
  if (!known) throw new InvalidInstanceId({ message: 'not a managed instance', $metadata });
  return { $metadata };
});

const text = z.object({ S: z.string() });
const logInput = z.object({
  Item: z.optional(
    z.record(
      z.string(),
      z.custom<AttributeValue>((value) => typeof value === 'object'),
    ),
  ),
  ExpressionAttributeValues: z.optional(z.record(z.string(), text)),
  Limit: z.optional(z.number()),
});
const textOf = (value: unknown): string => z.parse(text, value).S;

/** Only the event log speaks to DynamoDB itself here: items go through the store's twin in memory. */
export const dynamodb = answering(new DynamoDBClient(NOWHERE), async (input) => {
  const { Item: item, ExpressionAttributeValues: values, Limit: limit } = z.parse(logInput, input);
  if (item === undefined) {
    const Items = await external('DynamoDB Query (log)', false, ({ log }) =>
      query(log, textOf(values?.[':p']), values?.[':s']?.S, limit),
    );
    return { Items, $metadata };
  }
  const fresh = await external('DynamoDB PutItem (log)', true, ({ log }) => put(log, item));
  if (!fresh) throw new ConditionalCheckFailedException({ message: 'kept already', $metadata });
  return { $metadata };
});

function put(log: Cloud['log'], item: Attributes): boolean {
  const [partition, sort] = [textOf(item[TABLE.key.partition]), textOf(item[TABLE.key.sort])];
  const key = `${partition}/${sort}`;
  if (log.has(key)) return false;
  log.set(key, { partition, sort, item });
  return true;
}

function query(log: Cloud['log'], partition: string, before: string | undefined, limit = 100): Attributes[] {
  return [...log.values()]
    .filter((entry) => entry.partition === partition && (before === undefined || entry.sort < before))
    .sort((a, b) => (a.sort < b.sort ? 1 : -1))
    .slice(0, limit)
    .map(({ item }) => item);
}
