/**
 * What the AWS account of a deployment says of it, asked with the user's own credentials. Each question is one call that
 * reads; whoever may not ask it learns which permission is missing.
 */
import { createSigner } from '../../client/sign.ts';
import type { Instant } from '../../core/kit/time.ts';
import type { Connection } from '../connection.ts';

export type AlarmSeen = { readonly name: string; readonly state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA' };
export type DocumentSeen = { readonly status: string; readonly content: string };
export type ConcurrencySeen = { readonly account: number; readonly unreserved: number };

/** Each rejects with what AWS answered; null: there is nothing of that name. */
export type Account = {
  readonly alarms: (namePrefix: string) => Promise<readonly AlarmSeen[]>;
  /** How many messages a queue holds. */
  readonly depth: (queueName: string) => Promise<number | null>;
  readonly document: (name: string) => Promise<DocumentSeen | null>;
  /** Whether there is a group of schedules of that name that takes schedules. */
  readonly scheduleGroup: (name: string) => Promise<string | null>;
  readonly concurrency: () => Promise<ConcurrencySeen>;
};

type AccountOptions = {
  readonly now: () => Instant;
  readonly timeoutMs: number;
  /** In place of the usual ones of the Region, as AWS_ENDPOINT_URL has it. */
  readonly endpoint?: string | undefined;
};

/** The SDK is loaded here and not before: `holdoff nodes` must not wait for it. */
export async function accountOf(
  { region, credentials }: Connection,
  { now, timeoutMs, endpoint }: AccountOptions,
): Promise<Account> {
  const [cloudwatch, sqs, ssm, scheduler] = await Promise.all([
    import('@aws-sdk/client-cloudwatch'),
    import('@aws-sdk/client-sqs'),
    import('@aws-sdk/client-ssm'),
    import('@aws-sdk/client-scheduler'),
  ]);
  const settings = {
    region,
    credentials,
    maxAttempts: 2,
    ...(endpoint === undefined ? {} : { endpoint }),
    requestHandler: { connectionTimeout: timeoutMs, requestTimeout: timeoutMs },
  };
  const clients = {
    cloudwatch: new cloudwatch.CloudWatchClient(settings),
    sqs: new sqs.SQSClient(settings),
    ssm: new ssm.SSMClient(settings),
    scheduler: new scheduler.SchedulerClient(settings),
  };
  return {
    alarms: async (namePrefix) => {
      const { MetricAlarms = [] } = await clients.cloudwatch.send(
        new cloudwatch.DescribeAlarmsCommand({ AlarmNamePrefix: namePrefix, MaxRecords: 100 }),
      );
      return MetricAlarms.flatMap(({ AlarmName: name, StateValue: state }) =>
        name === undefined || state === undefined ? [] : [{ name, state }],
      );
    },
    depth: (queueName) =>
      orNull(['QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue'], async () => {
        const { QueueUrl } = await clients.sqs.send(new sqs.GetQueueUrlCommand({ QueueName: queueName }));
        const { Attributes } = await clients.sqs.send(
          new sqs.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] }),
        );
        return Number(Attributes?.ApproximateNumberOfMessages ?? 0);
      }),
    document: (name) =>
      orNull(['InvalidDocument'], async () => {
        const { Status, Content } = await clients.ssm.send(
          new ssm.GetDocumentCommand({ Name: name, DocumentFormat: 'JSON' }),
        );
        return { status: Status ?? 'unknown', content: Content ?? '' };
      }),
    scheduleGroup: (name) =>
      orNull(['ResourceNotFoundException'], async () => {
        const { State } = await clients.scheduler.send(new scheduler.GetScheduleGroupCommand({ Name: name }));
        return State ?? 'unknown';
      }),
    concurrency: () => readConcurrency({ region, credentials, now, timeoutMs, endpoint }),
  };
}

async function orNull<T>(names: readonly string[], ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Error && names.includes(error.name)) return null;
    throw error;
  }
}

/** One signed request in place of a whole SDK client: GetAccountSettings of Lambda. */
async function readConcurrency({
  region,
  credentials,
  now,
  timeoutMs,
  endpoint,
}: Pick<Connection, 'region' | 'credentials'> & AccountOptions): Promise<ConcurrencySeen> {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = new URL('/2016-08-19/account-settings/', endpoint ?? `https://lambda.${region}.${domain}`);
  const sign = createSigner({ region, service: 'lambda', identity: credentials, wallMs: now });
  const headers = await sign({ method: 'GET', url, body: null });
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
  return concurrencyOf(response.status, response.headers.get('x-amzn-errortype'), await response.text());
}

/** @throws {Error} what Lambda refused, by the name that AWS has for it */
function concurrencyOf(status: number, errorType: string | null, text: string): ConcurrencySeen {
  if (status !== 200) {
    const error = new Error(`Lambda answered HTTP ${status}`);
    error.name = errorType?.split(':')[0] ?? `HTTP ${status}`;
    throw error;
  }
  const body: unknown = JSON.parse(text);
  const limit: unknown = typeof body === 'object' && body !== null && 'AccountLimit' in body ? body.AccountLimit : null;
  const has =
    typeof limit === 'object' &&
    limit !== null &&
    'ConcurrentExecutions' in limit &&
    'UnreservedConcurrentExecutions' in limit;
  if (!has) throw new Error('Lambda did not say what its limits are');
  return { account: Number(limit.ConcurrentExecutions), unreserved: Number(limit.UnreservedConcurrentExecutions) };
}
