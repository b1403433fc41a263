import { describe, expect, test } from 'vitest';
import { axisOf, shareOf, timelineOf } from '../../console/timeline.ts';
import type { EventEntry } from '../../core/contract/answers.ts';
import { formatInstant, instant } from '../../core/kit/time.ts';
import { NOW } from '../face/fleet.ts';

/** Seconds before (or after) now. */
const at = (seconds: number): string => formatInstant(instant(NOW + seconds * 1000));
const event = (seconds: number, type: string): EventEntry => ({
  id: `node/a/${seconds}`,
  at: at(seconds),
  type,
  severity: 'info',
  subject: 'node/a',
  message: '',
});
const told = { now: NOW, next: null, within: null };
const seconds = (moment: number): number => (moment - NOW) / 1000;

describe('the timeline', () => {
  test('attempts, crashes and waits, and the wait that is still ahead', () => {
    const line = timelineOf({
      ...told,
      events: [
        event(-10, 'Node Crashed'),
        event(-60, 'Node Enrolled'),
        event(-50, 'Node Update Started'),
        event(-45, 'Node Update Step'),
        event(-40, 'Node Crashed'),
        event(-20, 'Node Update Started'),
      ],
      next: at(30),
    });
    expect(line?.spans.map(({ kind, from, to, isPlan }) => [kind, seconds(from), seconds(to), isPlan])).toEqual([
      ['attempt', -50, -40, false],
      ['waiting', -40, -20, false],
      ['attempt', -20, -10, false],
      ['waiting', -10, 0, false],
      ['waiting', 0, 30, true],
    ]);
    expect(line?.ticks.filter(({ isCrash }) => isCrash).map((tick) => seconds(tick.at))).toEqual([-40, -10]);
  });

  test('a VM that runs is running until now', () => {
    const events = [event(-30, 'VM Instance Started'), event(-20, 'VM Running')];
    expect(timelineOf({ ...told, events })?.spans.map(({ kind, to }) => [kind, seconds(to)])).toEqual([
      ['attempt', -20],
      ['running', 0],
    ]);
  });

  test('a retry that is due is not ahead', () => {
    expect(timelineOf({ ...told, events: [event(-30, 'Node Crashed')], next: at(-1) })?.next).toBeNull();
  });

  test('looked at closely, what lies before is left out, and a span that reaches in is cut', () => {
    const line = timelineOf({
      ...told,
      events: [event(-3000, 'Node Crashed'), event(-30, 'Node Update Started')],
      within: 60_000,
    });
    expect(line?.spans.map(({ from, to }) => [seconds(from), seconds(to)])).toEqual([
      [-60, -30],
      [-30, 0],
    ]);
    expect(line?.ticks).toHaveLength(1);
  });

  test('an event of a release that is not known is shown and changes nothing', () => {
    const events = [event(-9, 'VM Running'), event(-5, 'VM Danced')];
    const line = timelineOf({ ...told, events });
    expect([line?.spans.length, line?.ticks.length]).toEqual([1, 2]);
  });

  test('nothing happened: there is none; nor of an event without an instant', () => {
    expect(timelineOf({ ...told, events: [] })).toBeNull();
    expect(timelineOf({ ...told, events: [{ ...event(0, 'VM Running'), at: 'soon' }] })).toBeNull();
  });

  test('the axis has round instants, few enough to read', () => {
    const line = { from: instant(NOW - 95_000), to: NOW };
    expect(axisOf(line, 5).map(seconds)).toEqual([-90, -60, -30, 0]);
    expect(axisOf({ from: instant(NOW - 30 * 86_400_000), to: NOW }, 5).length).toBeLessThanOrEqual(6);
    expect(shareOf(line, NOW)).toBe(1);
  });
});
