/**
 * When a group may begin what disturbs it: its windows, a window that a person opened, and its freezes (DESIGN section
 * 2b). Pure: the instant is an argument, the zones' rules are the runtime's.
 */
import { earliest, formatInstant, type Instant, instant } from '../kit/time.ts';
import { firstInstantOf, type LocalTime, localAt, offsetAt } from '../kit/zone.ts';
import { calendarOf, type Freeze, type Window, WINDOW_LONGEST } from '../policy/windows.ts';

/** A window that a person opened, until when, and who. */
export type OpenedWindow = { at: Instant; until: Instant; by: string };

export type Calendar = {
  windows: readonly Window[];
  freezes: readonly Freeze[];
  opened: OpenedWindow | null;
};

export type Openness =
  /** It may begin until `until`; null when nothing ends it. */
  | { open: true; until: Instant | null }
  /** `opensAt`: when it may begin again; null when no instant within a year is known. */
  | { open: false; opensAt: Instant | null; frozen: Freeze | null };

/** A span in which something may begin. */
type Span = { from: Instant; to: Instant };

/** So far ahead an opening is looked for: a cron comes within five years, and a page shows no more than this. */
const LOOK_AHEAD_MS = 5 * 366 * 86_400_000;
/** More openings than this in a row are one that does not end. */
const JOINED_MAX = 400;

/** Whether something may begin now, and when that changes. */
export function opennessAt(calendar: Calendar, now: Instant): Openness {
  const frozen = freezeAt(calendar.freezes, now);
  if (frozen !== null) return { open: false, opensAt: nextOpening(calendar, frozen.to), frozen };
  const span = spanAt(calendar, now);
  if (span === null) return { open: false, opensAt: nextOpening(calendar, now), frozen: null };
  const freeze = earliest(calendar.freezes.map(({ from }) => (from > now ? from : null)));
  const until = earliest([span === 'always' ? null : endOf(calendar, span.to), freeze]);
  return { open: true, until };
}

/** The freeze that holds at an instant, the one that ends last. */
export function freezeAt(freezes: readonly Freeze[], now: Instant): Freeze | null {
  let holding: Freeze | null = null;
  let end = now;
  for (const freeze of freezes.toSorted((a, b) => a.from - b.from)) {
    if (freeze.from > end || freeze.to <= end) continue;
    holding ??= freeze;
    end = freeze.to;
  }
  return holding === null ? null : { ...holding, to: end };
}

/** Until when, and why: for a sentence; null when it is not frozen. */
export function sayFrozen(freezes: readonly Freeze[], now: Instant): string | null {
  const frozen = freezeAt(freezes, now);
  if (frozen === null) return null;
  return `until ${formatInstant(frozen.to)}${frozen.reason === null ? '' : ` (${frozen.reason})`}`;
}

/** What lets something begin now; `always` without windows. */
function spanAt({ windows, opened }: Calendar, now: Instant): Span | 'always' | null {
  if (windows.length === 0) return 'always';
  let best: Span | null = null;
  for (const span of [...windows.map((window) => lastSpan(window, now)), personsSpan(opened)]) {
    if (span !== null && span.from <= now && now < span.to && (best === null || span.to > best.to)) best = span;
  }
  return best;
}

const personsSpan = (opened: OpenedWindow | null): Span | null =>
  opened === null ? null : { from: opened.at, to: opened.until };

/** The end of spans that follow each other without a gap; null when that goes on for longer than anybody looks. */
function endOf(calendar: Calendar, first: Instant): Instant | null {
  let end = first;
  for (let joined = 0; joined < JOINED_MAX; joined += 1) {
    const further = spanAt(calendar, end);
    if (further === 'always') return null;
    if (further === null) return end;
    if (further.to - first > WINDOW_LONGEST * 2) return null;
    end = further.to;
  }
  return null;
}

/** The first instant at or after `from` at which something may begin. */
function nextOpening(calendar: Calendar, from: Instant): Instant | null {
  let at = from;
  for (let tries = 0; tries <= calendar.freezes.length + 1; tries += 1) {
    const open = spanAt(calendar, at) !== null;
    const next = open ? at : earliest(calendar.windows.map((window) => openingAfter(window, at)));
    if (next === null) return null;
    const frozen = freezeAt(calendar.freezes, next);
    if (frozen === null) return next;
    at = frozen.to;
  }
  return null;
}

/** What the last opening at or before an instant lets begin. */
function lastSpan(window: Window, now: Instant): Span | null {
  const opening = openingUpTo(window, now);
  return opening === null ? null : { from: opening, to: instant(opening + window.duration - window.cutoff) };
}

/** How far the clocks may have been set back lately: times that were shown twice lie between. */
const SET_BACK_WITHIN_MS = 26 * 3_600_000;

/** The last opening at or before an instant, if it is not longer ago than a window lasts. */
export function openingUpTo(window: Window, now: Instant): Instant | null {
  const { timezone } = window;
  const calendar = calendarOf(window.cron);
  const lately = Math.max(offsetAt(now, timezone), offsetAt(instant(now - SET_BACK_WITHIN_MS), timezone));
  // One second on, for what is found lies before what is given.
  let local = Math.floor(now / 1000) * 1000 + lately + 1000;
  while (now - local <= WINDOW_LONGEST + SET_BACK_WITHIN_MS) {
    const found = calendar.previousRuns(1, new Date(local))[0];
    if (found === undefined) return null;
    const at = openingOf(found, timezone);
    if (at <= now) return now - at < window.duration ? at : null;
    local = found.getTime();
  }
  return null;
}

/** The instant of a time that a calendar found. The cast holds: it was asked in local times, and answers in them. */
const openingOf = (found: Date, zone: string): Instant => firstInstantOf(found.getTime() as LocalTime, zone);

/** The first opening after an instant. */
export function openingAfter(window: Window, now: Instant): Instant | null {
  const { timezone } = window;
  const calendar = calendarOf(window.cron);
  let local: number = localAt(now, timezone);
  const end = now + LOOK_AHEAD_MS;
  while (local <= end) {
    const found = calendar.nextRun(new Date(local));
    if (found === null) return null;
    const at = openingOf(found, timezone);
    if (at > now) return at;
    local = found.getTime();
  }
  return null;
}
