/** The event log, the summary, and the API's own description. */
import type { Summary } from '../../core/contract/answers.ts';
import { describeNode } from '../../core/node/describe.ts';
import { sayUnexpected } from '../../core/node/host-word.ts';
import { describeVm, sayAttention, vmAttention } from '../../core/vm/describe.ts';
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

/** How many things that need attention are named; the counts are always complete. */
const ATTENTION_MAX = 50;
const WORST_FIRST: readonly string[] = [
  'Unreachable',
  'CrashLoopBackOff',
  'Terminating',
  'Unknown',
  'Recovering',
  'BackingOff',
  'Failed',
  'Held',
];

export const summary: Serve<'getSummary'> = async (plane) => {
  const now = plane.now();
  const situation = situations(plane);
  const result: Summary = {
    nodes: { total: 0, byPhase: {} },
    vms: { total: 0, byStatus: {} },
    attention: [],
  };
  const found: { rank: number; entry: Summary['attention'][number] }[] = [];
  for await (const node of all(plane, 'node')) {
    if (node.removed !== null) continue;
    const shown = describeNode(node, await situation(node), now);
    result.nodes.total += 1;
    result.nodes.byPhase[shown.phase] = (result.nodes.byPhase[shown.phase] ?? 0) + 1;
    const rank = WORST_FIRST.indexOf(shown.phase);
    const troubled = rank >= 0 || node.silentSince !== null || shown.status?.updateCheck.result === 'Failed';
    const unexpected = sayUnexpected(node);
    if (!troubled && unexpected !== null)
      found.push({ rank: 9, entry: { kind: 'node', id: node.nodeId, why: unexpected } });
    if (troubled)
      found.push({
        rank: rank < 0 ? 9 : rank,
        entry: { kind: 'node', id: node.nodeId, why: `${shown.phase}: ${shown.explanation}` },
      });
  }
  for await (const vm of all(plane, 'vm')) {
    if (vm.removed !== null) continue;
    const shown = describeVm(vm, now);
    result.vms.total += 1;
    result.vms.byStatus[shown.printableStatus] = (result.vms.byStatus[shown.printableStatus] ?? 0) + 1;
    const rank = WORST_FIRST.indexOf(shown.printableStatus);
    if (rank < 0 && vmAttention(vm) !== null)
      found.push({
        rank: 9,
        entry: { kind: 'vm', id: vm.vmId, why: `${shown.printableStatus}: ${sayAttention(vm, shown.explanation)}` },
      });
    if (rank >= 0)
      found.push({ rank, entry: { kind: 'vm', id: vm.vmId, why: `${shown.printableStatus}: ${shown.explanation}` } });
  }
  for await (const group of all(plane, 'group')) {
    if (group.pausedBy === null) continue;
    const { own } = await loadGroup(plane, group.group);
    found.push({
      rank: 8,
      entry: {
        kind: 'group',
        id: own.group,
        why: `paused by ${own.pausedBy ?? 'nobody'}: nothing starts until it is resumed`,
      },
    });
  }
  result.attention = found
    .sort((a, b) => a.rank - b.rank)
    .slice(0, ATTENTION_MAX)
    .map(({ entry }) => entry);
  return { status: 200, body: result };
};
