/** A timer fired: Scheduler invokes with the message itself, the vernier brings it in a queue. */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseFiring, parseJson } from './messages.ts';
import { handleFiring } from './operations/due.ts';
import { Home } from './operations/home.ts';
import { wire } from './wire.ts';

const { plane } = wire();
const home = new Home(plane);

export async function handler(event: SQSEvent | Record<string, unknown>): Promise<SQSBatchResponse | undefined> {
  // What falls due meanwhile stays in the due-time index.
  if (!(await home.isOpen())) return undefined;
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
