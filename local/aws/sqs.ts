import { join } from 'node:path';
import * as z from 'zod/mini';
import { chanceFrom } from './chance.ts';
import { AwsError, EmbeddedAwsError } from './errors.ts';
import { consume, type Consuming, type QueueConsumer } from './sqs-consumer.ts';
import { md5, openQueue, type Queue, type QueueDefinition, type SqsFaults } from './sqs-queue.ts';
import { byTarget, readInput, serveWire, type Surroundings } from './wire.ts';

export type { QueueConsumer } from './sqs-consumer.ts';
export type { QueueDefinition, SqsFaults } from './sqs-queue.ts';

export const SQS_FAULTS: SqsFaults = { latenessMs: [0, 1_500], earlyOneIn: 20, earlyMs: 50, twiceOneIn: 20 };

export interface SqsOptions extends Surroundings {
  readonly port?: number;
  readonly dataDir: string;
  readonly queues: readonly QueueDefinition[];
  readonly seed?: number | undefined;
  readonly faults?: Partial<SqsFaults> | undefined;
}

export interface EmbeddedSqs {
  readonly url: string;
  readonly queueUrl: (name: string) => string;
  readonly queueArn: (name: string) => string;
  /** Begins to deliver; a queue without a consumer keeps its messages. */
  readonly start: (consumers: Readonly<Record<string, QueueConsumer>>) => void;
  /** Sends without the wire, as a service of AWS does to a dead-letter queue. */
  readonly send: (name: string, body: string) => void;
  /** Messages in a queue, whether visible or not. */
  readonly depth: (name: string) => number;
  /** Delivers nothing more and waits for the batches under way; messages are still taken. */
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The longest body, and the longest sum of a batch: 1 MiB since August 2025. */
const BODY_BYTES_MAX = 1024 * 1024;
const DELAY_SECONDS_MAX = 900;
const BATCH_MAX = 10;

const Entry = z.object({
  MessageBody: z.optional(z.string()),
  DelaySeconds: z.optional(z.number()),
  MessageAttributes: z.optional(z.record(z.string(), z.unknown())),
  MessageGroupId: z.optional(z.string()),
  MessageDeduplicationId: z.optional(z.string()),
});
type Entry = z.infer<typeof Entry>;
const ToQueue = z.object({ QueueUrl: z.string() });
const SendMessage = z.extend(Entry, { QueueUrl: z.string() });
const SendMessageBatch = z.extend(ToQueue, { Entries: z.optional(z.array(z.extend(Entry, { Id: z.string() }))) });
const ReceiveMessage = z.extend(ToQueue, {
  MaxNumberOfMessages: z.optional(z.number()),
  VisibilityTimeout: z.optional(z.number()),
});
const ChangeMessageVisibility = z.extend(ToQueue, { ReceiptHandle: z.string(), VisibilityTimeout: z.number() });
const DeleteMessage = z.extend(ToQueue, { ReceiptHandle: z.string() });
const GetQueueUrl = z.object({ QueueName: z.string() });

/** Starts the stand-in of SQS standard queues: late, now and then early or twice, strict, kept on disk. */
export async function startSqs(options: SqsOptions): Promise<EmbeddedSqs> {
  const chance = chanceFrom(options.seed);
  const faults = { ...SQS_FAULTS, ...options.faults };
  const queues = new Map<string, Queue>();
  const consuming: Consuming[] = [];

  const named = (name: string): Queue => {
    const queue = queues.get(name);
    if (queue === undefined) throw new EmbeddedAwsError('UnknownName', `there is no queue ${name}`);
    return queue;
  };
  const queueArn = (name: string): string => `arn:aws:sqs:${options.region}:${options.accountId}:${name}`;
  const addressed = (queueUrl: string): Queue => {
    const queue = queues.get(new RegExp(`/${options.accountId}/([A-Za-z0-9_-]{1,80})$`).exec(queueUrl)?.[1] ?? '');
    if (queue === undefined) throw noSuchQueue();
    return queue;
  };
  for (const definition of options.queues) {
    const bury = (body: string): void => {
      if (definition.deadLetterQueue !== undefined) named(definition.deadLetterQueue).send(body, 0);
    };
    const file = join(options.dataDir, 'sqs', `${definition.name}.jsonl`);
    queues.set(definition.name, openQueue({ definition, file, chance, faults, bury }));
  }
  for (const { deadLetterQueue } of options.queues) if (deadLetterQueue !== undefined) named(deadLetterQueue);

  const server = await serveWire(options.port ?? 0, options, {
    signingName: 'sqs',
    contentType: 'application/x-amz-json-1.0',
    answer: byTarget('AmazonSQS', {
      SendMessage: (body) => {
        const input = readInput(SendMessage, body);
        return send(addressed(input.QueueUrl), input);
      },
      SendMessageBatch: (body) => {
        const input = readInput(SendMessageBatch, body);
        return sendBatch(addressed(input.QueueUrl), input.Entries ?? []);
      },
      ReceiveMessage: (body) => {
        const input = readInput(ReceiveMessage, body);
        const max = input.MaxNumberOfMessages ?? 1;
        if (!Number.isInteger(max) || max < 1 || max > BATCH_MAX) {
          throw invalid(`Value ${max} for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10.`);
        }
        const messages = addressed(input.QueueUrl).receive(
          max,
          input.VisibilityTimeout === undefined ? undefined : input.VisibilityTimeout * 1000,
        );
        return {
          Messages: messages.map((message) => ({
            MessageId: message.messageId,
            ReceiptHandle: message.receiptHandle,
            Body: message.body,
            MD5OfBody: md5(message.body),
            Attributes: { ApproximateReceiveCount: String(message.receives), SentTimestamp: String(message.sentMs) },
          })),
        };
      },
      DeleteMessage: (body) => {
        const input = readInput(DeleteMessage, body);
        addressed(input.QueueUrl).remove(input.ReceiptHandle);
      },
      ChangeMessageVisibility: (body) => {
        const input = readInput(ChangeMessageVisibility, body);
        addressed(input.QueueUrl).hide(input.ReceiptHandle, input.VisibilityTimeout * 1000);
      },
      GetQueueUrl: (body) => {
        const name = readInput(GetQueueUrl, body).QueueName;
        if (!queues.has(name)) throw noSuchQueue();
        return { QueueUrl: queueUrl(name) };
      },
      GetQueueAttributes: (body) => {
        const queue = addressed(readInput(ToQueue, body).QueueUrl);
        const { visible, inFlight, delayed } = queue.depth();
        return {
          Attributes: {
            QueueArn: queueArn(queue.definition.name),
            ApproximateNumberOfMessages: String(visible),
            ApproximateNumberOfMessagesNotVisible: String(inFlight),
            ApproximateNumberOfMessagesDelayed: String(delayed),
            VisibilityTimeout: String(queue.visibilityTimeoutMs / 1000),
          },
        };
      },
    }),
  });
  const queueUrl = (name: string): string => `${server.url}/${options.accountId}/${named(name).definition.name}`;
  return {
    url: server.url,
    queueUrl,
    queueArn,
    start: (consumers) => {
      for (const [name, consumer] of Object.entries(consumers)) {
        const { region, notify } = options;
        consuming.push(consume({ queue: named(name), consumer, arn: queueArn(name), region, notify }));
      }
    },
    send: (name, body) => {
      named(name).send(body, 0);
    },
    depth: (name) => {
      const { visible, inFlight, delayed } = named(name).depth();
      return visible + inFlight + delayed;
    },
    stop: async () => {
      await Promise.all(consuming.map((each) => each.stop()));
    },
    close: async () => {
      await server.close();
      for (const queue of queues.values()) queue.close();
    },
  };
}

function send(queue: Queue, entry: Entry): { MessageId: string; MD5OfMessageBody: string } {
  const body = entry.MessageBody ?? '';
  const refusal = wrong(entry);
  if (refusal !== null) throw refusal;
  return { MessageId: queue.send(body, entry.DelaySeconds ?? 0).messageId, MD5OfMessageBody: md5(body) };
}

function sendBatch(queue: Queue, entries: readonly (Entry & { readonly Id: string })[]): unknown {
  checkBatch(entries);
  const Successful: unknown[] = [];
  const Failed: unknown[] = [];
  for (const entry of entries) {
    const refusal = wrong(entry);
    if (refusal === null) Successful.push({ Id: entry.Id, ...send(queue, entry) });
    else Failed.push({ Id: entry.Id, SenderFault: true, Code: refusal.code, Message: refusal.message });
  }
  return { Successful, Failed };
}

function checkBatch(entries: readonly (Entry & { readonly Id: string })[]): void {
  const ids = entries.map(({ Id }) => Id);
  const bytes = entries.reduce((sum, entry) => sum + Buffer.byteLength(entry.MessageBody ?? ''), 0);
  if (ids.length === 0)
    throw batchError('EmptyBatchRequest', 'There should be at least one SendMessageBatchRequestEntry');
  if (ids.length > BATCH_MAX) throw batchError('TooManyEntriesInBatchRequest', 'Maximum number of entries is 10');
  if (new Set(ids).size < ids.length) throw batchError('BatchEntryIdsNotDistinct', 'Two or more entries have one Id');
  const bad = ids.find((id) => !/^[A-Za-z0-9_-]{1,80}$/.test(id));
  if (bad !== undefined)
    throw batchError('InvalidBatchEntryId', `${bad} is not 1 to 80 letters, digits, hyphens, underscores`);
  if (bytes > BODY_BYTES_MAX)
    throw batchError('BatchRequestTooLong', `The batch is longer than ${BODY_BYTES_MAX} bytes`);
}

/** What is wrong with a message, or null. */
function wrong(entry: Entry): AwsError | null {
  const { MessageBody: body = '', DelaySeconds: delay = 0 } = entry;
  if (body === '') return new AwsError('MissingParameter', 'The request must contain the parameter MessageBody.');
  if (Buffer.byteLength(body) > BODY_BYTES_MAX) return invalid(`Message must be shorter than ${BODY_BYTES_MAX} bytes.`);
  if (!/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u.test(body)) {
    return new AwsError('InvalidMessageContents', 'The message has characters outside of the allowed set.');
  }
  if (!Number.isInteger(delay) || delay < 0 || delay > DELAY_SECONDS_MAX) {
    return invalid(
      `Value ${delay} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.`,
    );
  }
  const unsupported = (['MessageAttributes', 'MessageGroupId', 'MessageDeduplicationId'] as const).find(
    (field) => entry[field] !== undefined,
  );
  return unsupported === undefined ? null : new AwsError('UnsupportedOperation', `The stand-in has no ${unsupported}`);
}

const invalid = (message: string): AwsError => new AwsError('InvalidParameterValue', message);
const noSuchQueue = (): AwsError =>
  new AwsError(
    'QueueDoesNotExist',
    'The specified queue does not exist.',
    400,
    'AWS.SimpleQueueService.NonExistentQueue',
  );
const batchError = (code: string, message: string): AwsError =>
  new AwsError(code, message, 400, `AWS.SimpleQueueService.${code}`);
