/** `holdoff nodes …` */
import type { Command } from 'commander';
import { type ApiCall, callOf } from '../../client/request.ts';
import type { NodeJson } from '../../core/contract/answers.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { parseNodeId, type NodeId } from '../../core/kit/ids.ts';
import { NODE_ROW, nodeFields, nodeRows, nodesByAttention, nodeTable } from '../../present/nodes.ts';
import { readAnswer, readList, type Listed, type PageCall } from '../answers.ts';
import type { CommandModule, Tools } from '../command.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { printEvents, type EventOptions } from '../event-log.ts';
import {
  addEventOptions,
  addManyOptions,
  groupArgument,
  limitOption,
  type ManyOptions,
  nodeIdArgument,
  oneOrMany,
  refuseArguments,
  watchOption,
} from '../options.ts';
import { print } from '../output.ts';
import { acceptedLine, acceptedRow, changedNode } from '../../present/accepted.ts';
import { show } from '../show.ts';
import { addWaitOptions, waitFor, type WaitOptions } from '../wait.ts';
import { watch } from '../watch.ts';
import { addNodeFilter, filtersOfNodes, type NodeFilter, nodeMatches, onManyNodes, sayNoNode } from './node-filter.ts';

type ListOptions = NodeFilter & { readonly limit?: number; readonly watch?: boolean };

const read = (nodeId: NodeId): ApiCall => callOf(ROUTES.getNode, { params: { nodeId } });
const eventsOf =
  (nodeId: NodeId): PageCall =>
  () =>
    callOf(ROUTES.listNodeEvents, { params: { nodeId } });

type Verb = {
  readonly verb: Exclude<keyof NodeJson['can'], 'move'>;
  readonly says: string;
  readonly callFor: (nodeId: string, options: { withdraw?: true }) => ApiCall;
};

/** The verbs that can be on one node, or on many. */
const VERBS: readonly Verb[] = [
  {
    verb: 'retry',
    says: 'try a crashed node again now; its crash count stays',
    callFor: (nodeId) => callOf(ROUTES.retryNode, { params: { nodeId }, body: {} }),
  },
  {
    verb: 'hold',
    says: 'start nothing new on a node, and keep it from its disruptive step',
    callFor: (nodeId, { withdraw }) =>
      callOf(ROUTES.holdNode, { params: { nodeId }, body: withdraw === true ? { withdraw } : {} }),
  },
  {
    verb: 'release',
    says: 'end a hold',
    callFor: (nodeId) => callOf(ROUTES.releaseNode, { params: { nodeId }, body: {} }),
  },
  {
    verb: 'fence',
    says: 'vouch that a host is off, so that its VMs may be started elsewhere',
    callFor: (nodeId) => callOf(ROUTES.fenceNode, { params: { nodeId }, body: {} }),
  },
  {
    verb: 'delete',
    says: 'forget a node; a later report of it enrols it again',
    callFor: (nodeId) => callOf(ROUTES.deleteNode, { params: { nodeId } }),
  },
];

const HELP = `
\`holdoff nodes\` takes the options of list: --group G, --phase P, --waiting-for CODE, --version V, --limit N, --watch.

Examples:
  holdoff nodes                          the fleet, what needs attention first
  holdoff nodes --group canary --watch   one group, redrawn every 2 s
  holdoff nodes show i-0123456789abcdef0 every field, why it is there, its last events
  holdoff nodes retry i-0123456789abcdef0
  holdoff nodes retry --group web --waiting-for GaveUp   many: the list first, then a question
  holdoff nodes wait i-0123456789abcdef0 --for phase=Idle --within 30m
  holdoff nodes | cut -f1,3              in a pipe: tab-separated, no titles

Columns in a pipe:
  ${NODE_ROW}`;

/** Adds the commands about nodes. */
export const nodeCommands: CommandModule = (program, accept) => {
  const nodes = program.command('nodes').summary('the nodes: list, show, retry, hold, move …');
  nodes.description('The nodes of the fleet.').addHelpText('after', HELP);
  addNodeFilter(nodes.command('list', { isDefault: true }).description('list nodes (`holdoff nodes` is the same)'))
    .addOption(limitOption())
    .addOption(watchOption())
    .allowExcessArguments()
    .action((options: ListOptions, command: Command) => {
      refuseArguments(command, 'nodes', (text) => parseNodeId(text) !== null);
      accept({ name: 'nodes', options, run: (tools) => list(tools, options) });
    });
  nodes
    .command('show')
    .description('every field of a node, its explanation first, and its last events')
    .argument('<id>', 'node id', nodeIdArgument)
    .action((id: NodeId) => {
      accept({ name: 'nodes show', subject: { noun: 'nodes', id }, options: {}, run: (tools) => showNode(tools, id) });
    });
  addEventOptions(
    nodes.command('events').description('the event log of a node').argument('<id>', 'node id', nodeIdArgument),
  ).action((id: NodeId, options: EventOptions) => {
    const run = (tools: Tools): Promise<ExitCode> => printEvents(tools, eventsOf(id), options);
    accept({ name: 'nodes events', subject: { noun: 'nodes', id }, options, run });
  });
  for (const verb of VERBS) addVerb(nodes, accept, verb);
  addWaitOptions(
    nodes.command('wait').description('wait until a node is as asked').argument('<id>', 'node id', nodeIdArgument),
  ).action((id: NodeId, options: WaitOptions) => {
    const run = (tools: Tools): Promise<ExitCode> => waitFor(tools, id, read(id), options);
    accept({ name: 'nodes wait', subject: { noun: 'nodes', id }, options, run });
  });
  nodes
    .command('move')
    .description('put a node under the policy of another group')
    .argument('<id>', 'node id', nodeIdArgument)
    .requiredOption('--group <group>', 'the group it joins', groupArgument)
    .action((id: NodeId, options: { group: string }) => {
      const run = (tools: Tools): Promise<ExitCode> =>
        send(tools, 'move', callOf(ROUTES.moveNode, { params: { nodeId: id }, body: { group: options.group } }));
      accept({ name: 'nodes move', subject: { noun: 'nodes', id }, options, run });
    });
};

type VerbOptions = NodeFilter & ManyOptions & { readonly withdraw?: true };

/** One node by its id, or those that pass a filter. */
function addVerb(nodes: Command, accept: Parameters<CommandModule>[1], { verb, says, callFor }: Verb): void {
  const command = nodes.command(verb).description(says).argument('[id]', 'node id', nodeIdArgument);
  if (verb === 'hold') command.option('--withdraw', 'also give up what is staged or activated');
  addManyOptions(addNodeFilter(command), 'node').action((id: NodeId | undefined, options: VerbOptions) => {
    const name = `nodes ${verb}`;
    const filters = filtersOfNodes(options);
    if (oneOrMany(command, 'node', { id, all: options.all === true, filters }) === 'many' || id === undefined) {
      const call = (nodeId: string): ApiCall => callFor(nodeId, options);
      const run = (tools: Tools): Promise<ExitCode> =>
        onManyNodes(tools, options, { verb, call, yes: options.yes === true });
      return accept({ name, many: true, options, run });
    }
    const run = (tools: Tools): Promise<ExitCode> =>
      verb === 'delete' ? deleteNode(tools, id) : send(tools, verb, callFor(id, options));
    accept({ name, subject: { noun: 'nodes', id }, options, run });
  });
}

async function list(tools: Tools, options: ListOptions): Promise<ExitCode> {
  const client = await tools.client();
  const ask = (): Promise<Listed<NodeJson>> =>
    readList(client, 'node', (query) => callOf(ROUTES.listNodes, { query }), {
      ...(options.limit === undefined ? {} : { limit: options.limit }),
      keep: (node) => nodeMatches(node, options),
    });
  const screen = (nodes: readonly NodeJson[], fit: 'cut' | 'wrap'): string =>
    nodes.length === 0 ? sayNoNode(options) : nodeTable(nodesByAttention(nodes), tools.surface(fit));
  if (options.watch === true) return watch(tools, 'Nodes', async () => screen((await ask()).items, 'cut'));
  const answer = await ask();
  print(tools, {
    json: answer,
    screen: () => screen(answer.items, 'wrap'),
    piped: () => nodeRows(answer.items),
  });
  return EXIT.ok;
}

async function showNode(tools: Tools, id: NodeId): Promise<ExitCode> {
  const { body } = await (await tools.client()).send(read(id));
  const node = readAnswer('node', body);
  return show(tools, { json: body, fields: (when) => nodeFields(node, when), events: eventsOf(id) });
}

async function send(tools: Tools, verb: string, call: ApiCall): Promise<ExitCode> {
  const { body } = await (await tools.client()).send(call);
  const changed = changedNode(readAnswer('node', body));
  print(tools, {
    json: body,
    screen: () => acceptedLine(`${verb} accepted`, changed, tools.surface()),
    piped: () => acceptedRow(changed),
  });
  return EXIT.ok;
}

async function deleteNode(tools: Tools, id: NodeId): Promise<ExitCode> {
  const { body } = await (await tools.client()).send(callOf(ROUTES.deleteNode, { params: { nodeId: id } }));
  print(tools, {
    json: body,
    screen: () => `delete accepted: ${id} is forgotten until it reports again.`,
    piped: () => `${id}\tdeleted`,
  });
  return EXIT.ok;
}
