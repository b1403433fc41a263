/** How the groups of a virtual deployment stand: what is done, under way, and waiting for what (DESIGN section 2b). */
import type { WaitingCode } from '../core/contract/words.ts';
import { DEFAULT_GROUP, type GroupId, type NodeId, parseGroupId } from '../core/kit/ids.ts';
import type { Instant } from '../core/kit/time.ts';
import { offerOf } from '../core/node/offer.ts';
import { waitsFor } from '../core/node/waits-for.ts';
import { loadView } from '../functions/operations/groups.ts';
import type { ControlPlane } from '../functions/ports.ts';
import type { VirtualTable } from './aws/table.ts';
import { peek } from './records.ts';

export type Waiting = Partial<Record<WaitingCode, number>>;
export type Standing = {
  done: number;
  underWay: number;
  /** Which wait for what, of those that have something to take or are asked to wait. */
  waiting: Waiting;
  /** Have a crash on record. */
  crashed: number;
};
export type Row = { at: Instant; groups: Record<string, Standing> };

export const codesOf = (waiting: Waiting): [WaitingCode, number][] =>
  Object.entries(waiting) as [WaitingCode, number][]; // its keys are codes

export const groupNamed = (name: string): GroupId => parseGroupId(name) ?? DEFAULT_GROUP;

/** @param members by group, whom to look at; one that has no record is left out */
export async function standingsOf(
  plane: ControlPlane,
  table: VirtualTable,
  members: ReadonlyMap<string, readonly NodeId[]>,
): Promise<Row> {
  const now = plane.now();
  const groups: Record<string, Standing> = {};
  for (const [name, ids] of members) {
    const nodes = ids.flatMap((id) => peek(table, 'node', id) ?? []);
    const versions = new Set(nodes.map(({ status }) => status?.updateCheck.version));
    const view = await loadView(plane, groupNamed(name), [...versions]);
    const standing: Standing = { done: 0, underWay: 0, waiting: {}, crashed: 0 };
    for (const node of nodes) {
      const [first] = waitsFor(node, view, now);
      if (node.crash.count > 0) standing.crashed += 1;
      if (first !== undefined) standing.waiting[first.code] = (standing.waiting[first.code] ?? 0) + 1;
      else if (node.attempt !== null) standing.underWay += 1;
      else if (offerOf(node).kind === 'upToDate') standing.done += 1;
    }
    groups[name] = standing;
  }
  return { at: now, groups };
}
