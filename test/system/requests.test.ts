import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type NodeId, parseNodeId } from '../../core/kit/ids.ts';
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import { instant } from '../../core/kit/time.ts';
import { EventBridgeBus } from '../../functions/aws/bus.ts';
import { DynamoStore } from '../../functions/aws/dynamodb-store.ts';
import { AwsTimers } from '../../functions/aws/timers.ts';
import { SqsWakes } from '../../functions/aws/wakes.ts';
import { readEnv } from '../../functions/env.ts';
import { reportNode } from '../../functions/operations/nodes.ts';
import type { ControlPlane } from '../../functions/ports.ts';
import { randomDraw } from '../../functions/process.ts';
import { type EmbeddedAws, NO_FAULTS, startEmbeddedAws } from '../../local/aws/index.ts';
import { LOCAL_TABLE, tableInput } from '../../local/table-input.ts';

const dir = mkdtempSync(join(tmpdir(), 'holdoff-requests-'));
const sent: string[] = [];
let aws: EmbeddedAws;
let plane: ControlPlane;
let now = Date.now();

beforeAll(async () => {
  aws = await startEmbeddedAws({
    dataDir: dir,
    seed: 1,
    faults: NO_FAULTS,
    table: tableInput(),
    scheduleGroups: [LOCAL_TABLE],
    eventBuses: ['holdoff'],
    queues: [{ name: 'vernier' }, { name: 'commands' }, { name: 'dead' }],
    documents: {},
    connect: () => ({ api: () => Promise.resolve({ statusCode: 200 }), functions: {}, consumers: {}, subscribers: [] }),
  });
  plane = planeAt(aws);
});
afterAll(async () => {
  await aws.close();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(() => {
  sent.length = 0;
});

/** The real adapters, with every request written down. */
function planeAt({ env, queueUrl, queueArn, functionArn, roleArn }: EmbeddedAws): ControlPlane {
  const at = (
    service: string,
  ): { endpoint: string; region: string; credentials: { accessKeyId: string; secretAccessKey: string } } => ({
    endpoint: env[`AWS_ENDPOINT_URL_${service}`] ?? '',
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'test' },
  });
  /** Writes down the name of each command sent. */
  const counted = <T extends object>(client: T): T =>
    new Proxy(client, {
      get: (target, name): unknown => {
        const value: unknown = Reflect.get(target, name);
        if (name !== 'send' || typeof value !== 'function') return value;
        return (command: object): unknown => {
          sent.push(command.constructor.name);
          return Reflect.apply(value, target, [command]);
        };
      },
    });
  const settings = readEnv({
    HOLDOFF_TABLE: LOCAL_TABLE,
    HOLDOFF_SCHEDULE_GROUP: LOCAL_TABLE,
    HOLDOFF_SCHEDULER_ROLE_ARN: roleArn('scheduler'),
    HOLDOFF_TIMER_TARGET_ARN: functionArn('timer'),
    HOLDOFF_TIMER_DLQ_ARN: queueArn('dead'),
    HOLDOFF_VERNIER_QUEUE_URL: queueUrl('vernier'),
    HOLDOFF_COMMAND_QUEUE_URL: queueUrl('commands'),
    HOLDOFF_WAKE_DOCUMENT: 'wake',
    HOLDOFF_METRIC_NAMESPACE: 'Holdoff/test',
    HOLDOFF_EVENT_BUS: 'holdoff',
    HOLDOFF_ACCOUNT_ID: '000000000000',
    HOLDOFF_NODE_ROLES: 'HoldoffNode',
  });
  const clock = (): ReturnType<typeof instant> => instant(now);
  const sqs = counted(new SQSClient(at('SQS')));
  return {
    store: new DynamoStore(counted(new DynamoDBClient(at('DYNAMODB'))), LOCAL_TABLE, clock),
    timers: new AwsTimers(counted(new SchedulerClient(at('SCHEDULER'))), sqs, settings),
    wakes: new SqsWakes(sqs, settings.commandQueueUrl),
    bus: new EventBridgeBus(counted(new EventBridgeClient(at('EVENTBRIDGE'))), 'holdoff'),
    telemetry: {
      metric: () => undefined,
      warn: (message, detail) => {
        throw new Error(`${message} ${JSON.stringify(detail)}`);
      },
    },
    now: clock,
    draw: randomDraw,
    pause: setTimeout,
    settings: { idleReportSeconds: 1200, activeReportSeconds: 15, table: LOCAL_TABLE },
  };
}

function nodeIdOf(text: string): NodeId {
  const id = parseNodeId(text);
  if (id === null) throw new Error('not a node id');
  return id;
}

const report = (state: NodeReport['state'], more: Partial<NodeReport> = {}): NodeReport => ({
  state,
  bootId: 'b1',
  currentVersion: '1.0',
  updateCheck: { result: 'Available', version: '1.1' },
  ...more,
});

test('a report that changes nothing costs one consistent GetItem and nothing else', async () => {
  const id = nodeIdOf('i-00000000000000001');
  await reportNode(plane, id, report('Idle', { updateCheck: { result: 'UpToDate' } }));
  sent.length = 0;
  await reportNode(plane, id, report('Idle', { updateCheck: { result: 'UpToDate' }, generation: 1, uptime: 5 }));
  expect(sent).toEqual(['GetItemCommand']);
});

test('a crash costs two requests to DynamoDB, and at most six in all', async () => {
  const id = nodeIdOf('i-00000000000000002');
  await reportNode(plane, id, report('Idle'));
  const generation = (await plane.store.load('node', id))?.record.spec.generation ?? 0;
  sent.length = 0;
  now += 1000;
  await reportNode(plane, id, report('ErrorReset', { generation, error: { reason: 'PrepareFailed' } }));
  expect((await plane.store.load('node', id))?.record.crash.count).toBe(1);
  sent.pop();
  expect(sent.filter((name) => name === 'GetItemCommand' || name === 'UpdateItemCommand')).toHaveLength(2);
  expect([...sent].sort()).toEqual([
    'CreateScheduleCommand',
    'GetItemCommand',
    'PutEventsCommand',
    'SendMessageCommand',
    'UpdateItemCommand',
  ]);
});

test('a retry is armed with Scheduler and with the vernier, and arming it twice is no error', async () => {
  const id = nodeIdOf('i-00000000000000003');
  // The Scheduler has a clock of its own: what is past by it is armed once more.
  now = Math.max(now, Date.now());
  const at = instant(now + 120_000);
  await plane.timers.arm({ kind: 'node', id }, 3, at, true, instant(now));
  await plane.timers.arm({ kind: 'node', id }, 3, at, true, instant(now));
  expect(sent.filter((name) => name === 'CreateScheduleCommand')).toHaveLength(2);
  expect(sent.filter((name) => name === 'SendMessageCommand')).toHaveLength(2);
  expect(aws.queueDepth('vernier')).toBeGreaterThanOrEqual(2);
});

test('an instant that is past by our own clock is dispatched at once, without a schedule', async () => {
  await plane.timers.arm(
    { kind: 'node', id: nodeIdOf('i-00000000000000004') },
    1,
    instant(now - 1),
    false,
    instant(now),
  );
  expect(sent).toEqual(['SendMessageCommand']);
});
