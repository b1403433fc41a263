/**
 * The clock that lengths of time are measured by on a host: milliseconds since its boot, from the first number of
 * /proc/uptime. That is the kernel's CLOCK_BOOTTIME (proc(5), time_namespaces(7)): it goes on while the host is suspended
 * and no correction of the time of day moves it. Node itself has no such clock: `Date.now` jumps with the time of day,
 * and `performance.now` and timers stand still while the host is suspended. A shell can read the same file, so the
 * wrapper of a guest measures by the same clock as its agent.
 */
import { openSync, readSync } from 'node:fs';
import { AgentError, messageOf } from './failure.ts';

const FILE = '/proc/uptime';
const TEXT_MAX = 64;

/**
 * A clock of milliseconds since boot, in steps of ten. The file stays open, so that the time is known also where there are
 * no descriptors left. Throws a Host error when it cannot be read.
 */
export function openBootClock(): () => number {
  const text = Buffer.alloc(TEXT_MAX);
  try {
    const fd = openSync(FILE, 'r');
    return () => {
      const ms = secondsToMs(text.toString('latin1', 0, readSync(fd, text, 0, TEXT_MAX, 0)));
      if (ms === null) throw new AgentError('Host', `${FILE} does not begin with a number`);
      return ms;
    };
  } catch (error) {
    throw new AgentError('Host', `cannot read ${FILE}: ${messageOf(error)}`, { cause: error });
  }
}

/** Milliseconds of a text that begins with seconds, as /proc/uptime does; null when it does not. */
export function secondsToMs(text: string): number | null {
  const seconds = Number.parseFloat(text);
  return Number.isFinite(seconds) ? Math.round(seconds * 1000) : null;
}
