/** The composition root of the functions that take turns: environment → real adapters. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SQSClient } from '@aws-sdk/client-sqs';
import { later } from './aws/later.ts';
import { type Env, readEnv } from './env.ts';
import { composePlane } from './plane.ts';
import type { ControlPlane } from './ports.ts';
import { thisProcess } from './process.ts';

export type Wired = { env: Env; plane: ControlPlane; dynamodb: DynamoDBClient };

/** @throws {ConfigurationError} when the function was deployed without something it needs */
export function wire(): Wired {
  const env = readEnv(process.env);
  const dynamodb = new DynamoDBClient({});
  const clients = {
    dynamodb,
    scheduler: later(() => new SchedulerClient({})),
    sqs: later(() => new SQSClient({})),
    events: later(() => new EventBridgeClient({})),
  };
  return { env, plane: composePlane(clients, env, thisProcess(env.metricNamespace)), dynamodb };
}
