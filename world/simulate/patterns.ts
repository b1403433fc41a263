/** Many things with few words: `web-{1..200}` names two hundred, `web-*` means those of them that are there. */

const RANGE = /\{(\d+)\.\.(\d+)\}/;
const NAMES_MAX = 10_000;

/** A pattern that cannot be read, or names too much. */
export class PatternError extends Error {
  readonly code = 'InvalidPattern';
}

/**
 * The names that a pattern with one range stands for, each with its number; a name without a range stands for itself.
 * A range with leading zeros gives numbers of that width: `{001..200}`.
 */
export function namesOf(pattern: string): { name: string; number: string | null }[] {
  const range = RANGE.exec(pattern);
  if (range === null) return [{ name: pattern, number: null }];
  const [whole, from = '', to = ''] = range;
  const size = Number(to) - Number(from) + 1;
  if (size < 1 || size > NAMES_MAX)
    throw new PatternError(`${pattern} must name 1 to ${NAMES_MAX} things, lowest number first`);
  if (RANGE.test(pattern.replace(whole, ''))) throw new PatternError(`${pattern} has more than one range`);
  const width = from.length > 1 && from.startsWith('0') ? from.length : 0;
  return Array.from({ length: size }, (_, index) => {
    const number = String(Number(from) + index).padStart(width, '0');
    return { name: pattern.replace(whole, () => number), number };
  });
}

/** `{}` in any text of a body becomes the number of the name. */
export function numbered(value: unknown, number: string | null): unknown {
  if (number === null) return value;
  if (typeof value === 'string') return value.replaceAll('{}', () => number);
  if (Array.isArray(value)) return value.map((item) => numbered(item, number));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, numbered(inner, number)]));
}

/** Whether a text stands for more than one name. */
export const isPattern = (text: string): boolean => text.includes('*') || RANGE.test(text);

/** The names that a step means: of `*` those that are there, of a range all that it names. */
export function meant(pattern: string, there: readonly string[]): { name: string; number: string | null }[] {
  if (!pattern.includes('*')) return namesOf(pattern);
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const wanted = new RegExp(`^${parts.join('.*')}$`);
  return there.filter((name) => wanted.test(name)).map((name) => ({ name, number: null }));
}
