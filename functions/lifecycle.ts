/**
 * EC2 and SSM say what became of a machine (best effort): stopped, started, terminated, deregistered; CloudWatch that an
 * alarm rings, which may halt groups. What is no such
 * event is passed over; one that cannot be handled is delivered again, and in the end is a dead letter.
 */
import { Home, NOT_RECOVERED, NotRecoveredError } from './operations/home.ts';
import { noteAlarm } from './operations/alarms.ts';
import { noteMachineEvent } from './operations/lifecycle.ts';
import { parseAlarmEvent, parseMachineEvent } from './messages.ts';
import { wire } from './wire.ts';

const { plane } = wire();
const home = new Home(plane);

/** @throws {NotRecoveredError} while the table is an older copy: the event is delivered again, or kept as a dead letter */
export async function handler(event: unknown): Promise<void> {
  const machineEvent = parseMachineEvent(event);
  const alarmEvent = parseAlarmEvent(event);
  if (machineEvent === null && alarmEvent === null) {
    plane.telemetry.warn('an event that is about no machine of ours is passed over', { event });
    return;
  }
  if (!(await home.isOpen())) throw new NotRecoveredError(NOT_RECOVERED);
  if (machineEvent !== null) await noteMachineEvent(plane, machineEvent);
  if (alarmEvent !== null) await noteAlarm(plane, alarmEvent);
}
