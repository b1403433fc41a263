/** Maintenance windows and freezes as a group's body gives them (DESIGN section 2b). */
import { Cron } from 'croner';
import * as z from 'zod/mini';
import { durationText, positiveDuration, text } from '../kit/schema.ts';
import { days, type Duration, type Instant, milliseconds, minutes, parseDuration, parseInstant } from '../kit/time.ts';
import { isZone } from '../kit/zone.ts';

export const WINDOWS_MAX = 20;
export const FREEZES_MAX = 50;
/** How long a window may be, and one that a person opens. */
export const WINDOW_SHORTEST = minutes(10);
export const WINDOW_LONGEST = days(7);

/** A window with its defaults: it opens at each time of `cron` on the clocks of `timezone`. */
export type Window = { cron: string; duration: Duration; timezone: string; cutoff: Duration };
/** Nothing begins from `from` (inclusive) to `to` (exclusive). */
export type Freeze = { from: Instant; to: Instant; reason: string | null };

const FIELD = String.raw`(?:\*|[0-9A-Za-z]{1,3}(?:-[0-9A-Za-z]{1,3})?)(?:\/\d{1,2})?`;
const FIVE_FIELDS = new RegExp(String.raw`^\s*(?:${FIELD}(?:,${FIELD})*(?:\s+|\s*$)){5}$`);
/** Names are whole: the letters L, W and # of other dialects are none of ours. */
const DIALECT = /(?:^|[\s,/-])(?:L|W|LW|\d+[LW])(?=$|[\s,/-])|#|\?/i;

/** From here on a cron has to come within five years; any instant shows the same, for calendars repeat. */
const LOOKED_FROM = new Date('2026-01-01T00:00:00Z');
const FIVE_YEARS_MS = days(5 * 366);

/** Why a text is no cron of a window; null when it is one. */
export function cronProblem(cron: string): string | null {
  if (cron.trim().split(/\s+/).length !== 5) {
    return 'must have five fields: minute, hour, day of month, month, day of week (there are no seconds)';
  }
  if (!FIVE_FIELDS.test(cron) || DIALECT.test(cron)) {
    return 'must be made of numbers, names such as MON or JAN, lists, ranges and steps: 0 2 * * MON-FRI';
  }
  try {
    const first = calendarOf(cron).nextRun(LOOKED_FROM);
    if (first !== null && first.getTime() - LOOKED_FROM.getTime() <= FIVE_YEARS_MS) return null;
    return 'never comes within five years';
  } catch (error) {
    return `is not a cron: ${error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)}`;
  }
}

/** A cron read as a calendar of local times: day of month and day of week, either of them, as cron does. */
export const calendarOf = (cron: string): Cron => new Cron(cron, { mode: '5-part', utcOffset: 0, paused: true });

/** How long a window may be, also one that a person opens. */
export const windowLength = () =>
  positiveDuration().check(
    z.refine((given) => {
      const length = parseDuration(given) ?? 0;
      return length >= WINDOW_SHORTEST && length <= WINDOW_LONGEST;
    }, 'must be from 10m to 7d'),
  );

export const windowSchema = /* @__PURE__ */ z.lazy(() =>
  z
    .strictObject({
      cron: text(9, 200).check(
        z.superRefine((cron, problems) => {
          const problem = cronProblem(cron);
          if (problem !== null) problems.addIssue({ code: 'custom', message: problem, input: cron });
        }),
      ),
      duration: windowLength(),
      timezone: z.optional(
        text(1, 64).check(z.refine(isZone, 'must be the name of an IANA time zone, such as Europe/Berlin')),
      ),
      cutoff: z.optional(durationText()),
    })
    .check(
      z.refine(({ duration, cutoff }) => (parseDuration(cutoff ?? '0s') ?? 0) < (parseDuration(duration) ?? 1), {
        path: ['cutoff'],
        message: 'must be shorter than the duration: else nothing could ever begin in this window',
      }),
    ),
);
export type WindowBody = z.infer<typeof windowSchema>;

const instantText = () =>
  z
    .string()
    .check(
      z.refine(
        (given) =>
          /^\d{4}-\d\d-\d\dT/.test(given) && /(?:Z|[+-]\d\d:\d\d)$/i.test(given) && parseInstant(given) !== null,
        'must be an RFC 3339 instant with its offset, such as 2026-12-20T00:00:00Z',
      ),
    );

export const freezeSchema = /* @__PURE__ */ z.lazy(() =>
  z.strictObject({ from: instantText(), to: instantText(), reason: z.optional(text(1, 256)) }).check(
    z.refine(({ from, to }) => (parseInstant(from) ?? 0) < (parseInstant(to) ?? Infinity), {
      path: ['to'],
      message: 'must be after from',
    }),
  ),
);
export type FreezeBody = z.infer<typeof freezeSchema>;

export const windowsSchema = /* @__PURE__ */ z.lazy(() => z.array(windowSchema).check(z.maxLength(WINDOWS_MAX)));
export const freezesSchema = /* @__PURE__ */ z.lazy(() => z.array(freezeSchema).check(z.maxLength(FREEZES_MAX)));

/** The windows of a body, with their defaults; the contract has checked them. */
export const windowsOf = (bodies: readonly WindowBody[] = []): Window[] =>
  bodies.map(({ cron, duration, timezone, cutoff }) => ({
    cron,
    duration: parseDuration(duration) ?? WINDOW_LONGEST,
    timezone: timezone ?? 'UTC',
    cutoff: parseDuration(cutoff ?? '') ?? milliseconds(0),
  }));

/** The freezes of a body; one that cannot be read is none, and the contract has refused it. */
export const freezesOf = (bodies: readonly FreezeBody[] = []): Freeze[] =>
  bodies.flatMap(({ from, to, reason }) => {
    const [begins, ends] = [parseInstant(from), parseInstant(to)];
    return begins === null || ends === null ? [] : [{ from: begins, to: ends, reason: reason ?? null }];
  });
