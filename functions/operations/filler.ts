/**
 * The queued filler of a group (DESIGN section 2 rule 4): what was asked for in the group's item is done here, in the
 * background, when a message or the due-time index brings it.
 */
import type { GroupRecord } from '../../core/group/record.ts';
import { DEFAULT_GROUP, type GroupId } from '../../core/kit/ids.ts';
import { loadMany } from '../unreadable.ts';
import type { ControlPlane } from '../ports.ts';
import { fill } from './fill.ts';
import { proceedGroup } from './nodes.ts';
import { askFill } from './start-own.ts';

/** A fill was asked for, a window has opened, or nodes without a slot can be counted. */
export async function lookAtGroup(plane: ControlPlane, group: GroupId): Promise<void> {
  const own = (await plane.store.load('group', group))?.record ?? null;
  if (own === null || own.pausedBy !== null) return;
  if (proceeds(own, plane)) {
    // Who waits staged for a window keeps its slot, and goes on now.
    await proceedGroup(plane, group);
    if (group === DEFAULT_GROUP && own.fill != null) await askFollowers(plane);
  }
  await fill(plane, group);
}

const proceeds = ({ fill: asked, lookAt }: GroupRecord, plane: ControlPlane): boolean =>
  asked?.proceed === true || (lookAt != null && lookAt <= plane.now());

/** Undeclared groups have default's policy: a limit raised there frees slots in each of them. */
async function askFollowers(plane: ControlPlane): Promise<void> {
  let cursor: string | null = null;
  do {
    const page: { items: GroupId[]; cursor: string | null } = await plane.store.list('group', 100, cursor);
    const { records } = await loadMany(plane, 'group', page.items);
    for (const { group, body } of records) if (body === null) await askFill(plane, group, true);
    ({ cursor } = page);
  } while (cursor !== null);
}
