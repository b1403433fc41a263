/** A timer fired: Scheduler invokes with the message itself, the vernier brings it in a queue. */
// @ts-nocheck

import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseFiring, parseJson } from './messages.ts';
import { handleFiring } from './operations/due.ts';
import { wire } from './wire.ts';

const { plane } = wire();

export async function handler(event: SQSEvent | Record<string, unknown>): Promise<SQSBatchResponse | undefined> {
  if (!isQueueEvent(event)) {
    const { ref, at } = parseFiring(event);
    await handleFiring(plane, ref, at);
    return undefined;
  }
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const record of event.Records) {
    try {
      const { ref, at } = parseFiring(parseJson(record.body));
      await handleFiring(plane, ref, at);
    } catch (error) {
      plane.telemetry.warn('a timer could not be handled; it is delivered again', {
        body: record.body,
        error: String(error),
      });
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
}

const isQueueEvent = (event: SQSEvent | Record<string, unknown>): event is SQSEvent =>
  'Records' in event && Array.isArray(event['Records']);
