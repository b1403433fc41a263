/**
 * The clock that lengths of time are measured by on a host: milliseconds since its boot, from the first number of
 * /proc/uptime. That is the kernel's CLOCK_BOOTTIME (proc(5), time_namespaces(7)): it goes on while the host is suspended
 * and no correction of the time of day moves it. Node itself has no such clock: `Date.now` jumps with the time of day,
 * and `performance.now` and timers stand still while the host is suspended. A shell can read the same file, so the
 * wrapper of a guest measures by the same clock as its agent.
 */
import { readFileSync } from 'node:fs';
import { AgentError, messageOf } from './failure.ts';

export const BOOT_CLOCK_FILE = '/proc/uptime';

/** @returns milliseconds since boot, in steps of ten; throws a Host error when the file cannot be read. */
export function bootClockMs(file: string = BOOT_CLOCK_FILE): number {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new AgentError('Host', `cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
  const ms = secondsToMs(text);
  if (ms === null) throw new AgentError('Host', `${file} does not begin with a number`);
  return ms;
}

/** Milliseconds of a text that begins with seconds, as /proc/uptime does; null when it does not. */
export function secondsToMs(text: string): number | null {
  const seconds = Number.parseFloat(text);
  return Number.isFinite(seconds) ? Math.round(seconds * 1000) : null;
}
