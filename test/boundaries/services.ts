/** The AWS that a world's processes call: real SDK clients, answered in this process instead of over the network. */
import { type AttributeValue, ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { ConflictException, SchedulerClient } from '@aws-sdk/client-scheduler';
import { SQSClient } from '@aws-sdk/client-sqs';
import { InvalidInstanceId, SSMClient } from '@aws-sdk/client-ssm';
import * as z from 'zod/mini';
import { TABLE } from '../../core/table.ts';
import type { Attributes, Cloud } from './cloud.ts';
import { external } from './process.ts';

export const QUEUES = { vernier: 'https://sqs/vernier', commands: 'https://sqs/commands' } as const;

const IN_PROCESS = { step: 'initialize', priority: 'high', name: 'answeredInProcess' } as const;
const NOWHERE = { region: 'eu-west-1', credentials: { accessKeyId: 'none', secretAccessKey: 'none' } };
const done = { output: { $metadata: {} }, response: null };

const scheduleInput = z.object({
  Name: z.string(),
  ScheduleExpression: z.string(),
  Target: z.object({ Input: z.string() }),
});
export const scheduler = new SchedulerClient(NOWHERE);
scheduler.middlewareStack.add(
  () =>
    async ({ input }) => {
      const { Name, ScheduleExpression, Target } = z.parse(scheduleInput, input);
      const at = Date.parse(`${ScheduleExpression.slice('at('.length, -1)}Z`);
      const taken = await external('Scheduler CreateSchedule', true, (cloud) => cloud.createSchedule(Name, at, Target.Input));
      if (!taken) throw new ConflictException({ message: `${Name} exists`, Message: `${Name} exists`, $metadata: {} });
      return done;
    },
  IN_PROCESS,
);

const messageInput = z.object({ QueueUrl: z.string(), MessageBody: z.string(), DelaySeconds: z.optional(z.number()) });
export const sqs = new SQSClient(NOWHERE);
sqs.middlewareStack.add(
  () =>
    async ({ input }) => {
      const { QueueUrl, MessageBody, DelaySeconds } = z.parse(messageInput, input);
      const queue = QueueUrl === QUEUES.vernier ? 'vernier' : 'commands';
      await external(`SQS SendMessage (${queue})`, true, (cloud) => cloud.queued(queue, MessageBody, DelaySeconds ?? 0));
      return done;
    },
  IN_PROCESS,
);

const eventsInput = z.object({ Entries: z.array(z.object({ Detail: z.string() })) });
export const bus = new EventBridgeClient(NOWHERE);
bus.middlewareStack.add(
  () =>
    async ({ input }) => {
      const { Entries } = z.parse(eventsInput, input);
      await external('EventBridge PutEvents', true, (cloud) => {
        for (const { Detail } of Entries) cloud.published(Detail);
      });
      return done;
    },
  IN_PROCESS,
);

const commandInput = z.object({ InstanceIds: z.array(z.string()) });
export const ssm = new SSMClient(NOWHERE);
ssm.middlewareStack.add(
  () =>
    async ({ input }) => {
      const { InstanceIds } = z.parse(commandInput, input);
      const known = await external('SSM SendCommand', true, (cloud) => cloud.commanded(InstanceIds));
      if (!known) throw new InvalidInstanceId({ message: 'not a managed instance', $metadata: {} });
      return done;
    },
  IN_PROCESS,
);

const attribute = z.object({ S: z.string() });
const attributes = z.record(
  z.string(),
  z.custom<AttributeValue>((value) => typeof value === 'object'),
);
const logInput = z.object({
  Item: z.optional(attributes),
  ExpressionAttributeValues: z.optional(z.record(z.string(), attribute)),
  Limit: z.optional(z.number()),
});
const textOf = (value: unknown): string => z.parse(attribute, value).S;

/** Only the event log speaks to DynamoDB itself here: items go through the store's twin in memory. */
export const dynamodb = new DynamoDBClient(NOWHERE);
dynamodb.middlewareStack.add(
  () =>
    async ({ input }) => {
      const { Item, ExpressionAttributeValues: values, Limit } = z.parse(logInput, input);
      if (Item === undefined) {
        const items = await external('DynamoDB Query (log)', false, ({ log }) => query(log, textOf(values?.[':p']), values?.[':s']?.S, Limit));
        return { output: { Items: items, $metadata: {} }, response: null };
      }
      const fresh = await external('DynamoDB PutItem (log)', true, ({ log }) => put(log, Item));
      if (!fresh) throw new ConditionalCheckFailedException({ message: 'kept already', $metadata: {} });
      return done;
    },
  IN_PROCESS,
);

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
