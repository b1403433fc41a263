/** A control plane is composed here and nowhere else: the adapters on SDK clients, and what is the process's own. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { SchedulerClient } from '@aws-sdk/client-scheduler';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { EventBridgeBus } from './aws/bus.ts';
import { DynamoStore } from './aws/dynamodb-store.ts';
import { AwsTimers } from './aws/timers.ts';
import { SqsWakes } from './aws/wakes.ts';
import { type Env, settingsOf } from './env.ts';
import type { ControlPlane } from './ports.ts';

export type PlaneClients = {
  readonly dynamodb: DynamoDBClient;
  readonly scheduler: SchedulerClient;
  readonly sqs: SQSClient;
  readonly events: EventBridgeClient;
};

/** What no service gives: time, chance, and where a line is written. */
export type PlaneProcess = Pick<ControlPlane, 'now' | 'draw' | 'pause' | 'telemetry'>;

export function composePlane(
  { dynamodb, scheduler, sqs, events }: PlaneClients,
  env: Env,
  process: PlaneProcess,
): ControlPlane {
  return {
    ...process,
    store: new DynamoStore(dynamodb, env.table, process.now),
    timers: new AwsTimers(scheduler, sqs, env),
    wakes: new SqsWakes(sqs, env.commandQueueUrl),
    bus: new EventBridgeBus(events, env.eventBus),
    settings: settingsOf(env),
  };
}
