/** Consumes queued wakes and sends them to SSM in batches. A node that SSM does not know is shown, and woken again later. */
// @ts-nocheck

import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SSMClient } from '@aws-sdk/client-ssm';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseNodeId } from '../core/ids.ts';
import { instant } from '../core/time.ts';
import { DynamoStore } from './aws/dynamodb-store.ts';
import { wakeNodes, type WakeTarget } from './aws/run-command.ts';
import { readEnv } from './env.ts';
import { parseWake } from './messages.ts';
import { noteWakeStatus } from './operations/wake-status.ts';
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
  settings: { idleReportSeconds: env.idleReportSeconds, activeReportSeconds: env.activeReportSeconds },
};

export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  const wakes: { messageId: string; target: WakeTarget }[] = [];
  for (const { messageId, body } of event.Records) {
    try {
      wakes.push({ messageId, target: parseWake(body) });
    } catch (error) {
      plane.telemetry.warn('a wake could not be read', { body, error: String(error) });
      batchItemFailures.push({ itemIdentifier: messageId });
    }
  }
  const [first] = wakes;
  if (first === undefined) return { batchItemFailures };
  try {
    const { unregistered } = await wakeNodes(
      ssm,
      env.wakeDocument,
      wakes.map(({ target }) => target),
      first.messageId,
    );
    for (const { nodeId, generation } of unregistered) await noteUnregistered(nodeId, generation);
  } catch (error) {
    plane.telemetry.warn('SSM did not take the wakes; they are delivered again', {
      count: wakes.length,
      error: String(error),
    });
    batchItemFailures.push(...wakes.map(({ messageId }) => ({ itemIdentifier: messageId })));
  }
  return { batchItemFailures };
}

async function noteUnregistered(text: string, generation: number): Promise<void> {
  const nodeId = parseNodeId(text);
  if (nodeId === null) return;
  plane.telemetry.warn('SSM does not know this node, or it is not running', { nodeId });
  await noteWakeStatus(plane, nodeId, 'InvalidInstanceId', generation === 0 ? null : generation);
}
