/** What may stand where the cursor is, as the commands themselves say: they are walked, so nothing here can lag behind. */
import type { Argument, Command, Option } from 'commander';
import { NODE_PHASES, PRINTABLE_STATUSES } from '../../core/contract/words.ts';
import { fieldsOf } from '../fields.ts';

/** A word that may stand there, and what it does. */
export type Candidate = { readonly word: string; readonly says?: string };

/** What only the control plane can tell. */
export type Asked = 'nodes' | 'vms' | 'groups';

export type Place = {
  readonly words: readonly Candidate[];
  readonly asked: readonly Asked[];
  /** Names of files, which the shell knows best. */
  readonly files: boolean;
};

/** What the words before the cursor have come to. */
type Walk = {
  readonly command: Command;
  /** Words that are no command and no option: how many. */
  readonly given: number;
  /** An option whose value is still to come. */
  readonly open: Option | null;
};

const NOWHERE: Place = { words: [], asked: [], files: false };
const wordsOf = (words: readonly string[]): Place => ({ ...NOWHERE, words: words.map((word) => ({ word })) });
const asking = (...asked: Asked[]): Place => ({ ...NOWHERE, asked });

/**
 * @param words of the command line behind the program's name, the last of them the one under the cursor
 * @returns all that may stand there, also what does not begin like that word
 */
export function placeOf(program: Command, words: readonly string[]): Place {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const walk = before.reduce<Walk>(step, { command: program, given: 0, open: null });
  if (walk.open !== null) return valuesOf(walk.open, walk.command);
  if (current.startsWith('-')) return optionPlace(walk.command, current);
  const fields = before.at(-1) === '--json' ? fieldPlace(walk.command, current) : NOWHERE;
  const next = nextOf(walk);
  return { ...next, words: [...fields.words, ...next.words] };
}

function step({ command, given, open }: Walk, word: string): Walk {
  if (open !== null) return { command, given, open: null };
  if (word.startsWith('-')) {
    const option = word.includes('=') ? undefined : optionsOf(command).find((one) => isNamed(one, word));
    return { command, given, open: option?.required === true ? option : null };
  }
  const child = command.commands.find((one) => one.name() === word);
  return child === undefined ? { command, given: given + 1, open: null } : { command: child, given: 0, open: null };
}

/** Its own, those of its list when it is a noun alone, and those of the program. */
function optionsOf(command: Command): Option[] {
  const list = command.commands.find((one) => one.name() === 'list');
  const above = command.parent === null ? [] : rootOf(command).options;
  return [...command.options, ...(list?.options ?? []), ...above].filter(({ hidden }) => !hidden);
}

const isNamed = ({ long, short }: Option, word: string): boolean => word === long || word === short;
const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent));

/** `--ph` is an option, `--phase=I` its value. */
function optionPlace(command: Command, current: string): Place {
  const equals = current.indexOf('=');
  if (equals >= 0) {
    const name = current.slice(0, equals);
    const option = optionsOf(command).find((one) => isNamed(one, name));
    if (name === '--json') return withPrefix(fieldPlace(command, current.slice(equals + 1)), `${name}=`);
    return option === undefined ? NOWHERE : withPrefix(valuesOf(option, command), `${name}=`);
  }
  const options = optionsOf(command).flatMap(({ long, description }) =>
    long == null ? [] : [{ word: long, says: description }],
  );
  return { ...NOWHERE, words: [...options, { word: '--help', says: 'how it is used' }] };
}

const withPrefix = (place: Place, prefix: string): Place => ({
  ...place,
  words: place.words.map(({ word, ...rest }) => ({ ...rest, word: prefix + word })),
});

/** The fields of a command's JSON, as a list joined by commas goes on. */
function fieldPlace(command: Command, current: string): Place {
  const done = current.slice(0, current.lastIndexOf(',') + 1);
  return withPrefix(wordsOf(fieldsOf({ name: nameOf(command) }) ?? []), done);
}

const nameOf = (command: Command): string =>
  command.parent === null ? '' : `${nameOf(command.parent)} ${command.name()}`.trim();

/** `group` of `--group <group>`. */
const valueName = ({ flags }: Option): string => /[<[]([\w-]+)/.exec(flags)?.[1] ?? '';

function valuesOf(option: Option, command: Command): Place {
  if (option.argChoices !== undefined) return wordsOf(option.argChoices);
  switch (valueName(option)) {
    case 'group':
      return asking('groups');
    case 'node':
      return asking('nodes');
    case 'file':
      return { ...NOWHERE, files: true };
    case 'condition':
      return wordsOf([...conditionsOf(command), 'deleted']);
    default:
      return NOWHERE;
  }
}

/** What people wait for. */
const conditionsOf = (command: Command): string[] =>
  command.parent?.name() === 'vms'
    ? PRINTABLE_STATUSES.map((status) => `printableStatus=${status}`)
    : NODE_PHASES.map((phase) => `phase=${phase}`);

/** Commands, or the next argument of one. */
function nextOf({ command, given }: Walk): Place {
  const commands = command.createHelp().visibleCommands(command);
  const words =
    given > 0 ? [] : commands.map((one) => ({ word: one.name(), says: one.summary() || one.description() }));
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[given] ?? (last?.variadic === true ? last : undefined);
  const own = argument === undefined ? NOWHERE : argumentPlace(argument, command);
  return { ...own, words: [...words, ...own.words] };
}

function argumentPlace(argument: Argument, command: Command): Place {
  if (argument.argChoices !== undefined) return wordsOf(argument.argChoices);
  if (/^files?$/.test(argument.name())) return { ...NOWHERE, files: true };
  const noun = command.parent?.name();
  if (noun === 'nodes' || noun === 'vms' || noun === 'groups') return asking(noun);
  return command.name() === 'explain' ? asking('nodes', 'vms', 'groups') : NOWHERE;
}
