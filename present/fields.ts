/** One thing in full: a line for each field, its name before it. */
import { displayWidth, oneCell, oneLine, pad, wrap } from './text.ts';
import { paint, type Screen, type Tone } from './tone.ts';

/** A verb of the API as it is typed: `closeBreaker` is `close-breaker`. */
export const verbName = (verb: string): string => verb.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The verbs that are refused now, each with why, in the API's own words; an earlier release does not say. */
export const refusedFields = (can: Readonly<Record<string, { detail: string } | null>> | undefined): Field[] =>
  Object.entries(can ?? {}).flatMap(([verb, why]) =>
    why === null ? [] : [{ label: 'Refused now', text: `${verbName(verb)}: ${why.detail}`, tone: 'quiet' as const }],
  );

export type Field = { readonly label: string; readonly text: string; readonly tone?: Tone | undefined };

const GAP = 2;
const TEXT_MIN = 30;

/** Draws fields with their labels aligned and their texts wrapped. Lines end without a line break. */
export function fieldBlock(fields: readonly Field[], screen: Screen): string {
  const indent = Math.max(0, ...fields.map((field) => displayWidth(field.label))) + GAP;
  const room = Math.max(TEXT_MIN, screen.width - indent);
  return fields
    .flatMap((field) =>
      wrap(oneLine(field.text), room).map((line, n) => {
        const label =
          n === 0
            ? paint(field.label, 'quiet', screen) + ' '.repeat(indent - displayWidth(field.label))
            : pad('', indent);
        return `${label}${paint(line, field.tone, screen)}`.trimEnd();
      }),
    )
    .join('\n');
}

/** `label<TAB>text` lines, for a pipe. */
export const fieldRows = (fields: readonly Field[]): string =>
  fields.map((field) => `${field.label}\t${oneCell(field.text)}`).join('\n');
