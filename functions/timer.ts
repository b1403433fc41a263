/** A timer fired: Scheduler invokes with the message itself, the vernier brings it in a queue. */
import type { SQSBatchResponse } from 'aws-lambda';
import { handleTimerEvent, type TimerEvent } from './operations/firings.ts';
import { Home } from './operations/home.ts';
import { wire } from './wire.ts';

const { plane } = wire();
const home = new Home(plane);

export async function handler(event: TimerEvent): Promise<SQSBatchResponse | undefined> {
  // What falls due meanwhile stays in the due-time index.
  return (await home.isOpen()) ? handleTimerEvent(plane, event) : undefined;
}
