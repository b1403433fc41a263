/** DESIGN section 2b, Windows and freezes: when something may begin, and when that changes. */
import * as z from 'zod/mini';
import { describe, expect, test } from 'vitest';
import { formatInstant, type Instant, instant } from '../../core/kit/time.ts';
import { freezesOf, freezesSchema, windowsOf, windowsSchema, type WindowBody } from '../../core/policy/windows.ts';
import { type Calendar, opennessAt } from '../../core/rollout/calendar.ts';

const at = (text: string): Instant => instant(Date.parse(`${text}Z`));
const calendar = (given: {
  windows?: WindowBody[];
  freezes?: [from: string, to: string, reason?: string][];
  opened?: [from: string, until: string];
}): Calendar => ({
  windows: windowsOf(given.windows),
  freezes: freezesOf(
    (given.freezes ?? []).map(([from, to, reason]) => ({
      from: `${from}Z`,
      to: `${to}Z`,
      ...(reason === undefined ? {} : { reason }),
    })),
  ),
  opened: given.opened === undefined ? null : { at: at(given.opened[0]), until: at(given.opened[1]), by: 'somebody' },
});
/** `open until …`, `closed until …`, or `frozen until …`: the way a row of a table says it. */
function said(given: Parameters<typeof calendar>[0], now: string): string {
  const openness = opennessAt(calendar(given), at(now));
  const instantOf = (when: Instant | null): string => (when === null ? 'for ever' : formatInstant(when).slice(0, 16));
  if (openness.open) return `open until ${instantOf(openness.until)}`;
  return `${openness.frozen === null ? 'closed' : 'frozen'} until ${instantOf(openness.opensAt)}`;
}

const NIGHT: WindowBody = { cron: '0 2 * * MON-FRI', duration: '2h' };
const LATE: WindowBody = { cron: '0 22 * * *', duration: '4h', timezone: 'America/New_York' };

describe('a group with windows may begin', () => {
  test.each<[what: string, given: Parameters<typeof calendar>[0], now: string, wanted: string]>([
    ['always, without any', {}, '2026-01-05T12:00', 'open until for ever'],
    ['from the instant one opens', { windows: [NIGHT] }, '2026-01-05T02:00', 'open until 2026-01-05T04:00'],
    ['not a moment before', { windows: [NIGHT] }, '2026-01-05T01:59:59', 'closed until 2026-01-05T02:00'],
    ['to the last moment', { windows: [NIGHT] }, '2026-01-05T03:59:59', 'open until 2026-01-05T04:00'],
    ['no longer at its end', { windows: [NIGHT] }, '2026-01-05T04:00', 'closed until 2026-01-06T02:00'],
    ['after the weekend', { windows: [NIGHT] }, '2026-01-10T03:00', 'closed until 2026-01-12T02:00'],
    [
      'only until the cutoff',
      { windows: [{ ...NIGHT, cutoff: '30m' }] },
      '2026-01-05T03:30',
      'closed until 2026-01-06T02:00',
    ],
    ['by the clocks of its zone', { windows: [LATE] }, '2026-01-06T03:00', 'open until 2026-01-06T07:00'],
    ['over midnight of its zone', { windows: [LATE] }, '2026-07-06T05:59', 'open until 2026-07-06T06:00'],
    [
      'through two that overlap, without a pause between',
      { windows: [NIGHT, { cron: '30 3 * * *', duration: '3h' }] },
      '2026-01-05T02:00',
      'open until 2026-01-05T06:30',
    ],
    [
      'through two that touch',
      { windows: [NIGHT, { cron: '0 4 * * *', duration: '1h' }] },
      '2026-01-05T02:00',
      'open until 2026-01-05T05:00',
    ],
    [
      'for ever where every window is followed by itself',
      { windows: [{ cron: '*/10 * * * *', duration: '10m' }] },
      '2026-01-05T02:00',
      'open until for ever',
    ],
    [
      'on a day of the month or a day of the week, as cron does',
      { windows: [{ cron: '0 0 13 * FRI', duration: '1h' }] },
      '2026-04-11T00:00',
      'closed until 2026-04-13T00:00',
    ],
    [
      'at the end of a gap of the clocks',
      { windows: [{ cron: '30 2 * * *', duration: '1h', timezone: 'Europe/Berlin' }] },
      '2026-03-29T00:59:59',
      'closed until 2026-03-29T01:00',
    ],
    [
      'once where a time comes twice',
      { windows: [{ cron: '30 2 * * *', duration: '10m', timezone: 'Europe/Berlin' }] },
      '2026-10-25T01:30',
      'closed until 2026-10-26T01:30',
    ],
    [
      'for the time that has elapsed, not the one that clocks show',
      { windows: [{ cron: '0 1 * * *', duration: '3h', timezone: 'Europe/Berlin' }] },
      '2026-10-24T23:00',
      'open until 2026-10-25T02:00',
    ],
    [
      'while a person has opened one',
      { windows: [NIGHT], opened: ['2026-01-05T12:00', '2026-01-05T13:00'] },
      '2026-01-05T12:30',
      'open until 2026-01-05T13:00',
    ],
    [
      'no longer when that has ended',
      { windows: [NIGHT], opened: ['2026-01-05T12:00', '2026-01-05T13:00'] },
      '2026-01-05T13:00',
      'closed until 2026-01-06T02:00',
    ],
  ])('%s', (_what, given, now, wanted) => {
    expect(said(given, now)).toBe(wanted);
  });
});

describe('a freeze', () => {
  test.each<[what: string, given: Parameters<typeof calendar>[0], now: string, wanted: string]>([
    [
      'forbids also where no window is given',
      { freezes: [['2026-12-20T00:00', '2027-01-04T00:00']] },
      '2026-12-24T18:00',
      'frozen until 2027-01-04T00:00',
    ],
    [
      'ends what a window allows',
      { windows: [NIGHT], freezes: [['2026-01-05T03:00', '2026-01-05T03:30']] },
      '2026-01-05T02:30',
      'open until 2026-01-05T03:00',
    ],
    [
      'is over at its end',
      { windows: [NIGHT], freezes: [['2026-01-05T03:00', '2026-01-05T03:30']] },
      '2026-01-05T03:30',
      'open until 2026-01-05T04:00',
    ],
    [
      'is waited out until a window is open again',
      { windows: [NIGHT], freezes: [['2026-01-05T03:00', '2026-01-06T04:00']] },
      '2026-01-05T03:00',
      'frozen until 2026-01-07T02:00',
    ],
    [
      'is followed by the next without a moment between',
      {
        freezes: [
          ['2026-12-24T00:00', '2026-12-27T00:00'],
          ['2026-12-20T00:00', '2026-12-24T00:00'],
        ],
      },
      '2026-12-20T00:00',
      'frozen until 2026-12-27T00:00',
    ],
    [
      'holds against a window that a person opened',
      {
        windows: [NIGHT],
        opened: ['2026-01-05T12:00', '2026-01-05T20:00'],
        freezes: [['2026-01-05T13:00', '2026-01-05T14:00']],
      },
      '2026-01-05T13:30',
      'frozen until 2026-01-05T14:00',
    ],
  ])('%s', (_what, given, now, wanted) => {
    expect(said(given, now)).toBe(wanted);
  });
});

test('looked at minute by minute, it says beforehand when it will open and close', () => {
  const given = calendar({
    windows: [NIGHT, LATE, { cron: '*/50 5 1,15 * *', duration: '25m', timezone: 'Asia/Kolkata', cutoff: '5m' }],
    freezes: [['2026-03-28T22:00', '2026-03-29T03:00']],
  });
  const minutesOn = (minute: number): Instant => instant(at('2026-03-28T12:00') + minute * 60_000);
  let before = opennessAt(given, minutesOn(0));
  const surprises: string[] = [];
  for (let minute = 1; minute < 2 * 24 * 60; minute += 1) {
    const now = minutesOn(minute);
    const openness = opennessAt(given, now);
    const announced = before.open ? before.until : before.opensAt;
    const asSaid = openness.open === before.open ? announced === null || announced > now : announced === now;
    if (!asSaid) surprises.push(formatInstant(now));
    before = openness;
  }
  expect(surprises).toEqual([]);
});

describe('what cannot work is refused when it is put', () => {
  const problemOf = (schema: z.core.$ZodType, body: unknown): string => {
    const parsed = z.safeParse(schema, body);
    return parsed.success
      ? 'accepted'
      : parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
  };
  test.each([
    ['0 2 * * *', 'accepted'],
    ['*/15 2-4,22 1-7 JAN,jul MON-FRI', 'accepted'],
    ['0 0 * * 7', 'accepted'],
    ['0 0 29 2 *', 'accepted'],
    ['0 0 30 2 *', '0.cron never comes within five years'],
    [
      '0 0 0 * * *',
      '0.cron must have five fields: minute, hour, day of month, month, day of week (there are no seconds)',
    ],
    [
      '@daily    ',
      '0.cron must have five fields: minute, hour, day of month, month, day of week (there are no seconds)',
    ],
    ['60 2 * * *', '0.cron is not a cron: Invalid value for minute: 60'],
    ['0 2 L * *', '0.cron must be made of numbers, names such as MON or JAN, lists, ranges and steps: 0 2 * * MON-FRI'],
    [
      '0 2 * * 1#2',
      '0.cron must be made of numbers, names such as MON or JAN, lists, ranges and steps: 0 2 * * MON-FRI',
    ],
    [
      '0 2 ? * MON',
      '0.cron must be made of numbers, names such as MON or JAN, lists, ranges and steps: 0 2 * * MON-FRI',
    ],
    [
      '0 2 15W * *',
      '0.cron must be made of numbers, names such as MON or JAN, lists, ranges and steps: 0 2 * * MON-FRI',
    ],
    [
      '0 2 * * FRIL',
      '0.cron must be made of numbers, names such as MON or JAN, lists, ranges and steps: 0 2 * * MON-FRI',
    ],
  ])('cron %s: %s', (cron, wanted) => {
    expect(problemOf(windowsSchema, [{ cron, duration: '1h' }])).toBe(wanted);
  });

  test.each([
    [{ duration: '9m' }, '0.duration must be from 10m to 7d'],
    [{ duration: '169h' }, '0.duration must be from 10m to 7d'],
    [{ duration: '168h' }, 'accepted'],
    [{ timezone: 'Europe/Berlin' }, 'accepted'],
    [{ timezone: 'Mars/Phobos' }, '0.timezone must be the name of an IANA time zone, such as Europe/Berlin'],
    [{ timezone: '+02:00' }, '0.timezone must be the name of an IANA time zone, such as Europe/Berlin'],
    [{ cutoff: '59m' }, 'accepted'],
    [{ cutoff: '1h' }, '0.cutoff must be shorter than the duration: else nothing could ever begin in this window'],
  ])('window %j: %s', (changed, wanted) => {
    expect(problemOf(windowsSchema, [{ cron: '0 2 * * *', duration: '1h', ...changed }])).toBe(wanted);
  });

  test.each([
    [{ from: '2026-12-20T00:00:00Z', to: '2026-12-27T00:00:00+01:00', reason: 'holidays' }, 'accepted'],
    [{ from: '2026-12-27T00:00:00Z', to: '2026-12-20T00:00:00Z' }, '0.to must be after from'],
    [
      { from: '2026-12-20', to: '2026-12-27T00:00:00Z' },
      '0.from must be an RFC 3339 instant with its offset, such as 2026-12-20T00:00:00Z',
    ],
  ])('freeze %j: %s', (freeze, wanted) => {
    expect(problemOf(freezesSchema, [freeze])).toBe(wanted);
  });

  test('so many windows and freezes, and no more', () => {
    const window = { cron: '0 2 * * *', duration: '1h' };
    const freeze = { from: '2026-12-20T00:00:00Z', to: '2026-12-27T00:00:00Z' };
    expect(
      problemOf(
        windowsSchema,
        Array.from({ length: 20 }, () => window),
      ),
    ).toBe('accepted');
    expect(
      problemOf(
        windowsSchema,
        Array.from({ length: 21 }, () => window),
      ),
    ).not.toBe('accepted');
    expect(
      problemOf(
        freezesSchema,
        Array.from({ length: 50 }, () => freeze),
      ),
    ).toBe('accepted');
    expect(
      problemOf(
        freezesSchema,
        Array.from({ length: 51 }, () => freeze),
      ),
    ).not.toBe('accepted');
  });
});
