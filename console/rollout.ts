/** How far a group is: from its JSON and its members, nothing judged anew. */
import type { GroupJson, NodeJson } from '../core/contract/answers.ts';
import { counted } from '../present/text.ts';

/** The groups that come first, the earliest at the front, then this one. A circle ends where it closes. */
export function chainOf(group: GroupJson, all: ReadonlyMap<string, GroupJson>): string[] {
  const chain = [group.group];
  let current: GroupJson | undefined = group;
  while (current?.policy.after !== undefined && !chain.includes(current.policy.after.group)) {
    chain.unshift(current.policy.after.group);
    current = all.get(current.policy.after.group);
  }
  return chain;
}

export type Waiting = { readonly code: string; readonly ids: readonly string[]; readonly example: string };

/** Who waits for what, the most first; then who is at work. */
export function waitingOf(members: readonly NodeJson[]): Waiting[] {
  const byCode = new Map<string, NodeJson[]>();
  for (const node of members) {
    if (node.waitingFor === null) continue;
    byCode.set(node.waitingFor.code, [...(byCode.get(node.waitingFor.code) ?? []), node]);
  }
  return [...byCode]
    .map(([code, some]) => ({ code, ids: some.map(({ nodeId }) => nodeId), example: some[0]?.explanation ?? '' }))
    .sort((a, b) => b.ids.length - a.ids.length || (a.code < b.code ? -1 : 1));
}

/** How many members run each version, the most first. */
export function versionsOf(members: readonly NodeJson[]): { version: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { status } of members) {
    const version = status?.currentVersion ?? 'not reported';
    counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return [...counts].map(([version, count]) => ({ version, count })).sort((a, b) => b.count - a.count);
}

export type Target = NonNullable<GroupJson['rollout']>['target'][string];

/** `12 of 20 done (60 %)`: cut, so that 99.9 never reads as 100. */
export function sayProgress({ done, underWay, waiting, failed }: Target): string {
  const total = done + underWay + waiting + failed;
  const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
  const rest = [
    underWay === 0 ? '' : `${underWay} under way`,
    waiting === 0 ? '' : `${waiting} waiting`,
    failed === 0 ? '' : `${failed} failed`,
  ].filter((part) => part !== '');
  return [`${done} of ${counted(total, 'node')} done (${percent} %)`, ...rest].join(', ');
}
