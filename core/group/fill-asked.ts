/** One queued filler for each group: that one is asked for stands in the group's item (DESIGN section 2 rule 4). */
import { after, between, type Duration, type Instant, milliseconds, seconds } from '../kit/time.ts';

/**
 * A fill that somebody waits for. It is asked for once, however many ask: whoever comes while one is on its way has
 * nothing to write, and who comes when it may have begun already asks for one more.
 */
export type FillAsked = {
  /** When it is due; the message that brings it names this instant, and one that names another is stale. */
  at: Instant;
  /** A gate may have opened or closed: staged and activated nodes are looked at first. */
  proceed: boolean;
  /** Asked for anew since it fell due. */
  again: { proceed: boolean } | null;
  /** A crowd waits for it, or it is a piece of more: whoever comes meanwhile does not try for itself. */
  busy?: true;
};

type Asked = { fill?: FillAsked | null; pausedBy: string | null };

/** One that was asked for again begins so long after the one before: the indexes have caught up, and others had their turn. */
const PACE: Duration = seconds(1);
/** One that begins later than that from now sees what has just been written. */
const IN_TIME: Duration = milliseconds(500);
/** One that is overdue for so long was lost on its way, or died: another is sent. */
const LOST_AFTER: Duration = seconds(20);

/** @param soon not at once: it was tried just now */
export function askFill<G extends Asked>(group: G, now: Instant, proceed: boolean, soon = false): G {
  // Whoever resumes a paused group asks.
  if (group.pausedBy !== null) return group;
  const asked = group.fill ?? null;
  if (asked === null || between(asked.at, now) > LOST_AFTER) {
    const lost = asked !== null && (asked.proceed || asked.again?.proceed === true);
    const fill = { proceed: proceed || lost, again: null };
    return { ...group, fill: soon ? { ...fill, at: after(now, PACE), busy: true } : { ...fill, at: now } };
  }
  if (soon && asked.busy !== true) return askFill({ ...group, fill: { ...asked, busy: true } }, now, proceed);
  if (between(now, asked.at) > IN_TIME)
    return asked.proceed || !proceed ? group : { ...group, fill: { ...asked, proceed } };
  if (asked.again !== null && (asked.again.proceed || !proceed)) return group;
  return { ...group, fill: { ...asked, again: { proceed } } };
}

/**
 * A filler is through.
 * @param answers what it was asked for; null: nobody had asked, as the sweep does not wait for that
 * @param more it works in pieces, and there is another
 */
export function fillDone<G extends Asked>(group: G, answers: FillAsked | null, more: boolean, now: Instant): G {
  const asked = group.fill ?? null;
  const its = answers !== null && asked?.at === answers.at;
  if (asked !== null && !its) return group;
  const again = asked?.again ?? null;
  const next = asked === null ? now : after(asked.at, milliseconds(1));
  if (more)
    return {
      ...group,
      fill: { at: now > next ? now : next, proceed: again?.proceed ?? false, again: null, busy: true },
    };
  if (again !== null) return { ...group, fill: { at: after(now, PACE), proceed: again.proceed, again: null } };
  if (asked === null) return group;
  const { fill: _answered, ...rest } = group;
  // What is left out is optional.
  return rest as G;
}
