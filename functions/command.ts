/** Consumes queued wakes and sends them to SSM in batches. A node that SSM does not know is shown, and woken again later. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SSMClient } from '@aws-sdk/client-ssm';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { later } from './aws/later.ts';
import { wakeNodes } from './aws/run-command.ts';
import { readEnv } from './env.ts';
import { composeNotingPlane } from './noting-plane.ts';
import { deliverWakes } from './operations/deliver-wakes.ts';
import { thisProcess } from './process.ts';

const env = readEnv(process.env);
const ssm = new SSMClient({});
const plane = composeNotingPlane(
  later(() => new DynamoDBClient({})),
  env,
  thisProcess(env.metricNamespace),
);

export function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return deliverWakes(plane, (targets, wakeId) => wakeNodes(ssm, env.wakeDocument, targets, wakeId), event);
}
