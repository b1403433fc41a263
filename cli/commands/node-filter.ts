/** Which nodes: the filters of the list, and of the verbs on many. */
import { type Command, Option } from 'commander';
import { type ApiCall, callOf } from '../../client/request.ts';
import type { NodeJson } from '../../core/contract/answers.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { type NodePhase, NODE_PHASES, type WaitingCode, WAITING_CODES } from '../../core/contract/words.ts';
import { nodesByAttention, nodeTable } from '../../present/nodes.ts';
import { readList } from '../answers.ts';
import type { Tools } from '../command.ts';
import type { ExitCode } from '../errors.ts';
import { onMany } from '../many.ts';
import { groupArgument } from '../options.ts';

export type NodeFilter = {
  readonly group?: string;
  readonly phase?: NodePhase;
  readonly version?: string;
  readonly waitingFor?: WaitingCode;
};

export const addNodeFilter = (command: Command): Command =>
  command
    .option('--group <group>', 'only nodes of this group', groupArgument)
    .addOption(new Option('--phase <phase>', 'only nodes in this phase').choices(NODE_PHASES))
    .addOption(new Option('--waiting-for <code>', 'only nodes that wait for this first').choices(WAITING_CODES))
    .option('--version <version>', 'only nodes that run this version');

export const filtersOfNodes = ({ group, phase, version, waitingFor }: NodeFilter): readonly unknown[] => [
  group,
  phase,
  version,
  waitingFor,
];

export const nodeMatches = (node: NodeJson, { group, phase, version, waitingFor }: NodeFilter): boolean =>
  (group === undefined || node.group === group) &&
  (phase === undefined || node.phase === phase) &&
  (waitingFor === undefined || node.waitingFor?.code === waitingFor) &&
  (version === undefined || node.status?.currentVersion === version);

/** What the screen says when no node passes. */
export function sayNoNode({ group, phase, version, waitingFor }: NodeFilter): string {
  if (phase !== undefined || version !== undefined || waitingFor !== undefined)
    return 'No node is like that. `holdoff nodes` lists them all.';
  return group === undefined
    ? 'No nodes yet. A node is listed from the first report of its agent.'
    : `No nodes in group ${group}. \`holdoff groups\` lists the groups.`;
}

/** Asks for the list, and puts the verb to each node that passes. */
export async function onManyNodes(
  tools: Tools,
  filter: NodeFilter,
  given: { verb: keyof NodeJson['can']; call: (nodeId: string) => ApiCall; yes: boolean },
): Promise<ExitCode> {
  const { items } = await readList(await tools.client(), 'node', (query) => callOf(ROUTES.listNodes, { query }), {
    keep: (node) => nodeMatches(node, filter),
  });
  const nodes = nodesByAttention(items);
  const targets = nodes.map(({ nodeId, can }) => ({ id: nodeId, refused: can?.[given.verb] ?? null }));
  const list = (): string => nodeTable(nodes, tools.surface('cut'));
  return onMany(tools, { noun: 'nodes', verb: given.verb, targets, list, call: given.call }, given.yes);
}
