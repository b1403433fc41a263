/** The order of groups: which one waits for which, and what that forbids (DESIGN section 2b, Promotion). */
import type { GroupRecord } from '../../core/group/record.ts';
import { refused, type Refusal } from '../../core/decision/fact.ts';
import { DEFAULT_GROUP, type GroupId } from '../../core/kit/ids.ts';
import type { Duration } from '../../core/kit/time.ts';
import { type GroupBody, groupPolicyOf } from '../../core/policy/group-policy.ts';
import type { ControlPlane } from '../ports.ts';
import { loadMany, type Unreadable } from '../unreadable.ts';

/** All groups; of those that cannot be read nothing is known but that they are there. */
export async function readGroups(
  plane: ControlPlane,
): Promise<{ groups: GroupRecord[]; unreadable: readonly Unreadable[] }> {
  const groups: GroupRecord[] = [];
  const unreadable: Unreadable[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: GroupId[]; cursor: string | null } = await plane.store.list('group', 100, cursor);
    const loaded = await loadMany(plane, 'group', page.items);
    groups.push(...loaded.records);
    unreadable.push(...loaded.unreadable);
    ({ cursor } = page);
  } while (cursor !== null);
  return { groups, unreadable };
}

const afterOf = ({ body }: Pick<GroupRecord, 'body'>) => (body === null ? null : groupPolicyOf(body).rollout.after);

/** For each group that another comes after, the shortest time for which it has to be settled. */
export function soaksOf(groups: readonly GroupRecord[]): ReadonlyMap<GroupId, Duration> {
  const soaks = new Map<GroupId, Duration>();
  for (const after of groups.map(afterOf)) {
    if (after === null) continue;
    const known = soaks.get(after.group);
    if (known === undefined || after.soak < known) soaks.set(after.group, after.soak);
  }
  return soaks;
}

/** Why a policy cannot be put because of the group that it comes after; null when it can. */
export async function promotionProblem(plane: ControlPlane, group: GroupId, body: GroupBody): Promise<Refusal | null> {
  let next = groupPolicyOf(body).rollout.after?.group ?? null;
  const chain = [group];
  while (next !== null) {
    if (chain.includes(next)) {
      return refused(409, 'AfterCycle', `groups would wait for each other: ${[...chain, next].join(' after ')}`)
        .refusal;
    }
    const found = (await plane.store.load('group', next))?.record ?? null;
    if (found === null && next !== DEFAULT_GROUP && chain.length === 1) {
      return refused(
        404,
        'GroupNotFound',
        `there is no group ${next} to come after: no policy was put and no node has named it`,
      ).refusal;
    }
    chain.push(next);
    next = found === null ? null : (afterOf(found)?.group ?? null);
  }
  return null;
}

/** The groups that come after this one. */
export async function followersOf(plane: ControlPlane, group: GroupId): Promise<GroupId[]> {
  const { groups } = await readGroups(plane);
  return groups.filter((other) => afterOf(other)?.group === group).map((other) => other.group);
}
