/** Nodes, as an operator sees and moves them. */
import { emptyBodySchema, nodeMoveBodySchema } from '../../core/contract/operator-bodies.ts';
import { type GroupId, parseGroupId } from '../../core/kit/ids.ts';
import type { NodeEvent } from '../../core/node/event.ts';
import { describeNode, type GroupSituation } from '../../core/node/describe.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { limitOf } from '../../core/policy/limit.ts';
import { formatInstant } from '../../core/kit/time.ts';
import { loadGroup, viewOf } from '../operations/groups.ts';
import { turnNode } from '../operations/nodes.ts';
import type { ControlPlane } from '../ports.ts';
import { fail, ofRefusal } from './problem.ts';
import { type ApiRequest, bodyOf, encodeCursor, nodeIdOf, operatorOf, pageOf } from './requests.ts';
import type { ApiAnswer, Serve } from './route.ts';

/** What explaining nodes needs to know of their groups, each group read once. */
export function situations(plane: ControlPlane): (group: GroupId) => Promise<GroupSituation> {
  const known = new Map<GroupId, Promise<GroupSituation>>();
  return (group) => {
    const found = known.get(group) ?? situationOf(plane, group);
    known.set(group, found);
    return found;
  };
}

async function situationOf(plane: ControlPlane, group: GroupId): Promise<GroupSituation> {
  const pair = await loadGroup(plane, group);
  const view = viewOf(pair);
  const limit = limitOf(view.policy.concurrency, pair.own.memberCount);
  return {
    paused: view.paused,
    declared: pair.own.body !== null,
    free: limit === null ? null : Math.max(0, limit - Object.keys(pair.own.slots).length),
  };
}

async function shown(plane: ControlPlane, node: NodeRecord): Promise<Record<string, unknown>> {
  return { ...describeNode(node, await situations(plane)(node.group), plane.now()) };
}

async function mustFind(plane: ControlPlane, request: ApiRequest): Promise<NodeRecord> {
  const nodeId = nodeIdOf(request);
  const node = (await plane.store.load('node', nodeId))?.record;
  if (node === undefined || node.removed !== null) {
    throw fail(404, 'NodeNotFound', `there is no node ${nodeId}; a node enrols itself with its first report`);
  }
  return node;
}

export const listNodes: Serve = async (plane, request) => {
  operatorOf(request);
  const { limit, cursor } = pageOf(request, 'nodes');
  const group = groupFilter(request);
  const situation = situations(plane);
  const page = await plane.store.list('node', limit, cursor);
  const loaded = await Promise.all(page.items.map((id) => plane.store.load('node', id)));
  const now = plane.now();
  const items = [];
  for (const found of loaded) {
    if (found === null || found.record.removed !== null || (group !== null && found.record.group !== group)) continue;
    items.push(describeNode(found.record, await situation(found.record.group), now));
  }
  return { status: 200, body: { items, ...encodeCursor(page.cursor, 'nodes') } };
};

function groupFilter({ query }: ApiRequest): GroupId | null {
  const text = query.get('group');
  if (text === null) return null;
  const group = parseGroupId(text);
  if (group === null) throw fail(400, 'InvalidId', 'the group of the query is not a group name');
  return group;
}

export const getNode: Serve = async (plane, request) => {
  operatorOf(request);
  return { status: 200, body: await shown(plane, await mustFind(plane, request)) };
};

export const nodeEvents: Serve = async (plane, request) => {
  operatorOf(request);
  const node = await mustFind(plane, request);
  const items = node.events
    .map((event) => ({ ...event, at: formatInstant(event.at), subject: `node/${node.nodeId}` }))
    .reverse();
  return { status: 200, body: { items } };
};

async function verb(plane: ControlPlane, request: ApiRequest, event: NodeEvent): Promise<ApiAnswer> {
  const nodeId = nodeIdOf(request);
  const result = await turnNode(plane, nodeId, event);
  if (result.kind === 'refused') throw ofRefusal(result.refusal);
  const node = result.record;
  if (node === null) throw fail(404, 'NodeNotFound', `there is no node ${nodeId}`);
  return { status: 202, body: await shown(plane, node) };
}

const plainVerb =
  (eventOf: (by: string) => NodeEvent): Serve =>
  (plane, request) => {
    const by = operatorOf(request);
    nodeIdOf(request);
    bodyOf(request, emptyBodySchema);
    return verb(plane, request, eventOf(by));
  };

export const retryNode = plainVerb(() => ({ kind: 'retry' }));
export const holdNode = plainVerb((by) => ({ kind: 'hold', by }));
export const releaseNode = plainVerb(() => ({ kind: 'release' }));
export const fenceNode = plainVerb((by) => ({ kind: 'fence', by }));
export const deleteNode = plainVerb((by) => ({ kind: 'remove', reason: `removed by ${by}` }));

export const moveNode: Serve = async (plane, request) => {
  operatorOf(request);
  nodeIdOf(request);
  const group = parseGroupId(bodyOf(request, nodeMoveBodySchema).group);
  if (group === null) throw fail(400, 'InvalidBody', 'group is not a group name');
  return verb(plane, request, { kind: 'move', group });
};
