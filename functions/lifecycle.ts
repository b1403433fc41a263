/**
 * EC2 and SSM say what became of a machine (best effort): stopped, started, terminated, deregistered. What is no such
 * event is passed over; one that cannot be handled is delivered again, and in the end is a dead letter.
 */
import { Home, NOT_RECOVERED, NotRecoveredError } from './operations/home.ts';
import { noteMachineEvent } from './operations/lifecycle.ts';
import { parseMachineEvent } from './messages.ts';
import { wire } from './wire.ts';

const { plane } = wire();
const home = new Home(plane);

/** @throws {NotRecoveredError} while the table is an older copy: the event is delivered again, or kept as a dead letter */
export async function handler(event: unknown): Promise<void> {
  const machineEvent = parseMachineEvent(event);
  if (machineEvent === null) {
    plane.telemetry.warn('an event that is about no machine of ours is passed over', { event });
    return;
  }
  if (!(await home.isOpen())) throw new NotRecoveredError(NOT_RECOVERED);
  await noteMachineEvent(plane, machineEvent);
}
