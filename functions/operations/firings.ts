/** What brings a timer: Scheduler invokes with the message itself, the vernier brings it in a queue. */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseFiring, parseJson } from '../messages.ts';
import type { ControlPlane } from '../ports.ts';
import { handleFiring } from './due.ts';

export type TimerEvent = SQSEvent | Record<string, unknown>;

/** @throws {MessageError} when Scheduler brought what is no firing: it ends in the dead-letter queue */
export async function handleTimerEvent(plane: ControlPlane, event: TimerEvent): Promise<SQSBatchResponse | undefined> {
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

const isQueueEvent = (event: TimerEvent): event is SQSEvent => 'Records' in event && Array.isArray(event['Records']);
