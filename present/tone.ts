/** What a word on the screen means to somebody in a hurry, and the colour that says so. */

/** bad: look here; warn: look here next; busy: moving by itself; good: fine; quiet: not now; plain: no meaning. */
export type Tone = 'bad' | 'warn' | 'busy' | 'good' | 'quiet' | 'plain';

/** Where text is drawn: nothing here is read from the process, so a drawing depends on its arguments alone. */
export type Screen = { readonly width: number; readonly colour: boolean };

/** Select Graphic Rendition, as `styleText` of Node writes it; core uses no module of Node. Each is [on, off]. */
const BOLD_RED = ['\u001b[1m\u001b[31m', '\u001b[39m\u001b[22m'] as const;
const YELLOW = ['\u001b[33m', '\u001b[39m'] as const;
const CYAN = ['\u001b[36m', '\u001b[39m'] as const;
const GREEN = ['\u001b[32m', '\u001b[39m'] as const;
const DIM = ['\u001b[2m', '\u001b[22m'] as const;

const STYLES: Record<Exclude<Tone, 'plain'>, readonly [on: string, off: string]> = {
  bad: BOLD_RED,
  warn: YELLOW,
  busy: CYAN,
  good: GREEN,
  quiet: DIM,
};

/**
 * The text in the colour of its tone. A tone can be undefined: a newer control plane may know states that this
 * program has no tone for.
 */
export function paint(text: string, tone: Tone | undefined, screen: Pick<Screen, 'colour'>): string {
  if (!screen.colour || text === '' || tone === undefined || tone === 'plain') return text;
  const [on, off] = STYLES[tone];
  return on + text + off;
}
