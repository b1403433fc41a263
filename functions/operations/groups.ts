/** Groups: what is stored of them, and one decision about one (DESIGN section 2). */
import { decideGroup, type GroupEvent } from '../../core/group/group.ts';
import { type GroupRecord, newGroup, policyInForce } from '../../core/group/record.ts';
import { type GroupView, viewGroup } from '../../core/group/view.ts';
import { DEFAULT_GROUP, type GroupId } from '../../core/kit/ids.ts';
import type { ControlPlane } from '../ports.ts';
import { outsideOf } from './outside.ts';
import { turn, turnRead, type Turned } from '../turn.ts';

export type GroupPair = { own: GroupRecord; fallback: GroupRecord };

/** A group and the default whose policy holds while it is undeclared; a record that does not exist yet is the built-in one. */
export async function loadGroup(plane: ControlPlane, group: GroupId): Promise<GroupPair> {
  return pairOf(plane, (await plane.store.load('group', group))?.record ?? newGroup(group));
}

/** The same for a group that was just read. */
export async function pairOf(plane: ControlPlane, own: GroupRecord): Promise<GroupPair> {
  if (own.body !== null) return { own, fallback: own };
  const fallback = (await plane.store.load('group', DEFAULT_GROUP))?.record ?? newGroup(DEFAULT_GROUP);
  return { own, fallback };
}

/** @param versions those whose age the decision may ask for */
export async function loadView(
  plane: ControlPlane,
  group: GroupId,
  versions: readonly (string | null | undefined)[] = [],
): Promise<GroupView> {
  return viewOf(plane, await loadGroup(plane, group), versions);
}

export async function viewOf(
  plane: ControlPlane,
  { own, fallback }: GroupPair,
  versions: readonly (string | null | undefined)[] = [],
): Promise<GroupView> {
  return viewGroup(own, fallback, plane.now(), await outsideOf(plane, policyInForce(own, fallback), versions));
}

export const turnGroup = (plane: ControlPlane, group: GroupId, event: GroupEvent): Promise<Turned<GroupRecord>> =>
  turn(plane, 'group', group, (record) => decideGroup(record, group, event, plane.now()));

/** The same for a group that was just read: it is read again only if it was changed since, or is not written down yet. */
export const turnGroupRead = (plane: ControlPlane, own: GroupRecord, event: GroupEvent): Promise<Turned<GroupRecord>> =>
  turnRead(plane, { kind: 'group', id: own.group, read: own.revision === 0 ? null : own }, (record) =>
    decideGroup(record, own.group, event, plane.now()),
  );
