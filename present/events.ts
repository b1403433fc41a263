/** The event log as people read it: a table, lines that are added one by one, and tab-separated rows. */
import type { EventEntry } from '../core/contract/answers.ts';
import { parseInstant } from '../core/kit/time.ts';
import { separated, table, type Column, type Surface } from './table.ts';
import { cut, oneLine } from './text.ts';
import { paint, type Screen, type Tone } from './tone.ts';
import { sayWhen } from './when.ts';

const TONES: Record<EventEntry['severity'], Tone> = { info: 'plain', warning: 'warn' };
/** A warning has a mark too: colour alone says nothing without colour. */
const MARKS: Record<EventEntry['severity'], string> = { info: ' ', warning: '!' };

/** Oldest first, as a log reads; events of one instant keep the order of their ids. */
export const eventsByAge = (events: readonly EventEntry[]): EventEntry[] =>
  [...events].sort(
    (a, b) => (parseInstant(a.at) ?? 0) - (parseInstant(b.at) ?? 0) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );

const COLUMNS: readonly Column[] = [
  { title: 'WHEN' },
  { title: '' },
  { title: 'EVENT' },
  { title: 'ABOUT', drop: 1 },
  { title: 'MESSAGE' },
];

/** A table of events with their age, in the order given. */
export const eventTable = (events: readonly EventEntry[], surface: Surface): string =>
  table(
    COLUMNS,
    events.map((event) => [
      { text: sayWhen(event.at, surface.now) },
      { text: MARKS[event.severity], tone: TONES[event.severity] },
      { text: event.type, tone: TONES[event.severity] },
      { text: event.subject },
      { text: event.message },
    ]),
    surface,
  );

/** One event in one line, for a log that grows: `12:30:05Z ! VM Start Delayed  web  message`. */
export function eventLine(event: EventEntry, screen: Screen): string {
  const at = parseInstant(event.at);
  const time = at === null ? event.at : `${new Date(at).toISOString().slice(11, 19)}Z`;
  const mark = MARKS[event.severity] ?? ' ';
  const head = `${time} ${mark} ${oneLine(event.type)}  ${oneLine(event.subject)}`;
  const room = Math.max(1, screen.width - head.length - 2);
  return `${paint(head, TONES[event.severity], screen)}  ${cut(oneLine(event.message), room)}`;
}

/** The columns of `eventRows`, for help texts. */
export const EVENT_ROW = 'at severity type subject message id';

/** Tab-separated rows of events, in the order given; instants in RFC 3339. */
export const eventRows = (events: readonly EventEntry[]): string =>
  separated(events.map((event) => [event.at, event.severity, event.type, event.subject, event.message, event.id]));
