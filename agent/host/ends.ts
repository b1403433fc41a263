/** How an instance has ended. Pure. */
import { constants } from 'node:os';
import type { EndCause } from '../../core/contract/words.ts';
import { type Instance, isLive } from './instance.ts';
import { ranMs } from './running.ts';

type End = NonNullable<Instance['end']>;

/** How a process ended, and when; null parts are not known. */
export type Exit = { code: number | null; signal: string | null; at?: number | null };

/** It ends at an instant that is known; how long it ran follows. */
const endedAt = (instance: Instance, end: Omit<End, 'at' | 'ranMs'>, at: number): Instance => ({
  ...instance,
  end: { ...end, at, ranMs: ranMs(instance, at) },
});

/** The end without a process: refused, simulated, or interrupted before it began. */
export function endedUnlaunched(instance: Instance, cause: EndCause, message: string, now: number): Instance {
  const phase = cause === 'Requested' || cause === 'HostMaintenance' ? 'Succeeded' : 'Failed';
  return endedAt(instance, { phase, cause, message, console: null }, now);
}

/** The host went down under it: how long it had run by then nobody knows. */
export const endedWithHost = (instance: Instance, now: number): Instance => ({
  ...instance,
  end: {
    phase: 'Failed',
    cause: instance.stop?.cause ?? 'HostLost',
    message: 'its host has gone down and come up again',
    console: null,
    at: now,
    ranMs: null,
  },
});

/**
 * The end of a process. What we ended has our cause; then what the hypervisor said of its guest holds; an exit of 0 is
 * the guest's own shutdown, except QEMU's, which leaves so only when it was told to by a signal; anything else is
 * Killed once it had been Running, and LaunchFailed before.
 */
export function ended(instance: Instance, exit: Exit, console: string, now: number): Instance {
  const { stop, guestEnd, runningAt } = instance;
  const said = guestEnd?.message ?? sayExit(exit);
  const at = Math.min(now, guestEnd?.at ?? exit.at ?? now);
  const over = (phase: End['phase'], cause: EndCause, message: string): Instance =>
    endedAt(instance, { phase, cause, message, console: console === '' ? null : console }, at);
  if (stop !== null && !endedByItself(instance, exit)) {
    const asked = stop.cause === 'Requested' || stop.cause === 'HostMaintenance';
    const message = stop.forced && asked ? `killed after its grace: ${said}` : said;
    return over(
      asked && !stop.forced ? 'Succeeded' : 'Failed',
      stop.cause,
      stop.cause === 'HostLost' ? LEASE_OVER : message,
    );
  }
  const own = guestEnd?.cause ?? (exit.code === 0 && instance.driver === 'exec' ? 'GuestShutdown' : null);
  if (own !== null) {
    // It was up, however shortly: the control plane hears of it before it hears of the end.
    const up = { ...instance, runningAt: runningAt ?? at };
    const phase = own === 'GuestShutdown' ? 'Succeeded' : 'Failed';
    return endedAt(up, { phase, cause: own, message: said, console: console === '' ? null : console }, at);
  }
  if (runningAt !== null) return over('Failed', 'Killed', said);
  const last = instance.driver === 'qemu' ? lastLine(console) : '';
  return over('Failed', 'LaunchFailed', last === '' ? said : `${said}: ${last}`);
}

const LEASE_OVER = 'its lease ran out: this host was cut off from the control plane and has stopped it';

/** What had ended when its host began to stop it for an update has ended by itself (DESIGN section 3 rule 10). */
function endedByItself({ stop, guestEnd }: Instance, exit: Exit): boolean {
  const at = guestEnd?.at ?? exit.at;
  return stop?.cause === 'HostMaintenance' && stop.at !== undefined && at != null && at < stop.at;
}

/** Notes how the hypervisor says that the guest has ended; the first word holds. */
export const noteGuestEnd = (instance: Instance, guestEnd: NonNullable<Instance['guestEnd']>): Instance =>
  isLive(instance) && instance.guestEnd === null ? { ...instance, guestEnd } : instance;

/** The line with which a hypervisor that refuses to start says why. */
const lastLine = (console: string): string => console.trimEnd().split('\n').at(-1)?.trim() ?? '';

function sayExit({ code, signal }: Exit): string {
  if (code !== null) {
    // A shell says 128 + n of a process that signal n has ended.
    const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
    return `exit code ${code}${code === 127 ? ' (command not found)' : name === undefined ? '' : ` (${name})`}`;
  }
  return signal === null ? 'the process is gone; how it ended was not seen' : `ended by ${signal}`;
}
