/** Carries a plan out: shown first, asked for, one thing after the other, and what was done is said also half way. */
import { type ApiCall, callOf } from '../../client/request.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { counted, oneLine } from '../../present/text.ts';
import { paint } from '../../present/tone.ts';
import type { Tools } from '../command.ts';
import { CliError, EXIT, type ExitCode, ProblemError } from '../errors.ts';
import type { Change, Field } from './plan.ts';

export type ApplyOptions = { yes?: boolean; dryRun?: boolean; prune?: boolean };

const WORDS = { create: 'is new', change: 'changes', delete: 'is deleted' } as const;
const MARKS = { create: '+', change: '~', delete: '-' } as const;

const value = (given: unknown): string => (given === undefined ? 'not set' : oneLine(JSON.stringify(given)));
const fieldText = ({ path, was, is }: Field, act: Change['act']): string =>
  act === 'create' ? `    ${path}: ${value(is)}` : `    ${path}: ${value(was)} → ${value(is)}`;
const nameOf = ({ kind, id }: Change): string => `${kind === 'vm' ? 'VM' : 'group'} ${id}`;

/** The lines of a plan. */
export function planText(changes: readonly Change[]): string {
  return changes
    .flatMap((change) => [
      `${MARKS[change.act]} ${nameOf(change)} ${WORDS[change.act]}`,
      ...change.fields.map((field) => fieldText(field, change.act)),
    ])
    .join('\n');
}

/** @throws {CliError} Usage: nobody said yes */
export async function apply(tools: Tools, changes: readonly Change[], options: ApplyOptions): Promise<ExitCode> {
  const { io } = tools;
  if (changes.length === 0) return finish(tools, [], [], 'Nothing to change: everything is as it is declared.');
  if (!tools.json) io.out(`${planText(changes)}\n`);
  if (options.dryRun === true)
    return finish(tools, [], changes, `A dry run: ${sayCount(changes)} would change; nothing was.`);
  if (options.yes !== true) await confirm(tools, changes);
  const client = await tools.client();
  const done: Change[] = [];
  for (const change of changes) {
    try {
      if (io.interrupted.aborted) throw new CliError('Interrupted', { what: 'interrupted' });
      await client.send(callFor(change));
      done.push(change);
    } catch (error) {
      if (!(error instanceof CliError || error instanceof ProblemError)) throw error;
      return stopped(tools, { done, at: change, left: changes.slice(done.length + 1), error });
    }
  }
  return finish(tools, done, [], `Applied: ${sayCount(done)}.`);
}

const sayCount = (changes: readonly Change[]): string => counted(changes.length, 'thing');

async function confirm({ io, json }: Tools, changes: readonly Change[]): Promise<void> {
  const what = `apply ${sayCount(changes)}`;
  if (json || !io.canAsk)
    throw new CliError('Usage', {
      what: `${what}: nothing was done`,
      why: 'somebody must say yes, and there is no terminal to ask on',
      next: 'look at it with --dry-run, then add --yes',
    });
  const answer = await io.ask(`\n${what}? [y/N] `);
  if (!/^y(?:es)?$/i.test(answer.trim()))
    throw new CliError('Usage', { what: `${what}: nothing was done`, why: 'the answer was not yes' });
}

function callFor(change: Change): ApiCall {
  const { kind, id } = change;
  if (kind === 'vm') {
    const params = { vmId: id };
    return change.act === 'delete'
      ? callOf(ROUTES.deleteVm, { params })
      : callOf(ROUTES.putVm, { params, body: change.body });
  }
  const params = { group: id };
  return change.act === 'delete'
    ? callOf(ROUTES.deleteGroup, { params })
    : callOf(ROUTES.putGroup, { params, body: change.body });
}

type Stop = { done: readonly Change[]; at: Change; left: readonly Change[]; error: CliError | ProblemError };

function stopped(tools: Tools, { done, at, left, error }: Stop): ExitCode {
  const { io } = tools;
  const names = (changes: readonly Change[]): string =>
    changes.length === 0 ? 'nothing' : changes.map(nameOf).join(', ');
  if (tools.json) {
    printJson(tools, done, [at, ...left], { at: nameOf(at), code: error.code, message: error.message });
    return error.exitCode;
  }
  io.err(
    `${[
      paint(`${nameOf(at)} was refused or failed: ${oneLine(error.message)}`, 'bad', tools.surface()),
      `Done before it: ${names(done)}.`,
      `Not done: ${names([at, ...left])}.`,
      'What was done stays. Mend it and apply the file again: what is as declared is left alone.',
    ].join('\n')}\n`,
  );
  return error.exitCode;
}

function finish(tools: Tools, done: readonly Change[], left: readonly Change[], words: string): ExitCode {
  if (tools.json) printJson(tools, done, left, null);
  else tools.io.out(`${words}\n`);
  return EXIT.ok;
}

function printJson(tools: Tools, done: readonly Change[], left: readonly Change[], error: object | null): void {
  const shown = (changes: readonly Change[]) => changes.map(({ kind, id, act, fields }) => ({ kind, id, act, fields }));
  tools.io.out(`${JSON.stringify({ done: shown(done), notDone: shown(left), error }, null, 2)}\n`);
}
