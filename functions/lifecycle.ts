/**
 * EC2 and SSM say what became of a machine (best effort): stopped, started, terminated, deregistered. What is no such
 * event is passed over; one that cannot be handled is delivered again, and in the end is a dead letter.
 */
import { noteMachineEvent } from './operations/lifecycle.ts';
import { parseMachineEvent } from './messages.ts';
import { wire } from './wire.ts';

const { plane } = wire();

export async function handler(event: unknown): Promise<void> {
  const machineEvent = parseMachineEvent(event);
  if (machineEvent === null) {
    plane.telemetry.warn('an event that is about no machine of ours is passed over', { event });
    return;
  }
  await noteMachineEvent(plane, machineEvent);
}
