/** Writes what our own bus carries into the event log. Delivered twice is kept once. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { EventBridgeEvent } from 'aws-lambda';
import { DynamoEventLog } from './aws/event-log.ts';
import { readEnv } from './env.ts';
import { keepEntry } from './operations/log-entry.ts';

const env = readEnv(process.env);
const log = new DynamoEventLog(new DynamoDBClient({}), env.table);

export function handler(event: EventBridgeEvent<string, unknown>): Promise<void> {
  return keepEntry(log, event.detail);
}
