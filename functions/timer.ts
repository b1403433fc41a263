/** A timer fired: Scheduler invokes with the message itself, the vernier brings it in a queue. */
import type { SQSBatchResponse } from 'aws-lambda';
import { handleTimerEvent, type TimerEvent } from './operations/firings.ts';
import { wire } from './wire.ts';

const { plane } = wire();

export function handler(event: TimerEvent): Promise<SQSBatchResponse | undefined> {
  return handleTimerEvent(plane, event);
}
