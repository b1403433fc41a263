/** Local time in a time zone. The zones' rules are those of the runtime (ICU); instants go in and come out. */
import { hours, type Instant, instant } from './time.ts';

/** A wall clock's reading, written as the epoch milliseconds that the same reading has in UTC. */
export type LocalTime = number & { readonly __local: true };

/** The cast holds: a brand adds no structure. */
const localTime = (ms: number): LocalTime => ms as LocalTime;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws a RangeError for a name that is no zone, as Intl does. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, format);
  return format;
}

/** Whether it is a name of the IANA time zone database; an offset such as `+02:00` is none. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** What the clocks of a zone show at an instant, whole seconds. */
export function localAt(at: Instant, zone: string): LocalTime {
  if (zone === 'UTC') return localTime(Math.floor(at / 1000) * 1000);
  const read: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(at)) read[type] = Number(value);
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = read;
  return localTime(Date.UTC(year, month - 1, day, hour, minute, second));
}

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
export const offsetAt = (at: Instant, zone: string): number => localAt(at, zone) - Math.floor(at / 1000) * 1000;

/** Further apart than any jump of the clocks (a day, Samoa 2011), and nearer than two changes of a zone are. */
const NEIGHBOURHOOD = hours(36);

/**
 * The first instant at which the clocks of a zone show a time. A time that they skip is taken to be the end of the gap;
 * one that they show twice is the first of the two (DESIGN section 2b, Windows).
 */
export function firstInstantOf(local: LocalTime, zone: string): Instant {
  if (zone === 'UTC') return instant(local);
  const before = offsetAt(instant(local - NEIGHBOURHOOD), zone);
  const after = offsetAt(instant(local + NEIGHBOURHOOD), zone);
  const shown = [local - before, local - after].filter((at) => localAt(instant(at), zone) === local);
  return shown.length > 0 ? instant(Math.min(...shown)) : changeOf(zone, before, local - after, local - before);
}

/** The instant between two at which a zone leaves the offset given, to the second. */
function changeOf(zone: string, before: number, from: number, to: number): Instant {
  let [low, high] = [Math.floor(from / 1000), Math.ceil(to / 1000)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(instant(middle * 1000), zone) === before) low = middle;
    else high = middle;
  }
  return instant(high * 1000);
}
