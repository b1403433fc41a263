/** Writes what our own bus carries into the event log. Delivered twice is kept once. */
// @ts-nocheck

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { EventBridgeEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { DynamoEventLog } from './aws/event-log.ts';
import { readEnv } from './env.ts';
import { MessageError } from './messages.ts';

const env = readEnv(process.env);
const log = new DynamoEventLog(new DynamoDBClient({}), env.table);

const entrySchema = z.object({
  id: z.string(),
  at: z.string(),
  type: z.string(),
  severity: z.enum(['info', 'warning']),
  subject: z.string(),
  message: z.string(),
});

/** @throws {MessageError} when the event is none of ours: it ends in the dead-letter queue */
export async function handler(event: EventBridgeEvent<string, unknown>): Promise<void> {
  const parsed = z.safeParse(entrySchema, event.detail);
  if (!parsed.success) throw new MessageError(`not an event of ours: ${JSON.stringify(event.detail)}`);
  await log.append([parsed.data]);
}
