/** Groups, as an operator sets their policy and stops them. */
import type { GroupJson } from '../../core/contract/answers.ts';
import { describeGroup } from '../../core/group/describe.ts';
import type { GroupEvent } from '../../core/group/group.ts';
import { mustCount } from '../../core/group/slots.ts';
import { hours, parseDuration } from '../../core/kit/time.ts';
import { DEFAULT_GROUP, type GroupId } from '../../core/kit/ids.ts';
import { loadGroup, loadView, turnGroup } from '../operations/groups.ts';
import { followersOf, promotionProblem } from '../operations/promotion.ts';
import type { ControlPlane } from '../ports.ts';
import { loadMany } from '../unreadable.ts';
import { fail, ofRefusal } from './problem.ts';
import type { Serve } from './handler.ts';
import { encodeCursor, pageOf, sayUnreadable } from './pages.ts';

async function shown(plane: ControlPlane, group: GroupId): Promise<GroupJson> {
  const { own, fallback } = await loadGroup(plane, group);
  const slotless = mustCount(own) ? await plane.store.underWay(group) : [];
  return describeGroup(own, fallback, plane.now(), slotless);
}

export const listGroups: Serve<'listGroups'> = async (plane, request) => {
  const { limit, cursor } = pageOf(request, 'groups');
  const page = await plane.store.list('group', limit, cursor);
  const stored = page.items.includes(DEFAULT_GROUP);
  const { records, unreadable } = await loadMany(plane, 'group', page.items);
  const readable = records.map(({ group }) => group);
  const ids = cursor === null && !stored && page.cursor === null ? [...readable, DEFAULT_GROUP].sort() : readable;
  const items = await Promise.all(ids.map((id) => shown(plane, id)));
  return { status: 200, body: { items, ...sayUnreadable(unreadable), ...encodeCursor(page.cursor, 'groups') } };
};

async function mustExist(plane: ControlPlane, group: GroupId): Promise<void> {
  if (group !== DEFAULT_GROUP && (await plane.store.load('group', group)) === null) {
    throw fail(404, 'GroupNotFound', `there is no group ${group}: no policy was put and no node has named it`);
  }
}

export const getGroup: Serve<'getGroup'> = async (plane, request) => {
  const group = request.params.group;
  await mustExist(plane, group);
  return { status: 200, body: await shown(plane, group) };
};

async function change<S extends 200 | 201 | 202>(
  plane: ControlPlane,
  group: GroupId,
  event: GroupEvent,
  status: S,
): Promise<{ status: S; body: GroupJson }> {
  const result = await turnGroup(plane, group, event);
  if (result.kind === 'refused') throw ofRefusal(result.refusal);
  return { status, body: await shown(plane, group) };
}

export const putGroup: Serve<'putGroup'> = async (plane, request) => {
  const group = request.params.group;
  const body = request.body;
  const problem = await promotionProblem(plane, group, body);
  if (problem !== null) throw ofRefusal(problem);
  const before = (await plane.store.load('group', group))?.record ?? null;
  const declared = group === DEFAULT_GROUP || (before !== null && before.body !== null);
  return change(plane, group, { kind: 'put', body }, declared ? 200 : 201);
};

export const deleteGroup: Serve<'deleteGroup'> = async (plane, request) => {
  const { group } = request.params;
  const followers = await followersOf(plane, group);
  if (followers.length > 0) {
    throw fail(
      409,
      'GroupNamed',
      `group ${followers.join(', ')} ${followers.length === 1 ? 'comes' : 'come'} after ${group}: put a policy without that first`,
    );
  }
  return change(plane, group, { kind: 'undeclare' }, 202);
};

export const pauseGroup: Serve<'pauseGroup'> = async (plane, request) => {
  const by = request.caller;
  const group = request.params.group;
  await mustExist(plane, group);
  return change(plane, group, { kind: 'pause', by }, 202);
};

export const resumeGroup: Serve<'resumeGroup'> = async (plane, request) => {
  const group = request.params.group;
  await mustExist(plane, group);
  return change(plane, group, { kind: 'resume' }, 202);
};

export const closeBreaker: Serve<'closeBreaker'> = async (plane, { params, body, caller }) => {
  await mustExist(plane, params.group);
  return change(plane, params.group, { kind: 'closeBreaker', version: body.version ?? null, by: caller }, 202);
};

/** The contract has checked the text. */
const lengthOf = (text: string) => parseDuration(text) ?? hours(1);

export const openWindow: Serve<'openWindow'> = async (plane, { params, body, caller }) => {
  const { group } = params;
  await mustExist(plane, group);
  const { freezes } = (await loadView(plane, group)).rollout.policy;
  return change(plane, group, { kind: 'openWindow', freezes, for: lengthOf(body.for), by: caller }, 202);
};

export const closeWindow: Serve<'closeWindow'> = async (plane, { params, caller }) => {
  await mustExist(plane, params.group);
  return change(plane, params.group, { kind: 'closeWindow', by: caller }, 202);
};

export const expedite: Serve<'expedite'> = async (plane, { params, body, caller }) => {
  await mustExist(plane, params.group);
  return change(
    plane,
    params.group,
    { kind: 'expedite', version: body.version, for: lengthOf(body.for), by: caller },
    202,
  );
};
