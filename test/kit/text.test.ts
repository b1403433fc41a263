/** Text that every store and every wire can keep: no half of a surrogate pair is in it. */
import { describe, expect, test } from 'vitest';
import { headOf, isWellFormed, tailOf, wellFormed } from '../../core/kit/text.ts';

const WHOLE = '\u{1F600}';
const FIRST_HALF = '\uD83D';
const SECOND_HALF = '\uDE00';
const NONE = '\uFFFD';

describe('half of a surrogate pair', () => {
  test.each<[string, boolean, string]>([
    ['', true, ''],
    ['plain', true, 'plain'],
    [`a${WHOLE}b`, true, `a${WHOLE}b`],
    [`a${FIRST_HALF}b`, false, `a${NONE}b`],
    [`a${SECOND_HALF}b`, false, `a${NONE}b`],
    [`${FIRST_HALF}a${SECOND_HALF}`, false, `${NONE}a${NONE}`],
    [`${SECOND_HALF}${FIRST_HALF}`, false, `${NONE}${NONE}`],
  ])('%j is well formed: %s', (text, is, made) => {
    expect(isWellFormed(text)).toBe(is);
    expect(wellFormed(text)).toBe(made);
  });
});

describe('a text cut to so many units cuts no pair in two', () => {
  test.each<[string, number, string, string]>([
    ['abcd', 2, 'ab', 'cd'],
    ['abcd', 9, 'abcd', 'abcd'],
    [`${WHOLE}${WHOLE}`, 2, WHOLE, WHOLE],
    [`${WHOLE}${WHOLE}`, 3, WHOLE, WHOLE],
    [`${WHOLE}${WHOLE}`, 1, '', ''],
    [`${WHOLE}ab${WHOLE}`, 4, `${WHOLE}ab`, `ab${WHOLE}`],
    [`${WHOLE}ab${WHOLE}`, 5, `${WHOLE}ab`, `ab${WHOLE}`],
  ])('%j to %d', (text, units, head, tail) => {
    expect(headOf(text, units)).toBe(head);
    expect(tailOf(text, units)).toBe(tail);
  });
});
