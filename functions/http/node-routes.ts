/** Nodes, as an operator sees and moves them. */
import type { NodeJson } from '../../core/contract/answers.ts';
import { type GroupId, type NodeId, parseGroupId } from '../../core/kit/ids.ts';
import type { NodeEvent } from '../../core/node/event.ts';
import type { GroupView } from '../../core/group/view.ts';
import { describeNode } from '../../core/node/describe.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { formatInstant } from '../../core/kit/time.ts';
import { loadView } from '../operations/groups.ts';
import { turnNode } from '../operations/nodes.ts';
import type { ControlPlane } from '../ports.ts';
import { loadMany } from '../unreadable.ts';
import { fail, ofRefusal } from './problem.ts';
import type { ApiRequest, Serve } from './handler.ts';
import { encodeCursor, pageOf, sayUnreadable } from './pages.ts';

/** What explaining nodes needs to know of their groups: each group, and the age of each version, read once. */
export function situations(plane: ControlPlane): (node: NodeRecord) => Promise<GroupView> {
  const known = new Map<string, Promise<GroupView>>();
  return ({ group, spec, status }) => {
    const versions = [status?.updateCheck.version, spec.version];
    const key = JSON.stringify([group, ...versions]);
    const found = known.get(key) ?? loadView(plane, group, versions);
    known.set(key, found);
    return found;
  };
}

async function shown(plane: ControlPlane, node: NodeRecord): Promise<NodeJson> {
  return describeNode(node, await situations(plane)(node), plane.now());
}

async function mustFind(plane: ControlPlane, nodeId: NodeId): Promise<NodeRecord> {
  const node = (await plane.store.load('node', nodeId))?.record;
  if (node === undefined || node.removed !== null) {
    throw fail(404, 'NodeNotFound', `there is no node ${nodeId}; a node enrols itself with its first report`);
  }
  return node;
}

export const listNodes: Serve<'listNodes'> = async (plane, request) => {
  const { limit, cursor } = pageOf(request, 'nodes');
  const group = groupFilter(request);
  const situation = situations(plane);
  const { store } = plane;
  const page = await (group === null ? store.list('node', limit, cursor) : store.membersById(group, limit, cursor));
  const { records, unreadable } = await loadMany(plane, 'node', page.items);
  const now = plane.now();
  const items = [];
  for (const node of records) {
    if (node.removed !== null || (group !== null && node.group !== group)) continue;
    items.push(describeNode(node, await situation(node), now));
  }
  return { status: 200, body: { items, ...sayUnreadable(unreadable), ...encodeCursor(page.cursor, 'nodes') } };
};

function groupFilter({ query }: ApiRequest<'listNodes'>): GroupId | null {
  const text = query.get('group');
  if (text === null) return null;
  const group = parseGroupId(text);
  if (group === null) throw fail(400, 'InvalidId', 'the group of the query is not a group name');
  return group;
}

export const getNode: Serve<'getNode'> = async (plane, request) => {
  return { status: 200, body: await shown(plane, await mustFind(plane, request.params.nodeId)) };
};

export const nodeEvents: Serve<'listNodeEvents'> = async (plane, request) => {
  const node = await mustFind(plane, request.params.nodeId);
  const items = node.events
    .map((event) => ({ ...event, at: formatInstant(event.at), subject: `node/${node.nodeId}` }))
    .reverse();
  return { status: 200, body: { items } };
};

type NodeVerb = 'retryNode' | 'releaseNode' | 'fenceNode' | 'deleteNode';

async function verb(plane: ControlPlane, nodeId: NodeId, event: NodeEvent): Promise<{ status: 202; body: NodeJson }> {
  const result = await turnNode(plane, nodeId, event);
  if (result.kind === 'refused') throw ofRefusal(result.refusal);
  const node = result.record;
  if (node === null) throw fail(404, 'NodeNotFound', `there is no node ${nodeId}`);
  return { status: 202, body: await shown(plane, node) };
}

const plainVerb =
  (eventOf: (by: string) => NodeEvent): Serve<NodeVerb> =>
  (plane, { params, caller }) =>
    verb(plane, params.nodeId, eventOf(caller));

export const retryNode = plainVerb(() => ({ kind: 'retry' }));
export const holdNode: Serve<'holdNode'> = (plane, { params, body, caller }) =>
  verb(plane, params.nodeId, { kind: 'hold', by: caller, ...(body.withdraw === true ? { withdraw: true } : {}) });
export const releaseNode = plainVerb(() => ({ kind: 'release' }));
export const fenceNode = plainVerb((by) => ({ kind: 'fence', by }));
export const deleteNode = plainVerb((by) => ({ kind: 'remove', reason: `removed by ${by}` }));

export const moveNode: Serve<'moveNode'> = async (plane, { params, body }) => {
  const group = parseGroupId(body.group);
  if (group === null) throw fail(400, 'InvalidBody', 'group is not a group name');
  return verb(plane, params.nodeId, { kind: 'move', group });
};
