/** Groups: what is stored of them, and one decision about one (DESIGN section 2). */
import { decideGroup, type GroupEvent } from '../../core/group/group.ts';
import { type GroupRecord, newGroup } from '../../core/group/record.ts';
import { type GroupView, viewGroup } from '../../core/group/view.ts';
import { DEFAULT_GROUP, type GroupId } from '../../core/kit/ids.ts';
import type { ControlPlane } from '../ports.ts';
import { turn, type Turned } from '../turn.ts';

type GroupPair = { own: GroupRecord; fallback: GroupRecord };

/** A group and the default whose policy holds while it is undeclared; a record that does not exist yet is the built-in one. */
export async function loadGroup(plane: ControlPlane, group: GroupId): Promise<GroupPair> {
  const own = (await plane.store.load('group', group))?.record ?? newGroup(group);
  if (own.body !== null) return { own, fallback: own };
  const fallback = (await plane.store.load('group', DEFAULT_GROUP))?.record ?? newGroup(DEFAULT_GROUP);
  return { own, fallback };
}

export async function loadView(plane: ControlPlane, group: GroupId): Promise<GroupView> {
  const { own, fallback } = await loadGroup(plane, group);
  return viewGroup(own, fallback, plane.now());
}

export const turnGroup = (plane: ControlPlane, group: GroupId, event: GroupEvent): Promise<Turned<GroupRecord>> =>
  turn(plane, 'group', group, (record) => decideGroup(record, group, event, plane.now()));
