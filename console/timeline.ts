/** The story of a node or VM to scale: attempts, lives and waits between the instants of its events. */
import type { EventEntry } from '../core/contract/answers.ts';
import type { EventType } from '../core/decision/fact.ts';
import { instant, parseInstant, type Instant } from '../core/kit/time.ts';
import { eventsByAge } from '../present/events.ts';

export type SpanKind = 'attempt' | 'running' | 'waiting' | 'settled';
export type Span = { readonly kind: SpanKind; readonly from: Instant; readonly to: Instant; readonly isPlan: boolean };
export type Tick = { readonly event: EventEntry; readonly at: Instant; readonly isCrash: boolean };
export type Timeline = {
  readonly from: Instant;
  readonly to: Instant;
  readonly spans: readonly Span[];
  readonly ticks: readonly Tick[];
  /** The next attempt, while one is known. */
  readonly next: Instant | null;
};

/** What begins with an event; an event that is not here changes nothing of it. */
const BEGINS: Partial<Record<EventType, SpanKind>> = {
  'Node Update Started': 'attempt',
  'Node Update Step': 'attempt',
  'Node Crashed': 'waiting',
  'Node Update Withdrawn': 'settled',
  'Node Updated': 'settled',
  'VM Instance Started': 'attempt',
  'VM Running': 'running',
  'VM Recovered': 'running',
  'VM Adopted': 'running',
  'VM Start Delayed': 'waiting',
  'VM Ended': 'settled',
};
const CRASHES: readonly string[] = ['Node Crashed', 'VM Start Delayed', 'VM Gave Up'] satisfies readonly EventType[];

const begins = (type: string): SpanKind | undefined => (BEGINS as Readonly<Record<string, SpanKind | undefined>>)[type];

export type Told = {
  readonly events: readonly EventEntry[];
  readonly now: Instant;
  /** RFC 3339, as the API gives it: when it is tried again. */
  readonly next: string | null;
  /** Shows the last so many milliseconds; null: all that is known. */
  readonly within: number | null;
};

/** What happened up to now, and until when it waits. Null: nothing is known to have happened. */
export function timelineOf({ events, now, next, within }: Told): Timeline | null {
  const ticks = eventsByAge(events).flatMap((event): Tick[] => {
    const at = parseInstant(event.at);
    return at === null ? [] : [{ event, at, isCrash: CRASHES.includes(event.type) }];
  });
  const [first] = ticks;
  if (first === undefined) return null;
  const planned = next === null ? null : parseInstant(next);
  const ahead = planned !== null && planned > now ? planned : null;
  const from = instant(Math.max(first.at, within === null ? 0 : now - within));
  const to = instant(Math.max(ahead ?? now, now, from + 1000));
  const spans = spansOf(ticks, now, ahead).filter((span) => span.to > from);
  return {
    from,
    to,
    spans: spans.map((span) => ({ ...span, from: instant(Math.max(span.from, from)) })),
    ticks: ticks.filter(({ at }) => at >= from),
    next: ahead,
  };
}

function spansOf(ticks: readonly Tick[], now: Instant, ahead: Instant | null): Span[] {
  const changes = ticks
    .flatMap(({ event, at }) => {
      const kind = begins(event.type);
      return kind === undefined ? [] : [{ kind, from: at }];
    })
    .filter(({ kind }, n, all) => kind !== all[n - 1]?.kind);
  const spans = changes.map(({ kind, from }, n): Span => ({
    kind,
    from,
    to: changes[n + 1]?.from ?? instant(Math.max(now, from)),
    isPlan: false,
  }));
  return ahead === null ? spans : [...spans, { kind: 'waiting', from: now, to: ahead, isPlan: true }];
}

/** Where an instant stands, from 0 to 1. */
export const shareOf = ({ from, to }: Pick<Timeline, 'from' | 'to'>, at: Instant): number =>
  Math.min(1, Math.max(0, (at - from) / (to - from)));

const STEPS_MS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800,
].map((n) => n * 1000);

/** Round instants for the axis, at most `most` of them. */
export function axisOf({ from, to }: Pick<Timeline, 'from' | 'to'>, most: number): Instant[] {
  const step = STEPS_MS.find((ms) => (to - from) / ms <= most) ?? Math.ceil((to - from) / most);
  const marks: Instant[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) marks.push(instant(at));
  return marks;
}
