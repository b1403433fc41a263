/** A scenario's rollout by the hour (DESIGN section 9). */
import { type NodeId, parseNodeId } from '../../core/kit/ids.ts';
import { formatInstant, type Instant } from '../../core/kit/time.ts';
import { type Row, standingsOf } from '../standing.ts';
import type { World } from './world.ts';

/** How the groups stood at each full hour from start, `at` in seconds from it. */
export type Hours = { at: number; time: string; groups: Row['groups'] }[];

/** So many hours are looked at: a table of more tells a person nothing. */
export const HOURS_MAX = 24 * 14;

/** Nothing where it was over within the hour, or no node ever had anything to take. */
export function hoursOf(rows: readonly Row[], start: Instant): { hours?: Hours } {
  const moved = rows.some(({ groups }) =>
    Object.values(groups).some(({ underWay, waiting }) => underWay > 0 || Object.keys(waiting).length > 0),
  );
  if (rows.length < 2 || !moved) return {};
  return { hours: rows.map(({ at, groups }) => ({ at: (at - start) / 1000, time: formatInstant(at), groups })) };
}

/** @param nodeIds everything in the store; what was removed stands nowhere */
export async function standingsNow(world: World, nodeIds: readonly string[]): Promise<Row> {
  const members = new Map<string, NodeId[]>();
  for (const id of nodeIds) {
    const nodeId = parseNodeId(id);
    const node = nodeId === null ? undefined : (await world.store.load('node', nodeId))?.record;
    if (node === undefined || node.removed !== null) continue;
    members.set(node.group, [...(members.get(node.group) ?? []), node.nodeId]);
  }
  return standingsOf(world.plane, world.table, members);
}
