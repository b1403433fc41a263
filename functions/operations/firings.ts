/** What brings a timer: Scheduler invokes with the message itself, the vernier brings it in a queue. */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
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
  const handle = async ({ body, messageId }: SQSRecord): Promise<void> => {
    try {
      const { ref, at } = parseFiring(parseJson(body));
      await handleFiring(plane, ref, at);
    } catch (error) {
      plane.telemetry.warn('a timer could not be handled; it is delivered again', { body, error: String(error) });
      batchItemFailures.push({ itemIdentifier: messageId });
    }
  };
  // At the same time: a retry that is exact to the second does not wait behind a group that is filled.
  await Promise.all(event.Records.map(handle));
  return { batchItemFailures };
}

const isQueueEvent = (event: TimerEvent): event is SQSEvent => 'Records' in event && Array.isArray(event['Records']);
