/** Instants as people read them: relative to now on a screen, RFC 3339 in a file. */
import { between, parseInstant, sayDuration, type Instant } from '../core/kit/time.ts';

/** How an instant of the API is written in this output. */
export type When = (at: string) => string;

/** `in 12 s`, `3 min ago`; a text that is no instant stays as it is. */
export function sayWhen(at: string, now: Instant): string {
  const parsed = parseInstant(at);
  if (parsed === null) return at;
  if (parsed > now) return `in ${sayDuration(between(now, parsed))}`;
  return `${sayDuration(between(parsed, now))} ago`;
}

/** For a screen: `in 12 s (2026-01-05T00:00:12.000Z)`. */
export const relativeWhen =
  (now: Instant): When =>
  (at) =>
    parseInstant(at) === null ? at : `${sayWhen(at, now)} (${at})`;

/** For a file: the instant as the API gave it. */
export const absoluteWhen: When = (at) => at;

/** `retry in 12 s`, `retry due` once it has passed, nothing when no retry is planned. */
export function sayRetry(at: string | null, now: Instant): string {
  const parsed = at === null ? null : parseInstant(at);
  if (parsed === null) return '';
  return parsed > now ? `retry in ${sayDuration(between(now, parsed))}` : 'retry due';
}

/** The later of two instants of the API, either of which may be missing. */
export function laterOf(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return (parseInstant(a) ?? 0) >= (parseInstant(b) ?? 0) ? a : b;
}
