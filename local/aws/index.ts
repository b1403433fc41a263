import type { CreateTableInput } from '@aws-sdk/client-dynamodb';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { openCredentials, type CredentialTable } from './credentials.ts';
import { startDynamoDb } from './dynamodb.ts';
import { EmbeddedAwsError, type EmbeddedNotice, type Notify } from './errors.ts';
import { startCloudWatch } from './cloudwatch.ts';
import { startEventBridge, type EventBridgeFaults, type Subscriber } from './eventbridge.ts';
import { startFront, type HttpApiHandler } from './front.ts';
import type { DeadLetter, EmbeddedFunction } from './lambda.ts';
import { startScheduler, type SchedulerFaults } from './scheduler.ts';
import { startSqs, type QueueConsumer, type QueueDefinition, type SqsFaults } from './sqs.ts';
import type { SsmDocument } from './ssm-document.ts';
import { startSsm, type SsmFaults } from './ssm.ts';

export type { CredentialTable } from './credentials.ts';
export type { EmbeddedNotice } from './errors.ts';
export type { EventBridgeFaults, Subscriber } from './eventbridge.ts';
export type { HttpApiHandler } from './front.ts';
export type { EmbeddedFunction } from './lambda.ts';
export type { SchedulerFaults } from './scheduler.ts';
export type { QueueConsumer, QueueDefinition, SqsFaults } from './sqs.ts';
export type { SsmDocument } from './ssm-document.ts';
export type { SsmFaults } from './ssm.ts';

export interface EmbeddedFaults {
  readonly scheduler?: Partial<SchedulerFaults>;
  readonly sqs?: Partial<SqsFaults>;
  readonly ssm?: Partial<SsmFaults>;
  readonly eventBridge?: Partial<EventBridgeFaults>;
}

/** The faults of a perfect day, for tests that are about something else. */
export const NO_FAULTS: EmbeddedFaults = {
  scheduler: { latenessMs: [0, 0], twiceOneIn: 0, loseOneIn: 0, refuseOneIn: 0 },
  sqs: { latenessMs: [0, 0], earlyOneIn: 0, twiceOneIn: 0 },
  ssm: { loseOneIn: 0, loseEventOneIn: 0, refuseOneIn: 0 },
  eventBridge: { twiceOneIn: 0, refuseOneIn: 0 },
};

export interface EmbeddedAwsOptions {
  /** Everything that must survive a kill is kept below it. One process at a time. */
  readonly dataDir: string;
  readonly region?: string;
  readonly accountId?: string;
  /** Port of the API front; 0, the default, takes a free one. */
  readonly frontPort?: number;
  /** Seeds every draw of the stand-ins; without it they differ from run to run. */
  readonly seed?: number;
  readonly faults?: EmbeddedFaults;
  readonly table: CreateTableInput;
  /** Schedule groups besides `default`. */
  readonly scheduleGroups?: readonly string[];
  readonly queues: readonly QueueDefinition[];
  /** Event buses besides `default`. */
  readonly eventBuses?: readonly string[];
  /** SSM documents by name. */
  readonly documents: Readonly<Record<string, SsmDocument>>;
  /** Waits before Lambda's two retries of a timer or an event; 1 and 2 s, the default, where Lambda has minutes. */
  readonly retryDelaysMs?: readonly number[];
  /**
   * Called once, when the endpoints listen and nothing has been delivered yet: set `aws.env` in the environment, build
   * the handlers, hand them back. Timers, messages and requests reach them only after that.
   */
  readonly connect: (aws: EmbeddedEndpoints) => EmbeddedHandlers | Promise<EmbeddedHandlers>;
  /** Told what a person should see; by default it goes to stderr. */
  readonly notice?: (notice: EmbeddedNotice) => void;
}

export interface EmbeddedEndpoints {
  readonly region: string;
  readonly accountId: string;
  /** AWS_ENDPOINT_URL_DYNAMODB, _SCHEDULER, _SQS, _SSM, _EVENTBRIDGE, AWS_REGION and a key pair, as the SDK reads them. */
  readonly env: Readonly<Record<string, string>>;
  /** URL of a declared queue. */
  readonly queueUrl: (name: string) => string;
  readonly queueArn: (name: string) => string;
  readonly functionArn: (name: string) => string;
  readonly roleArn: (name: string) => string;
}

export interface EmbeddedHandlers {
  readonly api: HttpApiHandler;
  /** Lambda functions that Scheduler may target, by the name in `functionArn(name)`. */
  readonly functions: Readonly<Record<string, EmbeddedFunction>>;
  /** Consumers by queue name. */
  readonly consumers: Readonly<Record<string, QueueConsumer>>;
  /** Rules; SSM's status-change events are on the bus `default`, with the source `aws.ssm`. */
  readonly subscribers: readonly Subscriber[];
}

export interface EmbeddedAws extends EmbeddedEndpoints {
  /** Where the API is, as an agent or the CLI is given it. */
  readonly apiUrl: string;
  readonly credentials: CredentialTable;
  /** Directory of the managed instances' files: `<nodeId>.json`. */
  readonly managedDir: string;
  /** Messages waiting in a queue, in flight or not: for a dead-letter queue, its counter. */
  readonly queueDepth: (name: string) => number;
  /** Stops taking requests, waits for what is running, leaves the rest on disk. */
  readonly close: () => Promise<void>;
}

const LOCAL_ACCOUNT = '000000000000';

/** Starts DynamoDB, Scheduler, SQS, SSM, EventBridge, CloudWatch's alarms and the API front on 127.0.0.1. */
export async function startEmbeddedAws(options: EmbeddedAwsOptions): Promise<EmbeddedAws> {
  const opened: { close(): Promise<void> }[] = [];
  try {
    return await start(options, opened);
  } catch (error) {
    for (const each of opened.reverse()) await each.close();
    throw error;
  }
}

async function start(options: EmbeddedAwsOptions, opened: { close(): Promise<void> }[]): Promise<EmbeddedAws> {
  const { dataDir, seed, faults = {}, region = 'us-east-1', accountId = LOCAL_ACCOUNT } = options;
  const keep = <T extends { close(): Promise<void> }>(service: T): T => {
    opened.push(service);
    return service;
  };
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const managedDir = join(dataDir, 'managed');
  const notify: Notify = options.notice ?? printNotice;
  const around = { region, accountId, notify };
  const functionArn = (name: string): string => `arn:aws:lambda:${region}:${accountId}:function:${name}`;
  let functions: EmbeddedHandlers['functions'] = {};

  // DynamoDB first: it locks the directory against a second process.
  const dynamoDb = keep(await startDynamoDb({ path: join(dataDir, 'dynamodb'), region, table: options.table }));
  const sqs = keep(
    await startSqs({ ...around, dataDir, queues: options.queues, seed: derived(seed, 1), faults: faults.sqs }),
  );
  const bury = (letter: DeadLetter): void => {
    const queue = letter.deadLetterArn?.split(':').at(-1);
    if (queue !== undefined) sqs.send(queue, JSON.stringify(letter));
  };
  const retries = options.retryDelaysMs === undefined ? {} : { retryDelaysMs: options.retryDelaysMs };
  const eventBridge = keep(
    await startEventBridge({
      ...around,
      ...retries,
      dataDir,
      buses: options.eventBuses ?? [],
      seed: derived(seed, 2),
      faults: faults.eventBridge,
      deadLetter: bury,
    }),
  );
  const scheduler = keep(
    await startScheduler({
      ...around,
      ...retries,
      dataDir,
      groups: options.scheduleGroups ?? [],
      seed: derived(seed, 3),
      faults: faults.scheduler,
      invoke: async (arn, payload) => {
        const found = Object.entries(functions).find(([name]) => functionArn(name) === arn);
        if (found === undefined) throw new EmbeddedAwsError('UnknownName', `there is no function ${arn}`);
        await found[1](payload);
      },
      deadLetter: bury,
    }),
  );
  const ssm = keep(
    await startSsm({
      ...around,
      managedDir,
      documents: options.documents,
      seed: derived(seed, 4),
      faults: faults.ssm,
      emit: eventBridge.publish,
    }),
  );
  const cloudWatch = keep(await startCloudWatch({ ...around, file: join(dataDir, 'alarms.json') }));
  const credentials = openCredentials({ file: join(dataDir, 'credentials.json'), accountId });
  const endpoints: EmbeddedEndpoints = {
    region,
    accountId,
    env: {
      AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.url,
      AWS_ENDPOINT_URL_SCHEDULER: scheduler.url,
      AWS_ENDPOINT_URL_SQS: sqs.url,
      AWS_ENDPOINT_URL_SSM: ssm.url,
      AWS_ENDPOINT_URL_EVENTBRIDGE: eventBridge.url,
      AWS_ENDPOINT_URL_CLOUDWATCH: cloudWatch.url,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: 'LOCALFUNCTIONROLE',
      AWS_SECRET_ACCESS_KEY: 'not-checked-by-the-stand-ins',
    },
    queueUrl: sqs.queueUrl,
    queueArn: sqs.queueArn,
    functionArn,
    roleArn: (name) => `arn:aws:iam::${accountId}:role/${name}`,
  };
  const handlers = await options.connect(endpoints);
  functions = handlers.functions;
  const front = keep(
    await startFront({ port: options.frontPort ?? 0, region, find: credentials.find, handler: handlers.api, notify }),
  );
  eventBridge.start(handlers.subscribers);
  sqs.start(handlers.consumers);
  scheduler.start();
  return {
    ...endpoints,
    apiUrl: front.url,
    credentials,
    managedDir,
    queueDepth: sqs.depth,
    close: async () => {
      // What delivers stops before what it delivers to: a handler under way may still call every service.
      await front.close();
      await Promise.all([scheduler.stop(), sqs.stop(), eventBridge.stop(), ssm.stop()]);
      for (const each of [scheduler, ssm, eventBridge, cloudWatch, sqs, dynamoDb]) await each.close();
    },
  };
}

/** A seed of its own for each stand-in, so that the draws of one do not depend on the traffic of another. */
const derived = (seed: number | undefined, index: number): number | undefined =>
  seed === undefined ? undefined : (Math.imul(seed, 31) + index) | 0;

function printNotice({ level, service, message, error }: EmbeddedNotice): void {
  const cause = error === undefined ? '' : `: ${inspect(error)}`;
  process.stderr.write(`${level} ${service}: ${message}${cause}\n`);
}
