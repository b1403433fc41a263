/** What the bodies of the contract are made of, and what the API's document says of each. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import * as pieces from '../../core/kit/schema.ts';
import { DURATION_PATTERN, POSITIVE_DURATION_PATTERN } from '../../core/kit/duration-pattern.ts';
import { INSTANCE_ID_PATTERN, NAME_PATTERN, NODE_ID_PATTERN } from '../../core/kit/ids.ts';
import { parseDuration } from '../../core/kit/time.ts';

const DURATION = 'a duration such as 90s, 15m or 24h, at most 365d';
const POSITIVE = 'a duration such as 90s, 15m or 24h, longer than nothing and at most 365d';
const NAME = '1 to 63 letters, digits, dots, underscores or hyphens, beginning and ending with a letter or digit';
const INSTANCE =
  '1 to 128 letters, digits, dots, underscores, colons or hyphens, beginning and ending with a letter or digit';

describe('a piece', () => {
  test.each<[string, () => z.ZodMiniString, string, string, string, object]>([
    [
      'a duration',
      pieces.durationText,
      '0s',
      '5',
      `must be ${DURATION}`,
      { pattern: DURATION_PATTERN, description: DURATION },
    ],
    [
      'a wait',
      pieces.positiveDuration,
      '1s',
      '0s',
      `must be ${POSITIVE}`,
      { pattern: POSITIVE_DURATION_PATTERN, description: POSITIVE },
    ],
    [
      'a wait that is none',
      pieces.positiveDuration,
      '90s',
      '5',
      `must be ${POSITIVE}`,
      { pattern: POSITIVE_DURATION_PATTERN, description: POSITIVE },
    ],
    [
      'a node',
      pieces.nodeId,
      'i-0000000a',
      'i-1',
      'must be i- with 8 or 17 hexadecimal digits, or mi- with 17',
      { pattern: NODE_ID_PATTERN },
    ],
    ['a group', pieces.groupId, 'edge', '-edge', `must be ${NAME}`, { pattern: NAME_PATTERN }],
    ['an instance', pieces.instanceId, 'a:1', ':1', `must be ${INSTANCE}`, { pattern: INSTANCE_ID_PATTERN }],
    ['a short text', pieces.shortText, 'x', '', 'must have 1 to 256 characters', { minLength: 1, maxLength: 256 }],
    ['an optional text', () => pieces.text(0, 2), '', 'abc', 'must have at most 2 characters', { maxLength: 2 }],
  ])('%s', (_what, make, good, bad, message, shown) => {
    const schema = make();
    expect(schema.safeParse(good).success).toBe(true);
    expect(schema.safeParse(bad).error?.issues.map((issue) => issue.message)).toEqual([message]);
    expect(z.globalRegistry.get(schema)).toEqual(shown);
  });

  test('a text is as long as it has characters', () => {
    const schema = pieces.text(2, 3);
    const lengths = [1, 2, 3, 4].map((length) => schema.safeParse('\u{1F600}'.repeat(length)).success);
    expect(lengths).toEqual([false, true, true, false]);
  });

  test('a number nearer to nothing than the table keeps is nothing', () => {
    const schema = z.number().check(pieces.notTiny());
    const kept = [1, -1, 1e-9, -1e-9, 0.9e-9, -0.9e-9, 0].map((given) => schema.parse(given));
    expect(kept).toEqual([1, -1, 1e-9, -1e-9, 0, 0, 0]);
    expect(pieces.UPTIME_MAX).toBe(32_000_000_000);
  });
});

describe('the pattern of a duration says what the parser takes', () => {
  const limits = { s: 31_536_000, m: 525_600, h: 8760, d: 365 };
  /** Around the limit, and around each of the numbers that its digits begin. */
  const near = (limit: number): number[] =>
    [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000].flatMap((unit) => {
      const part = Math.floor(limit / unit) * unit;
      return [part - unit, part - 1, part, part + 1, part + unit, unit - 1, unit, 9 * unit, limit * 10].filter(
        (n) => n >= 0,
      );
    });
  const texts = Object.entries(limits).flatMap(([unit, limit]) =>
    near(limit).flatMap((n) => ['', '.0', '.000', '.5', '.001', '.999'].map((fraction) => `${n}${fraction}${unit}`)),
  );
  const wrong = [
    '',
    's',
    '5',
    'x5s',
    '5sx',
    '5w',
    '1.s',
    '.5s',
    '1.2345s',
    '1.0000s',
    '365.0000d',
    '-1s',
    ' 1s',
    '1s ',
    '1ss',
    '1,5s',
  ];

  test('up to a year', () => {
    const pattern = new RegExp(DURATION_PATTERN);
    const misjudged = [...texts, ...wrong].filter((text) => pattern.test(text) !== (parseDuration(text) !== null));
    expect(misjudged).toEqual([]);
  });

  test('and longer than nothing', () => {
    const pattern = new RegExp(POSITIVE_DURATION_PATTERN);
    const all = [...texts, ...wrong, '0s', '0.0m', '0.001h', '00s'];
    expect(all.filter((text) => pattern.test(text) !== (parseDuration(text) ?? 0) > 0)).toEqual([]);
  });

  test('in the fewest words', () => {
    const days = String.raw`(?:(?:\d{1,2}|[1-2]\d{2}|3[0-5]\d{1}|36[0-4])(?:\.\d{1,3})?|365(?:\.0{1,3})?)d`;
    expect(DURATION_PATTERN.endsWith(`|${days})$`)).toBe(true);
    expect(DURATION_PATTERN).toContain(
      String.raw`|(?:(?:\d{1,3}|[1-7]\d{3}|8[0-6]\d{2}|87[0-5]\d{1})(?:\.\d{1,3})?|8760(?:\.0{1,3})?)h|`,
    );
  });
});
