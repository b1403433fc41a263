/** `--json nodeId,phase`: only these fields of each thing, as gh has it. Which there are, the contract says. */
import {
  consoleSchema,
  eventSchema,
  groupSchema,
  nodeSchema,
  recoverAnswerSchema,
  summarySchema,
  vmSchema,
} from '../core/contract/answers.ts';
import type { Invocation } from './command.ts';
import { CliError } from './errors.ts';
import { valueAt } from './path.ts';

const OF_NOUN: Readonly<Record<string, readonly string[]>> = {
  nodes: Object.keys(nodeSchema.shape),
  vms: Object.keys(vmSchema.shape),
  groups: Object.keys(groupSchema.shape),
  events: Object.keys(eventSchema.shape),
  summary: Object.keys(summarySchema.shape),
  recover: Object.keys(recoverAnswerSchema.shape),
  doctor: ['ok', 'findings'],
  explain: ['kind', 'id', 'state', 'happened', 'why', 'next', 'help', 'refused'],
};
/** Of a verb on many things: how it went with each. */
const OF_MANY: readonly string[] = ['id', 'accepted', 'why'];

const FIELD_LIST = /^[A-Za-z][\w.]*(?:,[A-Za-z][\w.]*)*$/;
const KNOWN: ReadonlySet<string> = new Set(Object.values(OF_NOUN).flat());
/** Commands that are whole without a word behind them. */
const WHOLE: ReadonlySet<string> = new Set(Object.keys(OF_NOUN).filter((noun) => noun !== 'explain'));

/**
 * Tells `--json FIELDS` from `--json` before another word: fields where they are joined by `=`, where there is a comma,
 * where the word is a field, or where nothing else is left for it to be. The rest of the command line is as it was.
 */
export function splitJsonFields(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.flatMap((word, n) => {
    if (end >= 0 && n > end) return [word];
    if (word.startsWith('--json=')) return ['--json', '--json-fields', word.slice('--json='.length)];
    const fields = argv[n - 1] === '--json' && areFields(argv, n) ? ['--json-fields', word] : [word];
    return fields;
  });
}

function areFields(argv: readonly string[], n: number): boolean {
  const word = argv[n] ?? '';
  if (!FIELD_LIST.test(word)) return false;
  if (word.includes(',')) return true;
  const before = argv.slice(0, n).filter((one) => !one.startsWith('-'));
  // Before the command itself it can only be the command.
  if (before.length > 0 && KNOWN.has(word.split('.')[0] ?? '')) return true;
  return before.length === 1 && WHOLE.has(before[0] ?? '') && argv[n + 1] === undefined;
}

/** The fields that an invocation's JSON has; null where it has none to choose from. */
export function fieldsOf({ name, many }: Pick<Invocation, 'name' | 'many'>): readonly string[] | null {
  if (many === true) return OF_MANY;
  const [noun = '', verb] = name.split(' ');
  if (verb === 'events') return OF_NOUN['events'] ?? null;
  if (verb === 'console') return Object.keys(consoleSchema.shape);
  return OF_NOUN[noun] ?? null;
}

/** Judged before anything is sent: a verb must not be carried out and then fail to be shown. @throws {CliError} Usage */
export function checkFields(invocation: Invocation, fields: readonly string[]): void {
  const known = fieldsOf(invocation);
  if (known === null) {
    throw new CliError('Usage', {
      what: `${invocation.name} has no fields to choose from`,
      next: 'leave the names behind --json out',
    });
  }
  const unknown = fields.find((field) => !known.includes(field.split('.')[0] ?? ''));
  if (unknown === undefined) return;
  throw new CliError('Usage', {
    what: `there is no field ${unknown === '' ? '""' : unknown} in the JSON of ${invocation.name}`,
    why: `its fields are ${known.join(', ')}`,
    next: 'name some of these behind --json, joined by commas; parts of one by a dot, as spec.version',
  });
}

/** An answer with these fields alone: of a list each of its items. A field that is not there is null. */
export function pick(body: unknown, fields: readonly string[]): unknown {
  const one = (thing: unknown): object =>
    Object.fromEntries(fields.map((field) => [field, valueAt(thing, field) ?? null]));
  const items = valueAt(body, 'items');
  return Array.isArray(items) ? items.map(one) : one(body);
}
