/** Text that every store and every wire can keep. */

/** Half of a surrogate pair is no character: it has no UTF-8. JSON can bring it in as an escape, cutting can make it. */
const HALF_PAIR = /\p{Surrogate}/u;
const HALF_PAIRS = /\p{Surrogate}/gu;

export const isWellFormed = (text: string): boolean => !HALF_PAIR.test(text);

/** The text with U+FFFD for each half of a surrogate pair. */
export const wellFormed = (text: string): string => text.replaceAll(HALF_PAIRS, '\uFFFD');

/** The first characters of a text, at most so many UTF-16 units; no pair is cut in two. */
export const headOf = (text: string, units: number): string => text.slice(0, units).replace(/[\uD800-\uDBFF]$/, '');

/** The last characters of a text, at most so many UTF-16 units; no pair is cut in two. */
export const tailOf = (text: string, units: number): string => text.slice(-units).replace(/^[\uDC00-\uDFFF]/, '');
