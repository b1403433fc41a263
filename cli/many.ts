/** A verb on many things: the list first, a question on a terminal, progress, and what became of each. */
import type { ApiCall } from '../client/request.ts';
import type { Why } from '../core/contract/can.ts';
import { separated } from '../present/table.ts';
import { counted, oneLine } from '../present/text.ts';
import { paint } from '../present/tone.ts';
import type { Noun, Tools } from './command.ts';
import { CliError, EXIT, type ExitCode, ProblemError } from './errors.ts';
import { print } from './output.ts';

const SINGULAR: Record<Noun, string> = { nodes: 'node', vms: 'VM', groups: 'group' };
/** Requests under way at once: enough for a thousand things, too few to be throttled. */
const AT_ONCE = 4;

/** One of the things; `refused`: what `can` says against the verb, null where nothing. */
export type Target = { readonly id: string; readonly refused: Why | null };

export type Many = {
  readonly noun: Noun;
  readonly verb: string;
  readonly targets: readonly Target[];
  /** The things as their list shows them. */
  readonly list: () => string;
  readonly call: (id: string) => ApiCall;
};

type Outcome = { readonly id: string; readonly accepted: boolean; readonly why: string | null };

/** Exit code 0 when every one was accepted; 1 when one was refused or failed. @throws {CliError} Usage, Interrupted */
export async function onMany(tools: Tools, many: Many, yes: boolean): Promise<ExitCode> {
  const { io } = tools;
  if (many.targets.length === 0) {
    if (tools.json) printOutcomes(tools, many, []);
    else io.err(`No ${SINGULAR[many.noun]} is like that: nothing to ${many.verb}.\n`);
    return EXIT.ok;
  }
  const what = `${many.verb} ${counted(many.targets.length, SINGULAR[many.noun])}`;
  if (!yes) await confirm(tools, many, what);
  const outcomes = await askEach(tools, many);
  printOutcomes(tools, many, outcomes);
  const failed = outcomes.filter(({ accepted }) => !accepted).length;
  if (io.interrupted.aborted) throw new CliError('Interrupted', { what: `interrupted; ${failed} were not done` });
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

async function confirm(tools: Tools, many: Many, what: string): Promise<void> {
  const { io } = tools;
  if (tools.json || !io.canAsk) {
    throw new CliError('Usage', {
      what: `${what}: nothing was done`,
      why: 'somebody must say yes, and there is no terminal to ask on',
      next: `see which they are with \`holdoff ${many.noun}\` and the same filter, then add --yes`,
    });
  }
  io.err(`${many.list()}\n\n`);
  const answer = await io.ask(`${what}? [y/N] `);
  if (/^y(?:es)?$/i.test(answer.trim())) return;
  throw new CliError('Usage', { what: `${what}: nothing was done`, why: 'the answer was not yes' });
}

/** In the order given, some at once. Once the control plane cannot be reached, or on Ctrl-C, the rest is not asked. */
async function askEach(tools: Tools, { targets, call, verb }: Many): Promise<Outcome[]> {
  const client = await tools.client();
  const outcomes = new Map<string, Outcome>();
  let away: string | null = null;
  const ask = async ({ id, refused }: Target): Promise<Outcome> => {
    if (refused !== null) return { id, accepted: false, why: refused.detail };
    if (away !== null) return { id, accepted: false, why: `not asked: ${away}` };
    try {
      await client.send(call(id));
      return { id, accepted: true, why: null };
    } catch (error) {
      if (!(error instanceof CliError || error instanceof ProblemError)) throw error;
      if (error.exitCode === EXIT.unreachable || error.exitCode === EXIT.interrupted) away = error.message;
      return { id, accepted: false, why: error.message };
    }
  };
  const queue = [...targets];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      outcomes.set(next.id, await ask(next));
      if (tools.io.isTty && !tools.json)
        tools.io.err(`\r${verb}: ${outcomes.size} of ${targets.length}${outcomes.size === targets.length ? '\n' : ''}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return targets.flatMap(({ id }) => outcomes.get(id) ?? []);
}

/** A terminal is told the count and what failed; a pipe and `--json` are told of each. */
function printOutcomes(tools: Tools, { noun, verb }: Many, outcomes: readonly Outcome[]): void {
  const failed = outcomes.filter(({ accepted }) => !accepted);
  const screen = tools.surface();
  const done = outcomes.length - failed.length;
  print(tools, {
    json: { items: outcomes },
    piped: () => separated(outcomes.map(({ id, accepted, why }) => [id, accepted ? 'accepted' : 'failed', why ?? ''])),
    screen: () =>
      [
        `${verb} accepted: ${counted(done, SINGULAR[noun])}.`,
        ...(failed.length === 0 ? [] : [paint(`Not done: ${counted(failed.length, SINGULAR[noun])}.`, 'bad', screen)]),
        ...failed.map(({ id, why }) => `  ${id}: ${oneLine(why ?? '')}`),
      ].join('\n'),
  });
}
