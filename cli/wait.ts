/** Waits until a thing is as asked, for scripts: the exit code says how it ended. */
import { InvalidArgumentError, type Command } from 'commander';
import { between, type Duration, minutes, parseDuration, sayDuration } from '../core/kit/time.ts';
import type { ApiCall } from '../client/request.ts';
import { oneLine } from '../present/text.ts';
import type { Tools } from './command.ts';
import { CliError, EXIT, type ExitCode, ProblemError } from './errors.ts';
import { print } from './output.ts';
import { valueAt } from './path.ts';

/** A dotted path into the API's JSON, and what must be there; or that the thing is gone. */
export type Condition = { readonly path: string; readonly value: string } | 'deleted';
export type WaitOptions = { readonly for: readonly Condition[]; readonly within?: Duration };

const ASK_EVERY_MS = 2000;
const WITHIN: Duration = minutes(30);

/** Adds the options of every `wait`. */
export const addWaitOptions = (command: Command): Command =>
  command
    .requiredOption(
      '--for <condition>',
      'PATH=VALUE of its JSON, or deleted; more than one: all of them',
      condition,
      [],
    )
    .option('--within <duration>', 'how long to wait (default: 30m); then the exit code is 5', within);

function condition(text: string, before: readonly Condition[]): readonly Condition[] {
  if (text === 'deleted') return [...before, 'deleted'];
  const [, path, value] = /^([\w.]+)=(.*)$/.exec(text) ?? [];
  if (path === undefined || value === undefined)
    throw new InvalidArgumentError('It is PATH=VALUE, such as phase=Idle or instance.phase=Running, or deleted.');
  return [...before, { path, value }];
}

function within(text: string): Duration {
  const length = parseDuration(text);
  if (length === null || length <= 0)
    throw new InvalidArgumentError('A duration is a number with s, m, h or d: 90s, 30m.');
  return length;
}

/**
 * Asks every 2 s. A control plane that is away for a while is asked again; a thing that is not there ends the wait,
 * unless that is what is waited for.
 *
 * @param call that reads the thing
 */
export async function waitFor(tools: Tools, id: string, call: ApiCall, options: WaitOptions): Promise<ExitCode> {
  const { io } = tools;
  const begun = io.now();
  const patience = options.within ?? WITHIN;
  let said = '';
  for (;;) {
    const seen = await look(tools, call, options.for.includes('deleted'));
    if (seen.kind === 'seen' && options.for.every((one) => holds(one, seen.body))) return reached(tools, id, seen.body);
    const why = seen.kind === 'away' ? seen.why : sayWhy(seen.body);
    if (why !== said && !tools.json) io.err(`${oneLine(why)}\n`);
    said = why;
    if (io.interrupted.aborted) throw new CliError('Interrupted', { what: 'interrupted' });
    if (between(begun, io.now()) >= patience) {
      throw new CliError('NotInTime', {
        what: `${id} is not as asked after ${sayDuration(patience)}`,
        why,
        next: 'wait longer with --within, or see what holds it: its explanation is above',
      });
    }
    await io.sleep(ASK_EVERY_MS);
  }
}

type Seen = { kind: 'seen'; body: unknown } | { kind: 'away'; why: string };

async function look(tools: Tools, call: ApiCall, mayBeGone: boolean): Promise<Seen> {
  try {
    return { kind: 'seen', body: (await (await tools.client()).send(call)).body };
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status === 404 && mayBeGone) return { kind: 'seen', body: null };
    if (error instanceof ProblemError && error.problem.status >= 500) return { kind: 'away', why: error.message };
    if (error instanceof CliError && AWAY.includes(error.code)) return { kind: 'away', why: error.message };
    throw error;
  }
}

const AWAY: readonly string[] = ['Unreachable', 'TimedOut'];

const holds = (wanted: Condition, body: unknown): boolean =>
  wanted === 'deleted' ? body === null : textAt(body, wanted.path) === wanted.value;

/** A path that leads nowhere is null, as a field that is not set. */
function textAt(body: unknown, path: string): string {
  const found = valueAt(body, path);
  return typeof found === 'string' ? found : JSON.stringify(found ?? null);
}

const sayWhy = (body: unknown): string => {
  const why = textAt(body, 'explanation');
  return why === 'null' ? 'it is still there' : why;
};

function reached(tools: Tools, id: string, body: unknown): ExitCode {
  const how = body === null ? 'is gone' : 'is as asked';
  print(tools, { json: body ?? { deleted: true }, screen: () => `${id} ${how}.`, piped: () => `${id}\t${how}` });
  return EXIT.ok;
}
