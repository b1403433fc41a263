/** Consumes queued wakes and sends them to SSM in batches. A node that SSM does not know is shown, and woken again later. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SSMClient } from '@aws-sdk/client-ssm';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { instant } from '../core/kit/time.ts';
import { DynamoStore } from './aws/dynamodb-store.ts';
import { wakeNodes } from './aws/run-command.ts';
import { readEnv } from './env.ts';
import { deliverWakes } from './operations/deliver-wakes.ts';
import type { ControlPlane } from './ports.ts';
import { LogTelemetry } from './telemetry.ts';

const env = readEnv(process.env);
const ssm = new SSMClient({});
const now = (): ReturnType<typeof instant> => instant(Date.now());

/** This function only notes that a wake failed: the due-time index does the rest. */
const plane: ControlPlane = {
  store: new DynamoStore(new DynamoDBClient({}), env.table, now),
  timers: { arm: () => Promise.resolve() },
  wakes: { send: () => Promise.resolve() },
  bus: { publish: () => Promise.resolve() },
  telemetry: new LogTelemetry((line) => void process.stdout.write(`${line}\n`), now),
  now,
  draw: () => ({ delay: Math.random(), deadline: Math.random(), id: randomBytes(8).toString('hex') }),
  pause: setTimeout,
  settings: {
    idleReportSeconds: env.idleReportSeconds,
    activeReportSeconds: env.activeReportSeconds,
    table: env.table,
  },
};

export function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return deliverWakes(plane, (targets, wakeId) => wakeNodes(ssm, env.wakeDocument, targets, wakeId), event);
}
