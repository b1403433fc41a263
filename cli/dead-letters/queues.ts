/** The dead-letter queues of a deployment, with the user's own credentials; the SDK is loaded here and not before. */
import { EVENT_SOURCE } from '../../core/contract/names.ts';
import { instant, type Instant } from '../../core/kit/time.ts';
import type { Connection } from '../connection.ts';
import type { DeadQueue, Message, Replay } from './letter.ts';

export type Queues = {
  /** Everything that is there now, hidden from others for some minutes; null: there is no such queue. */
  readonly take: (queue: DeadQueue) => Promise<readonly Message[] | null>;
  /** Lets others see it again at once. */
  readonly giveBack: (queue: DeadQueue, message: Message) => Promise<void>;
  readonly remove: (queue: DeadQueue, message: Message) => Promise<void>;
  readonly send: (replay: Replay) => Promise<void>;
};

type QueuesOptions = {
  readonly prefix: string;
  readonly timeoutMs: number;
  /** In place of the usual ones of the Region, as AWS_ENDPOINT_URL has it. */
  readonly endpoint?: string | undefined;
};

/** So many are looked at in one go. */
const TAKEN_MAX = 1000;
const BATCH = 10;
const HIDDEN_SECONDS = 300;

/** Each call rejects with what AWS answered. */
export async function queuesOf(
  { region, credentials }: Pick<Connection, 'region' | 'credentials'>,
  { prefix, timeoutMs, endpoint }: QueuesOptions,
): Promise<Queues> {
  const [sqs, events] = await Promise.all([import('@aws-sdk/client-sqs'), import('@aws-sdk/client-eventbridge')]);
  const settings = {
    region,
    credentials,
    maxAttempts: 3,
    ...(endpoint === undefined ? {} : { endpoint }),
    requestHandler: { connectionTimeout: timeoutMs, requestTimeout: timeoutMs },
  };
  const queues = new sqs.SQSClient(settings);
  const bus = new events.EventBridgeClient(settings);
  const urls = new Map<string, Promise<string | null>>();
  const urlOf = (name: string): Promise<string | null> => {
    const known = urls.get(name) ?? findUrl(name);
    urls.set(name, known);
    return known;
  };
  const findUrl = async (name: string): Promise<string | null> => {
    try {
      return (await queues.send(new sqs.GetQueueUrlCommand({ QueueName: name }))).QueueUrl ?? null;
    } catch (error) {
      if (error instanceof Error && /QueueDoesNotExist|NonExistentQueue/.test(error.name)) return null;
      throw error;
    }
  };
  const dead = (queue: DeadQueue): Promise<string | null> => urlOf(`${prefix}-${queue}-dead`);
  const there = async (queue: DeadQueue): Promise<string> => {
    const url = await dead(queue);
    if (url === null) throw new Error(`there is no queue ${prefix}-${queue}-dead any more`);
    return url;
  };
  return {
    take: async (queue) => {
      const QueueUrl = await dead(queue);
      if (QueueUrl === null) return null;
      const taken = new Map<string, Message>();
      for (let empty = 0; taken.size < TAKEN_MAX && empty < 2;) {
        const { Messages = [] } = await queues.send(
          new sqs.ReceiveMessageCommand({
            QueueUrl,
            MaxNumberOfMessages: BATCH,
            VisibilityTimeout: HIDDEN_SECONDS,
            MessageAttributeNames: ['All'],
            MessageSystemAttributeNames: ['SentTimestamp'],
          }),
        );
        // A short poll may miss what is there: only a second empty one is the end.
        empty = Messages.length === 0 ? empty + 1 : 0;
        for (const one of Messages) {
          const message = messageOf(one);
          if (message !== null) taken.set(message.id, message);
        }
      }
      return [...taken.values()].sort((a, b) => a.sentAt - b.sentAt);
    },
    giveBack: async (queue, { receipt }) => {
      const QueueUrl = await there(queue);
      await queues.send(
        new sqs.ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: receipt, VisibilityTimeout: 0 }),
      );
    },
    remove: async (queue, { receipt }) => {
      await queues.send(new sqs.DeleteMessageCommand({ QueueUrl: await there(queue), ReceiptHandle: receipt }));
    },
    send: async (replay) => {
      if (replay.to === 'bus') {
        const entry = {
          EventBusName: prefix,
          Source: EVENT_SOURCE,
          DetailType: replay.detailType,
          Detail: replay.detail,
        };
        const { FailedEntryCount, Entries } = await bus.send(new events.PutEventsCommand({ Entries: [entry] }));
        if ((FailedEntryCount ?? 0) > 0) throw new Error(Entries?.[0]?.ErrorMessage ?? 'the bus did not take it');
        return;
      }
      const QueueUrl = await urlOf(`${prefix}-${replay.to}`);
      if (QueueUrl === null) throw new Error(`there is no queue ${prefix}-${replay.to}`);
      await queues.send(new sqs.SendMessageCommand({ QueueUrl, MessageBody: replay.body }));
    },
  };
}

type Received = {
  MessageId?: string | undefined;
  ReceiptHandle?: string | undefined;
  Body?: string | undefined;
  Attributes?: Partial<Record<string, string>> | undefined;
  MessageAttributes?: Record<string, { StringValue?: string | undefined }> | undefined;
};

function messageOf({ MessageId, ReceiptHandle, Body, Attributes, MessageAttributes = {} }: Received): Message | null {
  if (MessageId === undefined || ReceiptHandle === undefined) return null;
  const sent: Instant = instant(Number(Attributes?.['SentTimestamp'] ?? 0));
  const said = Object.entries(MessageAttributes).flatMap(([name, { StringValue }]) =>
    StringValue === undefined ? [] : [[name, StringValue] as const],
  );
  return { id: MessageId, receipt: ReceiptHandle, body: Body ?? '', sentAt: sent, said: Object.fromEntries(said) };
}
