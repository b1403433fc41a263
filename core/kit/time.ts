/** An instant: milliseconds since the Unix epoch, UTC. */
export type Instant = number & { readonly __instant: true };

/** A length of time in milliseconds. */
export type Duration = number & { readonly __duration: true };

/** Takes a number of epoch milliseconds for an instant. The cast holds: a brand adds no structure. */
export const instant = (epochMs: number): Instant => epochMs as Instant;

/** Takes a number of milliseconds for a duration. The cast holds: a brand adds no structure. */
const duration = (ms: number): Duration => ms as Duration;

export const milliseconds = (n: number): Duration => duration(n);
export const seconds = (n: number): Duration => duration(n * 1000);
export const minutes = (n: number): Duration => duration(n * 60_000);
export const hours = (n: number): Duration => duration(n * 3_600_000);
export const days = (n: number): Duration => duration(n * 86_400_000);

export const after = (at: Instant, wait: Duration): Instant => instant(at + wait);
export const between = (from: Instant, to: Instant): Duration => duration(to - from);

/** The earliest of the given instants, or null when there is none. */
export function earliest(instants: Iterable<Instant | null>): Instant | null {
  let first: Instant | null = null;
  for (const at of instants) if (at !== null && (first === null || at < first)) first = at;
  return first;
}

/** The next whole second at or after an instant: Scheduler's `at()` and SQS `DelaySeconds` take no fractions. */
export const ceilToSecond = (at: Instant): Instant => instant(Math.ceil(at / 1000) * 1000);

/** RFC 3339 in UTC with milliseconds, as every instant in the API is written. */
export const formatInstant = (at: Instant): string => new Date(at).toISOString();

/** Reads an RFC 3339 instant; null when it is not one. */
export function parseInstant(text: string): Instant | null {
  const ms = Date.parse(text);
  return Number.isFinite(ms) ? instant(ms) : null;
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(s|m|h|d)$/;

/** The longest duration the API takes: a year. */
export const DURATION_MAX = hours(365 * 24);

/** Reads `90s`, `15m`, `24h`, `7d`; null when it is not a duration or is longer than a year. */
export function parseDuration(text: string): Duration | null {
  const match = DURATION.exec(text);
  if (match === null) return null;
  const unit = match[2];
  if (unit !== 's' && unit !== 'm' && unit !== 'h' && unit !== 'd') return null;
  const ms = Math.round(Number(match[1]) * UNIT_MS[unit]);
  return ms <= DURATION_MAX ? duration(ms) : null;
}

/** As a body gives it, or the default where it gives none. A text that is no duration is refused elsewhere. */
export const durationOr = (text: string | undefined, otherwise: Duration): Duration =>
  parseDuration(text ?? '') ?? otherwise;

/** Writes a duration the way the API reads it, in the largest unit that keeps it whole. */
export function formatDuration(length: Duration): string {
  if (length !== 0 && length % UNIT_MS.h === 0) return `${length / UNIT_MS.h}h`;
  if (length !== 0 && length % UNIT_MS.m === 0) return `${length / UNIT_MS.m}m`;
  return `${length / 1000}s`;
}

/** A wait as a person says it: `12 s`, `4 min`, `3 h 20 min`. Never less than `0 s`. */
export function sayDuration(length: Duration): string {
  const total = Math.max(0, Math.ceil(length / 1000));
  if (total < 120) return `${total} s`;
  const mins = Math.round(total / 60);
  if (mins < 120) return `${mins} min`;
  const rest = mins % 60;
  return rest === 0 ? `${Math.floor(mins / 60)} h` : `${Math.floor(mins / 60)} h ${rest} min`;
}

/** "in 12 s (at 2026-…)", or "now". */
export const sayWhen = (at: Instant, now: Instant): string =>
  at <= now ? 'now' : `in ${sayDuration(between(now, at))} (at ${formatInstant(at)})`;
