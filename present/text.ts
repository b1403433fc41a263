/**
 * Text that came from elsewhere (agents, guests' consoles) made fit for a terminal: no control characters, so that a
 * message cannot move the cursor, colour the screen or break a row; measured, cut and wrapped by what is seen.
 */

/** Escape sequences whole, so that no half of one is left behind. The control characters in it are what it looks for. */
const ESCAPES = new RegExp(
  [
    '\\u001b\\][^\\u0007\\u001b\\n]*(?:\\u0007|\\u001b\\\\)?', // operating system commands: titles, links
    '[\\u001b\\u009b]\\[?[0-?]*[ -/]*[@-~]', // colours, cursor movements
  ].join('|'),
  'g',
);
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const DOUBLE_WIDTH =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]$/u;

/** One line of harmless text: line breaks and tabs become spaces, other control characters go. */
export const oneLine = (text: string): string =>
  text
    .replace(ESCAPES, '')
    .replace(/[\r\n\t]+/g, ' ')
    .replace(CONTROLS, '')
    .trim();

/** Harmless lines: line breaks stay, tabs become spaces, other control characters go. */
export const harmlessLines = (text: string): string[] =>
  text
    .replace(ESCAPES, '')
    .split(/\r\n|\n|\r/)
    .map((line) => line.replaceAll('\t', '  ').replace(CONTROLS, '').trimEnd());

/** A cell of a tab-separated row: line breaks and tabs are written `\n` and `\t`, other control characters go. */
export const oneCell = (text: string): string =>
  text
    .replace(ESCAPES, '')
    .replace(/\r\n|\r|\n/g, '\\n')
    .replaceAll('\t', '\\t')
    .replace(CONTROLS, '');

function characterWidth(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0;
  return DOUBLE_WIDTH.test(character) ? 2 : 1;
}

/** How many columns of a terminal a text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** Splits a text after as many characters as fit into `width` columns, at least one. */
function splitAt(text: string, width: number): [string, string] {
  let taken = '';
  let used = 0;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width && taken !== '') break;
    taken += character;
  }
  return [taken, text.slice(taken.length)];
}

/** The text, or as much of it as fits with `…` behind it. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 2) return '…';
  return `${splitAt(text, width - 1)[0].trimEnd()}…`;
}

/** The text in lines of at most `width` columns, broken at spaces; a longer word is broken inside. At least one line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (displayWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (displayWidth(line) > width) {
      const [head, rest] = splitAt(line, width);
      if (rest === '') break;
      lines.push(head);
      line = rest;
    }
  }
  return [...lines, line];
}

/** The text with spaces behind it (or before it) up to `width` columns. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return side === 'left' ? text + spaces : spaces + text;
}

/** `1 node`, `3 nodes`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
