// @ts-nocheck
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { startSqs, type QueueConsumer, type QueueDefinition, type SqsFaults } from '../../local/aws/sqs.ts';
import { CLIENT, closing, codeOf, dataDir, surroundings, until } from './surroundings.ts';

const EXACT: SqsFaults = { latenessMs: [0, 0], earlyOneIn: 0, earlyMs: 50, twiceOneIn: 0 };
const QUEUES: readonly QueueDefinition[] = [
  { name: 'work', visibilityTimeoutSeconds: 0.1, maxReceiveCount: 3, deadLetterQueue: 'dead' },
  { name: 'dead' },
];

interface Setup {
  readonly directory?: string;
  readonly faults?: Partial<SqsFaults>;
}

async function start(setup: Setup = {}) {
  const directory = setup.directory ?? dataDir();
  const { notices, ...around } = surroundings();
  const faults = { ...EXACT, ...setup.faults };
  const sqs = closing(await startSqs({ ...around, dataDir: directory, queues: QUEUES, seed: 1, faults }));
  const client = new SQSClient({ ...CLIENT, endpoint: sqs.url });
  const QueueUrl = sqs.queueUrl('work');
  return { sqs, client, QueueUrl, directory, notices };
}

/** A consumer that keeps what it was given, with the instant. */
function collector(options: Omit<QueueConsumer, 'handler'> = {}) {
  const batches: { event: SQSEvent; atMs: number }[] = [];
  const bodies = (): string[] => batches.flatMap(({ event }) => event.Records.map(({ body }) => body));
  const handler = async (event: SQSEvent): Promise<void> => {
    batches.push({ event, atMs: Date.now() });
  };
  return { batches, bodies, consumer: { ...options, handler } };
}

describe('the embedded SQS', () => {
  it('delivers a message to the consumer in the shape Lambda has it, and deletes it', async () => {
    const { sqs, client, QueueUrl } = await start();
    const { batches, consumer } = collector();
    sqs.start({ work: consumer });
    const sent = await client.send(new SendMessageCommand({ QueueUrl, MessageBody: '{"a":1}' }));
    await until(() => batches.length > 0 && sqs.depth('work') === 0);
    expect(batches[0]?.event.Records).toMatchObject([
      {
        messageId: sent.MessageId,
        body: '{"a":1}',
        md5OfBody: sent.MD5OfMessageBody,
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:work',
        awsRegion: 'us-east-1',
        attributes: { ApproximateReceiveCount: '1' },
      },
    ]);
  });

  it('holds a message back for its delay', async () => {
    const { sqs, client, QueueUrl } = await start();
    const { batches, consumer } = collector();
    sqs.start({ work: consumer });
    const before = Date.now();
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a', DelaySeconds: 1 }));
    await until(() => batches.length > 0);
    expect(batches[0]?.atMs).toBeGreaterThanOrEqual(before + 1000);
  });

  it('delivers 50 ms early when told to', async () => {
    const { sqs, client, QueueUrl } = await start({ faults: { earlyOneIn: 1 } });
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a', DelaySeconds: 1 }));
    const { batches, consumer } = collector();
    sqs.start({ work: consumer });
    await until(() => batches.length > 0);
    const [first] = batches;
    const sentMs = Number(first?.event.Records[0]?.attributes.SentTimestamp);
    expect(first?.atMs).toBeGreaterThanOrEqual(sentMs + 950);
  });

  it('delivers twice when told to: the same message, and both go', async () => {
    const { sqs, client, QueueUrl } = await start({ faults: { twiceOneIn: 1 } });
    const { batches, consumer } = collector();
    sqs.start({ work: consumer });
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a' }));
    await until(() => sqs.depth('work') === 0);
    const ids = batches.flatMap(({ event }) => event.Records.map(({ messageId }) => messageId));
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it.each([-1, 901, 1.5])('refuses a delay of %d s', async (DelaySeconds) => {
    const { client, QueueUrl, sqs } = await start();
    const call = client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a', DelaySeconds }));
    expect(await codeOf(call)).toBe('InvalidParameterValue');
    expect(sqs.depth('work')).toBe(0);
  });

  it('refuses an empty body, characters outside of XML, and a queue that does not exist', async () => {
    const { client, QueueUrl } = await start();
    const send = (MessageBody: string, url = QueueUrl): Promise<string> =>
      codeOf(client.send(new SendMessageCommand({ QueueUrl: url, MessageBody })));
    expect(await send('')).toBe('MissingParameter');
    expect(await send('\u0000')).toBe('InvalidMessageContents');
    expect(await send('a', `${QueueUrl}s`)).toBe('QueueDoesNotExist');
  });

  it('takes the good entries of a batch and names the bad ones', async () => {
    const { client, QueueUrl, sqs } = await start();
    const Entries = [
      { Id: 'good', MessageBody: 'a', DelaySeconds: 900 },
      { Id: 'bad', MessageBody: 'b', DelaySeconds: 901 },
    ];
    const answer = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    expect(answer.Successful?.map(({ Id }) => Id)).toEqual(['good']);
    expect(answer.Failed).toMatchObject([{ Id: 'bad', SenderFault: true, Code: 'InvalidParameterValue' }]);
    expect(sqs.depth('work')).toBe(1);
  });

  it('refuses a batch of eleven, an empty one, and one with an Id twice', async () => {
    const { client, QueueUrl, sqs } = await start();
    const entry = (Id: string) => ({ Id, MessageBody: 'a' });
    const send = (Entries: { Id: string; MessageBody: string }[]): Promise<string> =>
      codeOf(client.send(new SendMessageBatchCommand({ QueueUrl, Entries })));
    expect(await send('abcdefghijk'.split('').map(entry))).toBe('TooManyEntriesInBatchRequest');
    expect(await send([])).toBe('EmptyBatchRequest');
    expect(await send([entry('a'), entry('a')])).toBe('BatchEntryIdsNotDistinct');
    expect(sqs.depth('work')).toBe(0);
  });

  it('shows what was not deleted again after the visibility timeout, then buries it', async () => {
    const { sqs, client, QueueUrl, notices } = await start();
    let calls = 0;
    const handler = (): Promise<void> => {
      calls += 1;
      return Promise.reject(new Error('broken'));
    };
    sqs.start({ work: { handler } });
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'poison' }));
    await until(() => sqs.depth('dead') === 1);
    expect(calls).toBe(3);
    expect(sqs.depth('work')).toBe(0);
    expect(notices).toHaveLength(3);
  });

  it('redelivers only the messages a consumer names in batchItemFailures', async () => {
    const { sqs, client, QueueUrl } = await start();
    const seen: string[] = [];
    const handler = async (event: SQSEvent) => {
      const again = event.Records.filter(({ body }) => body === 'bad' && !seen.includes('bad'));
      seen.push(...event.Records.map(({ body }) => body));
      return { batchItemFailures: again.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    };
    sqs.start({ work: { handler, batchingWindowMs: 100 } });
    const Entries = ['good', 'bad'].map((body) => ({ Id: body, MessageBody: body }));
    await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    await until(() => seen.length >= 3 && sqs.depth('work') === 0);
    expect(seen.toSorted()).toEqual(['bad', 'bad', 'good']);
  });

  it('never has more batches under way than the maximum concurrency', async () => {
    const { sqs, client, QueueUrl } = await start();
    let running = 0;
    let most = 0;
    const release: (() => void)[] = [];
    const handler = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => release.push(resolve));
      running -= 1;
    };
    const Entries = 'abcdef'.split('').map((body) => ({ Id: body, MessageBody: body }));
    await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    sqs.start({ work: { handler, batchSize: 1, maximumConcurrency: 2 } });
    await until(() => {
      release.shift()?.();
      return sqs.depth('work') === 0 && running === 0;
    });
    expect(most).toBe(2);
  });

  it('fills a batch for as long as the batching window is open', async () => {
    const { sqs, client, QueueUrl } = await start();
    const { batches, bodies, consumer } = collector({ batchingWindowMs: 5_000, batchSize: 2 });
    sqs.start({ work: consumer });
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a' }));
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'b' }));
    await until(() => bodies().length === 2);
    expect(batches).toHaveLength(1);
  });

  it('can be polled, and counts what is delayed and what is in flight', async () => {
    const { client, sqs } = await start();
    const QueueUrl = sqs.queueUrl('dead');
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'now' }));
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'later', DelaySeconds: 900 }));
    const counts = async () => {
      const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
      const { ApproximateNumberOfMessages: visible, ApproximateNumberOfMessagesNotVisible: inFlight } =
        Attributes ?? {};
      return { visible, inFlight, delayed: Attributes?.['ApproximateNumberOfMessagesDelayed'] };
    };
    await expect.poll(counts).toEqual({ visible: '1', inFlight: '0', delayed: '1' });
    const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl }));
    expect(Messages.map(({ Body }) => Body)).toEqual(['now']);
    expect(await counts()).toEqual({ visible: '0', inFlight: '1', delayed: '1' });
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: Messages[0]?.ReceiptHandle }));
    expect(await counts()).toEqual({ visible: '0', inFlight: '0', delayed: '1' });
  });

  it('keeps messages over a restart', async () => {
    const first = await start();
    await first.client.send(new SendMessageCommand({ QueueUrl: first.QueueUrl, MessageBody: 'kept' }));
    // Nothing is closed first: a process that is killed says no goodbye.
    const second = await start({ directory: first.directory });
    const { bodies, consumer } = collector();
    second.sqs.start({ work: consumer });
    await until(() => bodies().length > 0);
    expect(bodies()).toEqual(['kept']);
  });
});
