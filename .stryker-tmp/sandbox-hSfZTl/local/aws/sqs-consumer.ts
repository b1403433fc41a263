// @ts-nocheck
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Notify } from './errors.ts';
import { md5, type Queue, type Received } from './sqs-queue.ts';

/** An event source mapping: a function that consumes a queue. */
export interface QueueConsumer {
  readonly handler: (event: SQSEvent) => Promise<SQSBatchResponse | void>;
  /** Default 10. */
  readonly batchSize?: number;
  /** Default 2, the least Lambda takes. */
  readonly maximumConcurrency?: number;
  /** How long a batch may wait to fill; default 0. */
  readonly batchingWindowMs?: number;
}

export interface ConsumerOptions {
  readonly queue: Queue;
  readonly consumer: QueueConsumer;
  readonly arn: string;
  readonly region: string;
  readonly notify: Notify;
}

/** A consumer at work. */
export interface Consuming {
  /** Takes no more messages, and waits for the batches under way. */
  readonly stop: () => Promise<void>;
}

/**
 * Polls a queue as Lambda does: at most `maximumConcurrency` batches at once; what the function failed, all of it when
 * it threw, is seen again after the visibility timeout; the rest is deleted.
 */
export function consume(options: ConsumerOptions): Consuming {
  const { queue, consumer } = options;
  const { batchSize = 10, maximumConcurrency = 2, batchingWindowMs = 0 } = consumer;
  const running = new Set<Promise<void>>();
  let window: NodeJS.Timeout | undefined;
  let stopped = false;

  const look = (): void => {
    const waiting = queue.visible;
    if (stopped || waiting === 0 || running.size >= maximumConcurrency) return;
    if (batchingWindowMs > 0 && waiting < batchSize) {
      window ??= setTimeout(poll, batchingWindowMs);
      return;
    }
    poll();
  };
  const poll = (): void => {
    clearTimeout(window);
    window = undefined;
    if (stopped || running.size >= maximumConcurrency) return;
    const batch = queue.receive(batchSize);
    if (batch.length === 0) return;
    const work = deliver(batch, options).finally(() => {
      running.delete(work);
      look();
    });
    running.add(work);
    look();
  };
  queue.watch(look);
  look();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(window);
      await Promise.all(running);
    },
  };
}

async function deliver(batch: readonly Received[], options: ConsumerOptions): Promise<void> {
  const { queue, consumer, notify } = options;
  const name = queue.definition.name;
  try {
    const answer = await consumer.handler({ Records: batch.map((message) => toRecord(message, options)) });
    const failed = new Set((answer?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
    const known = new Set(batch.map(({ messageId }) => messageId));
    // Lambda takes an identifier it did not send for a failure of the whole batch.
    const unknown = [...failed].filter((identifier) => !known.has(identifier));
    if (unknown.length > 0) throw new TypeError(`batchItemFailures names unknown messages: ${unknown.join()}`);
    if (failed.size > 0) {
      notify({
        level: 'warn',
        service: 'sqs',
        message: `${failed.size} of ${batch.length} messages of ${name} failed`,
      });
    }
    for (const message of batch) if (!failed.has(message.messageId)) queue.remove(message.receiptHandle);
  } catch (error) {
    notify({ level: 'error', service: 'sqs', message: `the consumer of ${name} failed a whole batch`, error });
  }
}

function toRecord(message: Received, { arn, region }: ConsumerOptions): SQSRecord {
  return {
    messageId: message.messageId,
    receiptHandle: message.receiptHandle,
    body: message.body,
    attributes: {
      ApproximateReceiveCount: String(message.receives),
      SentTimestamp: String(message.sentMs),
      SenderId: 'AIDALOCAL',
      ApproximateFirstReceiveTimestamp: String(message.firstReceiveMs ?? message.sentMs),
    },
    messageAttributes: {},
    md5OfBody: md5(message.body),
    eventSource: 'aws:sqs',
    eventSourceARN: arn,
    awsRegion: region,
  };
}
