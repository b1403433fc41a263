/** The composition root of the functions that take turns: environment → real adapters. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Draw } from '../core/decision/fact.ts';
import { instant, type Instant } from '../core/kit/time.ts';
import { EventBridgeBus } from './aws/bus.ts';
import { DynamoStore } from './aws/dynamodb-store.ts';
import { AwsTimers } from './aws/timers.ts';
import { SqsWakes } from './aws/wakes.ts';
import { type Env, readEnv } from './env.ts';
import type { ControlPlane } from './ports.ts';
import { LogTelemetry } from './telemetry.ts';

export const clock = (): Instant => instant(Date.now());

/** 48 random bits make a number from [0, 1); 64 make an id. */
export function randomDraw(): Draw {
  const unit = (): number => randomBytes(6).readUIntBE(0, 6) / 2 ** 48;
  return { delay: unit(), deadline: unit(), id: randomBytes(8).toString('hex') };
}

export const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);

export type Wired = { env: Env; plane: ControlPlane; dynamodb: DynamoDBClient };

/** @throws {ConfigurationError} when the function was deployed without something it needs */
export function wire(): Wired {
  const env = readEnv(process.env);
  const dynamodb = new DynamoDBClient({});
  const sqs = new SQSClient({});
  const plane: ControlPlane = {
    store: new DynamoStore(dynamodb, env.table, clock),
    timers: new AwsTimers(new SchedulerClient({}), sqs, env),
    wakes: new SqsWakes(sqs, env.commandQueueUrl),
    bus: new EventBridgeBus(new EventBridgeClient({}), env.eventBus),
    telemetry: new LogTelemetry(writeLine, clock),
    now: clock,
    draw: randomDraw,
    pause: setTimeout,
    settings: {
      idleReportSeconds: env.idleReportSeconds,
      activeReportSeconds: env.activeReportSeconds,
      table: env.table,
    },
  };
  return { env, plane, dynamodb };
}
