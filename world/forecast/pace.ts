/** How long an attempt takes in a fleet and how often it fails: as its own event log says, or as given. */
import type { EventEntry } from '../../core/contract/answers.ts';
import { type Duration, milliseconds, minutes, parseInstant, seconds } from '../../core/kit/time.ts';

export type Pace = {
  /** From the start of an attempt until its node is Idle again, the soak time left out. */
  attempt: Duration;
  /** Of how many attempts one fails: 0 to 1. */
  failing: number;
  /** Attempts that this was learnt from; 0: it was given, or supposed. */
  learntFrom: number;
};

/** Nothing is known of the fleet: what a Bottlerocket host takes to download, reboot and be checked. */
export const SUPPOSED: Pace = { attempt: minutes(5), failing: 0, learntFrom: 0 };

/** The least that an attempt can take. */
const LEAST = seconds(5);

/** The middle one of the attempts in the log that ended well, and the share of those that did not. */
export function paceOf(log: readonly EventEntry[], soak: Duration): Pace {
  const begun = new Map<string, number>();
  const took: number[] = [];
  let crashed = 0;
  for (const { subject, type, at } of [...log].sort((a, b) => a.at.localeCompare(b.at))) {
    const when = parseInstant(at);
    if (when === null) continue;
    if (type === 'Node Update Started') begun.set(subject, when);
    const since = begun.get(subject);
    if (since === undefined || (type !== 'Node Updated' && type !== 'Node Crashed')) continue;
    begun.delete(subject);
    if (type === 'Node Crashed') crashed += 1;
    else took.push(when - since);
  }
  took.sort((a, b) => a - b);
  const learntFrom = took.length + crashed;
  if (learntFrom === 0) return SUPPOSED;
  const middle = took[Math.floor(took.length / 2)];
  const attempt = middle === undefined ? SUPPOSED.attempt : milliseconds(Math.max(LEAST, middle - soak));
  return { attempt, failing: crashed / learntFrom, learntFrom };
}
