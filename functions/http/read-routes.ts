/** The event log, the summary, and the API's own description. */
import type { Attention } from '../../core/contract/answer-parts.ts';
import { groupAttention, type Troubled } from '../../core/fleet/attention.ts';
import { describeGroup } from '../../core/group/describe.ts';
import { describeNode } from '../../core/node/describe.ts';
import { sayUnexpected } from '../../core/node/host-word.ts';
import { describeVm } from '../../core/vm/describe.ts';
import { loadGroup } from '../operations/groups.ts';
import type { AggregateKind, ControlPlane, Ids, Records } from '../ports.ts';
import { situations } from './node-routes.ts';
import type { Serve } from './handler.ts';
import { encodeCursor, pageOf } from './pages.ts';

export const readEvents: Serve<'listEvents'> = async (plane, request, log) => {
  const { limit, cursor } = pageOf(request, 'events');
  const page = await log.read(limit, cursor, plane.now());
  return { status: 200, body: { items: page.items, ...encodeCursor(page.cursor, 'events') } };
};

async function* all<K extends AggregateKind>(plane: ControlPlane, kind: K): AsyncGenerator<Records[K]> {
  let cursor: string | null = null;
  do {
    const page: { items: Ids[K][]; cursor: string | null } = await plane.store.list(kind, 200, cursor);
    for (const loaded of await Promise.all(page.items.map((id) => plane.store.load(kind, id))))
      if (loaded !== null) yield loaded.record;
    ({ cursor } = page);
  } while (cursor !== null);
}

const NOBODY = { total: 0, by: {} as Record<string, number> };

const countIn = ({ total, by }: typeof NOBODY, word: string): typeof NOBODY => ({
  total: total + 1,
  by: { ...by, [word]: (by[word] ?? 0) + 1 },
});

export const summary: Serve<'getSummary'> = async (plane) => {
  const now = plane.now();
  const situation = situations(plane);
  let nodes = NOBODY;
  let vms = NOBODY;
  const troubled: Troubled[] = [];
  const sentences = new Map<string, string>();
  const note = (item: Omit<Troubled, keyof Attention>, attention: Attention | undefined, words: string): void => {
    if (attention === undefined) return;
    troubled.push({ ...item, ...attention });
    sentences.set(`${item.kind}/${item.id}`, words);
  };
  for await (const node of all(plane, 'node')) {
    if (node.removed !== null) continue;
    const shown = describeNode(node, await situation(node), now);
    nodes = countIn(nodes, shown.phase);
    const unexpected = sayUnexpected(node);
    const words = [`${shown.phase}: ${shown.explanation}`, ...(unexpected === null ? [] : [unexpected])].join(' ');
    note({ kind: 'node', id: node.nodeId, place: node.group }, shown.attention, words);
  }
  for await (const vm of all(plane, 'vm')) {
    if (vm.removed !== null) continue;
    const shown = describeVm(vm, now);
    vms = countIn(vms, shown.printableStatus);
    const words = `${shown.printableStatus}: ${shown.explanation}`;
    note({ kind: 'vm', id: vm.vmId, place: shown.hostId }, shown.attention, words);
  }
  for await (const { group } of all(plane, 'group')) {
    const { own, fallback } = await loadGroup(plane, group);
    const shown = describeGroup(own, fallback, now);
    note({ kind: 'group', id: group, place: group }, shown.attention, shown.explanation);
  }
  const attention = groupAttention(troubled).map((entry) => ({
    ...entry,
    why: (entry.count === 1 ? sentences.get(`${entry.kind}/${entry.id}`) : undefined) ?? entry.why,
  }));
  const body = {
    nodes: { total: nodes.total, byPhase: nodes.by },
    vms: { total: vms.total, byStatus: vms.by },
    attention,
  };
  return { status: 200, body };
};
