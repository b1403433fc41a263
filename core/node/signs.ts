/** What is known of whether a node lives: its reports, and what EC2 said of its machine. */
import { after, type Instant, minutes, seconds } from '../kit/time.ts';
import type { NodeRecord } from './record.ts';

/** An event names the second in which it happened, and a report may be a moment on its way: no machine boots within this. */
export const EVENT_SLACK = seconds(5);
/** A report of the boot that was stopped may have been on its way for so long; the API answers within 30 s. */
const IN_FLIGHT = minutes(1);

/** Stopped by EC2 and not heard of since: neither silent nor failing. */
export const isStopped = ({ machine }: NodeRecord): boolean => machine?.state === 'stopped';

/** From when silence counts: its last report, or what we know it could not have reported through. */
export function lastSign({ status, machine, restored }: NodeRecord): Instant | null {
  if (status === null) return null;
  const signs = [status.reportedAt, machine?.at ?? status.reportedAt, restored?.at ?? status.reportedAt];
  return signs.reduce((latest, at) => (at > latest ? at : latest));
}

/** A report that was sent before the machine was stopped proves nothing about it now. */
export const sentBeforeStop = ({ machine, status }: NodeRecord, bootId: string, now: Instant): boolean =>
  machine?.state === 'stopped' && status?.bootId === bootId && now < after(machine.at, IN_FLIGHT);
