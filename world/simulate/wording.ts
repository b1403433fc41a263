/** Words of a timeline: clocks, and one sentence for many things that differ only in ids and times. */

/** Seconds from start the way a person reads them. */
export function clock(at: number): string {
  if (at < 120) return `${Number(at.toFixed(3))} s`;
  const total = Math.floor(at);
  const pad = (n: number): string => String(n).padStart(2, '0');
  return `${Math.floor(total / 3600)}:${pad(Math.floor((total % 3600) / 60))}:${pad(total % 60)}`;
}

/** What may differ between alike things: instants, node ids, instance ids, seconds, clocks. */
const VARIES =
  /\d{4}-\d\d-\d\dT[\d:.]+Z|\bm?i-[0-9a-f]{8,17}\b|\b[0-9a-f]{8}-[0-9a-f]{15,16}\b|\b[0-9a-f]{16}\b|\b\d+:\d\d:\d\d\b|\b\d+(?:\.\d+)?(?= (?:s|min)\b)/g;

/** The text with all that may vary left out. */
export const template = (text: string, id: string): string => withoutOwn(text, id).replaceAll(VARIES, '\u0000');

/** One text for many of the same template: where they differ, the least and the greatest, or the first and "…". */
export function merge(alike: readonly { text: string; id: string }[]): string {
  const [first] = alike;
  if (first === undefined) return '';
  if (alike.length === 1) return first.text;
  const values = alike.map(({ text, id }) => withoutOwn(text, id).match(VARIES) ?? []);
  let index = -1;
  return withoutOwn(first.text, first.id)
    .replaceAll(VARIES, (own) => {
      index += 1;
      return range(
        values.map((one) => one[index] ?? own),
        own,
      );
    })
    .replaceAll('\u0001', '{name}');
}

function range(values: readonly string[], own: string): string {
  if (values.every((value) => value === own)) return own;
  const numbers = values.map(Number);
  if (numbers.every((number) => Number.isFinite(number))) return `${Math.min(...numbers)}–${Math.max(...numbers)}`;
  const sorted = [...values].sort();
  const timed = /:/.test(own);
  return timed ? `${sorted[0] ?? own}–${sorted.at(-1) ?? own}` : `${own} …`;
}

/** A thing's own name inside its text stands for itself. */
const withoutOwn = (text: string, id: string): string =>
  id.length < 2 ? text : text.replaceAll(new RegExp(`(?<![\\w-])${escape(id)}(?![\\w-])`, 'g'), '\u0001');

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
