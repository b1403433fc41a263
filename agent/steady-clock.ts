/**
 * The clock of all durations: it goes on whatever becomes of the wall clock, across restarts of the agent and boots of the
 * host. Milliseconds; it begins at what the wall clock said when this host was first driven, and means nothing else.
 */
import * as z from 'zod/mini';

export const clockMarkSchema = z.object({
  bootId: z.string(),
  /** Seconds since that boot, when the mark was made. */
  uptime: z.number(),
  /** What this clock said then. */
  at: z.number(),
});
/** Kept with the record, so that the instants in it go on meaning the same. */
export type ClockMark = z.infer<typeof clockMarkSchema>;

export type SteadyClock = {
  now(): number;
  mark(): ClockMark;
};

export type ClockSource = {
  readonly bootId: () => string;
  /** Seconds since boot, from the kernel. */
  readonly uptime: () => number;
  /** Milliseconds that go on while this process lives. */
  readonly monotonicMs: () => number;
  /** Asked once, where there is nothing to go on from. */
  readonly wallMs: () => number;
};

/** Goes on from a mark. Of another boot only the time since it began is known: so a wait is rather longer than shorter. */
export function createSteadyClock(source: ClockSource, mark: ClockMark | null): SteadyClock {
  const start = source.monotonicMs();
  const base = mark === null ? source.wallMs() : goneOn(source, mark);
  const now = (): number => base + (source.monotonicMs() - start);
  return { now, mark: () => ({ bootId: source.bootId(), uptime: source.uptime(), at: now() }) };
}

function goneOn({ bootId, uptime }: ClockSource, mark: ClockMark): number {
  const seconds = uptime();
  const sameBoot = mark.bootId === bootId() && seconds >= mark.uptime;
  return mark.at + 1000 * (sameBoot ? seconds - mark.uptime : seconds);
}
