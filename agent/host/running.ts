/** How long a guest has run, and what keeps it from running although its instance is Running (DESIGN section 3 rule 11). Pure. */
import type { Condition } from '../../core/contract/words.ts';
import type { Instance } from './instance.ts';

/** How long it has been Running by now, what did not count left out; null before it ever was. */
export function ranMs({ runningAt, condition, idleMs, end }: Instance, now: number): number | null {
  if (runningAt === null) return null;
  if (end !== null) return end.ranMs;
  return Math.max(0, Math.min(now, condition?.since ?? now) - runningAt - idleMs);
}

/** The guest was seen in a condition, or, with null, to run. One condition that follows another goes on from its start. */
export function seenAs(instance: Instance, kind: Condition | null, now: number): Instance {
  const { condition, runningAt, idleMs } = instance;
  if (runningAt === null || condition?.kind === kind) return instance;
  if (kind !== null) return { ...instance, condition: { kind, since: condition?.since ?? now } };
  if (condition === null) return instance;
  return { ...instance, condition: null, idleMs: idleMs + Math.max(0, now - condition.since) };
}

/** Instants that are kept of a guest's resets. */
const RESETS_KEPT = 100;

/** The guest was seen to have reset itself, in all so often, the last times at these instants. */
export function resetsSeen(instance: Instance, count: number, at: readonly number[]): Instance {
  if (count === instance.resets.count) return instance;
  return { ...instance, resets: { count, at: at.slice(-RESETS_KEPT) } };
}

/** Whether it has reset itself as often within `stableFor` as ends it; without a limit it never has. */
export function resetsTooOften({ resets, terms }: Instance): boolean {
  if (terms?.resetLimit == null) return false;
  const { resetLimit, stableForMs } = terms;
  return resets.at.some((at, index) => {
    const first = resets.at[index - resetLimit + 1];
    return first !== undefined && at - first <= stableForMs;
  });
}

const sayMs = (ms: number): string => (ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`);

/** What a condition means, for the message of the end that it brings. */
const CONDITION_SAID: Readonly<Record<Condition, string>> = {
  IoError: 'the guest is paused by an I/O error',
  Paused: 'the guest is paused, and not by a person',
  Suspended: 'the guest is suspended',
  Stopped: 'the process of its hypervisor is stopped',
  NotResponding: 'its hypervisor does not answer',
};

/** Why it is ended for what keeps it from running; null when nothing does. */
export function saidOfCondition({ condition, terms }: Instance, now: number): string | null {
  if (condition === null) return null;
  const limit = terms?.unresponsiveMs == null ? '' : `; unresponsiveFor is ${sayMs(terms.unresponsiveMs)}`;
  return `${CONDITION_SAID[condition.kind]}, for ${sayMs(now - condition.since)} now${limit}`;
}

/** Why it is ended for its resets. */
export const saidOfResets = ({ resets, terms }: Instance): string =>
  `the guest has reset itself ${resets.count} times, ${terms?.resetLimit ?? 0} of them within ${sayMs(terms?.stableForMs ?? 0)} (resetLimit)`;
