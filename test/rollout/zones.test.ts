/** Local times and instants agree with Python's zoneinfo at every change of every zone's clocks in ten years. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Instant, instant, minutes } from '../../core/kit/time.ts';
import { openingAfter, openingUpTo } from '../../core/rollout/calendar.ts';
import type { Window } from '../../core/policy/windows.ts';

// The cast holds: zones.py writes exactly this.
const KINDS = JSON.parse(readFileSync(join(import.meta.dirname, 'zones.json'), 'utf8')) as {
  zones: string[];
  rows: [local: number, opens: number][];
}[];

const at = (minute: number): Instant => instant(minute * 60_000);
const windowAt = (local: number, timezone: string): Window => {
  const reads = new Date(local * 60_000);
  const cron = `${reads.getUTCMinutes()} ${reads.getUTCHours()} ${reads.getUTCDate()} ${reads.getUTCMonth() + 1} *`;
  return { cron, duration: minutes(30), timezone, cutoff: minutes(0) };
};

describe('a window opens when Python says that its time comes', () => {
  test('there are zones enough', () => {
    expect(KINDS.flatMap(({ zones }) => zones).length).toBeGreaterThan(250);
  });

  test.each(KINDS.map(({ zones, rows }) => [zones[0] ?? '', zones, rows] as const))('%s', (_first, zones, rows) => {
    for (const zone of zones) {
      const wrong = rows.flatMap(([local, opens]) => {
        const window = windowAt(local, zone);
        const next = openingAfter(window, instant(at(opens) - 1000));
        const last = openingUpTo(window, at(opens));
        return next === at(opens) && last === at(opens) ? [] : [{ zone, window, opens: at(opens), next, last }];
      });
      expect(wrong).toEqual([]);
    }
  });
});
