/** `holdoff explain ID`: the story of one thing, whatever it is. */
import { InvalidArgumentError } from 'commander';
import { callOf } from '../../client/request.ts';
import type { EventEntry } from '../../core/contract/answers.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { NAME_RULE, parseNodeId, parseVmId } from '../../core/kit/ids.ts';
import { type AggregateKind, parseRef, type Ref } from '../../core/kit/ref.ts';
import { type Explained, STORY_ROWS, storyOf, storyPage, storyRows } from '../../present/explain.ts';
import { readAnswer, readList } from '../answers.ts';
import type { Client } from '../client.ts';
import type { CommandModule, Invocation, Noun, Tools } from '../command.ts';
import { CliError, EXIT, type ExitCode, ProblemError } from '../errors.ts';
import { print } from '../output.ts';

const HELP = `
A node, a VM or a group. Where a VM and a group have one name: vm/NAME or group/NAME.

Examples:
  holdoff explain i-0123456789abcdef0     why is it not updating
  holdoff explain web                     why does it not run
  holdoff explain group/web               what holds the rollout

Rows in a pipe:
  ${STORY_ROWS}`;

/** Adds the command. */
export const explainCommand: CommandModule = (program, accept) => {
  program
    .command('explain')
    .description('the story of a node, VM or group: what happened, why, what next and when')
    .argument('<id>', 'node id, VM id, group name; or node/ID, vm/ID, group/NAME', thingArgument)
    .addHelpText('after', HELP)
    .action((refs: readonly Ref[]) => {
      const subject = subjectOf(refs);
      accept({
        name: 'explain',
        ...(subject === undefined ? {} : { subject }),
        options: {},
        run: (t) => explain(t, refs),
      });
    });
};

const NOUNS: Record<AggregateKind, Noun> = { node: 'nodes', vm: 'vms', group: 'groups' };

/** Only where there is one thing that it can be: advice names its noun. */
function subjectOf([first, ...others]: readonly Ref[]): Invocation['subject'] {
  return first === undefined || others.length > 0 ? undefined : { noun: NOUNS[first.kind], id: first.id };
}

/** What an argument can name: one thing with its kind before it, a node by the form of its id, else a VM or a group. */
function thingArgument(text: string): readonly Ref[] {
  const [, kind = '', id = ''] = /^([a-z]+)\/(.*)$/.exec(text) ?? [];
  const named = parseRef(kind, id);
  if (named !== null) return [named];
  const node = parseNodeId(text);
  if (node !== null) return [{ kind: 'node', id: node }];
  if (parseVmId(text) === null)
    throw new InvalidArgumentError(
      `It is a node id, a VM id or a group name (${NAME_RULE}), or node/ID, vm/ID, group/NAME.`,
    );
  return (['vm', 'group'] as const).flatMap((either) => parseRef(either, text) ?? []);
}

async function explain(tools: Tools, refs: readonly Ref[]): Promise<ExitCode> {
  const client = await tools.client();
  const found = await findThing(client, refs);
  const story = storyOf(found, await readLog(client, found));
  const { tone: _tone, ...json } = story;
  print(tools, { json, screen: () => storyPage(story, tools.surface()), piped: () => storyRows(story) });
  return EXIT.ok;
}

/** @throws {CliError} Usage where two things have the name; ProblemError 404 where none has */
async function findThing(client: Client, refs: readonly Ref[]): Promise<Explained> {
  const tries = await Promise.all(refs.map((ref) => readThing(client, ref)));
  const found = tries.filter((one): one is Explained => !(one instanceof ProblemError));
  const [first, second] = found;
  if (first === undefined) throw tries.find((one) => one instanceof ProblemError) ?? new Error('nothing was asked for');
  // A group of a name that nobody declared is answered too when nodes say that they are in it.
  if (second === undefined) return first;
  const id = refs[0]?.id ?? '';
  throw new CliError('Usage', {
    what: `${id} is a VM and a group`,
    why: 'both are there',
    next: `holdoff explain vm/${id}, or holdoff explain group/${id}`,
  });
}

async function readThing(client: Client, ref: Ref): Promise<Explained | ProblemError> {
  try {
    switch (ref.kind) {
      case 'node': {
        const { body } = await client.send(callOf(ROUTES.getNode, { params: { nodeId: ref.id } }));
        return { kind: 'node', thing: readAnswer('node', body) };
      }
      case 'vm': {
        const { body } = await client.send(callOf(ROUTES.getVm, { params: { vmId: ref.id } }));
        return { kind: 'vm', thing: readAnswer('vm', body) };
      }
      case 'group': {
        const { body } = await client.send(callOf(ROUTES.getGroup, { params: { group: ref.id } }));
        return { kind: 'group', thing: readAnswer('group', body) };
      }
    }
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status === 404) return error;
    throw error;
  }
}

/** Of the fleet's log, as many as one page holds: what a group has of its own is not kept apart. */
const FLEET_EVENTS = 100;

async function readLog(client: Client, { kind, thing }: Explained): Promise<EventEntry[]> {
  switch (kind) {
    case 'node':
      return (
        await readList(client, 'event', () => callOf(ROUTES.listNodeEvents, { params: { nodeId: thing.nodeId } }))
      ).items;
    case 'vm':
      return (await readList(client, 'event', () => callOf(ROUTES.listVmEvents, { params: { vmId: thing.vmId } })))
        .items;
    case 'group':
      return (
        await readList(client, 'event', (query) => callOf(ROUTES.listEvents, { query }), { limit: FLEET_EVENTS })
      ).items.filter(({ subject }) => subject === `group/${thing.group}`);
  }
}
