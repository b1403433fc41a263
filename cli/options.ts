/** Arguments and options that several commands take, and what they accept. */
import { Option, InvalidArgumentError, type Command } from 'commander';
import {
  NAME_RULE,
  NODE_ID_RULE,
  parseGroupId,
  parseNodeId,
  parseVmId,
  type GroupId,
  type NodeId,
  type VmId,
} from '../core/kit/ids.ts';
import { parseDuration, type Duration } from '../core/kit/time.ts';

function accepted<T>(value: T | null, rule: string): T {
  if (value === null) throw new InvalidArgumentError(rule);
  return value;
}

export const nodeIdArgument = (text: string): NodeId => accepted(parseNodeId(text), `A node id is ${NODE_ID_RULE}.`);
export const vmIdArgument = (text: string): VmId => accepted(parseVmId(text), `A VM id is ${NAME_RULE}.`);
export const groupArgument = (text: string): GroupId => accepted(parseGroupId(text), `A group name is ${NAME_RULE}.`);

const prefixArgument = (text: string): string =>
  accepted(
    /^[a-z][a-z0-9-]{0,31}$/.test(text) ? text : null,
    'A prefix is lower-case letters, digits and hyphens, as the setting `prefix` has it.',
  );
export const prefixOption = (): Option =>
  new Option('--prefix <name>', "the deployment's, which begins its names in the account")
    .argParser(prefixArgument)
    .default('holdoff');

const countArgument = (text: string): number =>
  accepted(/^[1-9]\d{0,5}$/.test(text) ? Number(text) : null, 'It must be a whole number from 1 to 999999.');

/** A duration as the API writes it, kept as text for a body. */
export const durationTextArgument = (text: string): string =>
  accepted(parseDuration(text) === null ? null : text, 'A duration is a number with s, m, h or d: 30s, 5m, 24h.');

const timeoutArgument = (text: string): Duration => {
  const length = parseDuration(text);
  return accepted(length !== null && length > 0 ? length : null, 'A duration is a number with s, m, h or d: 30s, 5m.');
};

export const limitOption = (description = 'at most N items; all without it'): Option =>
  new Option('--limit <N>', description).argParser(countArgument);
export const watchOption = (): Option => new Option('--watch', 'redraw every 2 s until Ctrl-C (needs a terminal)');
export const timeoutOption = (): Option =>
  new Option('--timeout <duration>', 'how long to wait for an answer').argParser(timeoutArgument);

/**
 * A list is the default of its noun, so a wrong verb ends up here as an argument too many: say what was meant.
 */
export function refuseArguments(command: Command, noun: string, isId: (text: string) => boolean): void {
  const [first] = command.args;
  if (first === undefined) return;
  const hint =
    command.args.length === 1 && isId(first)
      ? `Did you mean \`holdoff ${noun} show ${first}\`?`
      : `See \`holdoff ${noun} --help\`.`;
  command.error(`error: there is no command '${noun} ${first}'. ${hint}`);
}

/** Adds the options of every event log. */
export const addEventOptions = (command: Command): Command =>
  command
    .addOption(limitOption('the newest N events (default: 100)').conflicts('all'))
    .option('--all', 'the whole log')
    .option('--follow', 'go on with what is added, until Ctrl-C');

/** Options of a verb that can be on many things at once. */
export type ManyOptions = { readonly all?: true; readonly yes?: true };

/** Adds what says which things, beside the filters of the noun. */
export const addManyOptions = (command: Command, noun: string): Command =>
  command.option('--all', `every ${noun}`).option('--yes', 'do not ask: for scripts');

/**
 * Whether a verb is on one thing or on many; ends the parsing when neither or both are said.
 *
 * @param filters of the noun, as they were given
 */
export function oneOrMany(
  command: Command,
  noun: string,
  { id, all, filters }: { id: string | undefined; all: boolean; filters: readonly unknown[] },
): 'one' | 'many' {
  const many = all || filters.some((filter) => filter !== undefined);
  if (id === undefined && !many) command.error(`error: which ${noun}? Name one, or say which with a filter or --all.`);
  if (id !== undefined && many) command.error(`error: ${id} and a filter are both given: name one ${noun}, or many.`);
  return many ? 'many' : 'one';
}
