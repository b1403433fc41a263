/** Instants and durations: how they are read, written, said and compared. */
import { describe, expect, test } from 'vitest';
import {
  after,
  between,
  ceilToSecond,
  DURATION_MAX,
  earliest,
  formatDuration,
  formatInstant,
  hours,
  instant,
  milliseconds,
  minutes,
  parseDuration,
  parseInstant,
  sayDuration,
  seconds,
} from '../../core/kit/time.ts';

describe('a duration is read', () => {
  test.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['0s', 0],
    ['1.5s', 1500],
    ['1.25m', 75_000],
    ['0.001s', 1],
    ['0.125s', 125],
    ['365d', 31_536_000_000],
    ['8760h', 31_536_000_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '5', 's', '-5s', '5 s', ' 5s', '5s ', 'x5s', '5sx', '5w', '5ms', '1.s', '.5s', '1.2345s', '1.5.5s'])(
    '%j is none',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );

  test('up to a year, and no longer', () => {
    expect(parseDuration('365d')).toBe(DURATION_MAX);
    expect(parseDuration('8760.001h')).toBeNull();
    expect(parseDuration('366d')).toBeNull();
  });
});

describe('a duration is written in the largest unit that keeps it whole', () => {
  test.each([
    [milliseconds(0), '0s'],
    [milliseconds(1500), '1.5s'],
    [seconds(59), '59s'],
    [seconds(60), '1m'],
    [seconds(90), '90s'],
    [minutes(59), '59m'],
    [minutes(60), '1h'],
    [minutes(90), '90m'],
    [hours(24), '24h'],
  ])('%d ms is %s', (length, text) => {
    expect(formatDuration(length)).toBe(text);
    expect(parseDuration(text)).toBe(length);
  });
});

describe('a wait is said as a person says it', () => {
  test.each([
    [-5000, '0 s'],
    [0, '0 s'],
    [1, '1 s'],
    [11_001, '12 s'],
    [119_000, '119 s'],
    [119_001, '2 min'],
    [120_000, '2 min'],
    [149_000, '2 min'],
    [150_000, '3 min'],
    [7_140_000, '119 min'],
    [7_200_000, '2 h'],
    [7_260_000, '2 h 1 min'],
    [12_000_000, '3 h 20 min'],
    [86_400_000, '24 h'],
  ])('%d ms: %s', (ms, text) => {
    expect(sayDuration(milliseconds(ms))).toBe(text);
  });
});

describe('instants', () => {
  test('are written in UTC with milliseconds, and read again', () => {
    const at = instant(Date.UTC(2026, 0, 5, 1, 2, 3, 45));
    expect(formatInstant(at)).toBe('2026-01-05T01:02:03.045Z');
    expect(parseInstant('2026-01-05T01:02:03.045Z')).toBe(at);
    expect(parseInstant('2026-01-05T02:02:03.045+01:00')).toBe(at);
    expect(parseInstant('soon')).toBeNull();
  });

  test('a wait leads from one to the next', () => {
    expect(after(instant(1000), seconds(2))).toBe(3000);
    expect(between(instant(1000), instant(3000))).toBe(seconds(2));
  });

  test('the earliest of some is the smallest that is there', () => {
    expect(earliest([])).toBeNull();
    expect(earliest([null, null])).toBeNull();
    expect(earliest([instant(3), null, instant(1), instant(2)])).toBe(1);
    expect(earliest([null, instant(-1), instant(0)])).toBe(-1);
  });

  test.each([
    [0, 0],
    [1, 1000],
    [999, 1000],
    [1000, 1000],
    [1001, 2000],
  ])('%d ms rounded up to the second is %d ms', (at, up) => {
    expect(ceilToSecond(instant(at))).toBe(up);
  });
});
