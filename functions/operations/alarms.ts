/** CloudWatch alarms that halt groups: an event brings the news, and the sweep makes good what was lost (DESIGN section 2b). */
import { type GroupRecord, newGroup, policyInForce } from '../../core/group/record.ts';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import type { Instant } from '../../core/kit/time.ts';
import type { AlarmState, HeardAlarm } from '../../core/rollout/alarm-states.ts';
import type { AlarmWatch, ControlPlane } from '../ports.ts';
import { turnGroup } from './groups.ts';
import { readGroups } from './promotion.ts';

export type AlarmEvent = { name: string; state: AlarmState; at: Instant };

type Listener = { own: GroupRecord; names: readonly string[] };

/** Groups that listen to alarms by the policy that holds for them, or that did. */
function listeners(groups: readonly GroupRecord[]): Listener[] {
  const fallback = groups.find(({ group }) => group === DEFAULT_GROUP) ?? newGroup(DEFAULT_GROUP);
  return groups
    .map((own) => ({ own, names: policyInForce(own, fallback).rollout.haltOnAlarm }))
    .filter(({ own, names }) => names.length > 0 || Object.keys(own.alarms ?? {}).length > 0);
}

/** One alarm went into another state; an older word than what is known changes nothing. */
export async function noteAlarm(plane: ControlPlane, { name, state, at }: AlarmEvent): Promise<void> {
  const concerned = listeners((await readGroups(plane)).groups).filter(({ names }) => names.includes(name));
  for (const { own, names } of concerned)
    await turnGroup(plane, own.group, { kind: 'alarms', names, news: { [name]: { state, at } } });
}

/** Asks CloudWatch for every alarm that a group listens to; when it does not answer, what is known stays. */
export async function askAlarms(plane: ControlPlane, watch: AlarmWatch, groups: readonly GroupRecord[]): Promise<void> {
  const all = listeners(groups);
  const names = [...new Set(all.flatMap((listener) => listener.names))];
  if (all.length === 0) return;
  const at = plane.now();
  const states = names.length === 0 ? new Map<string, AlarmState>() : await watch.states(names);
  const news = Object.fromEntries(
    names.map((name): [string, HeardAlarm] => [name, { state: states.get(name) ?? 'Missing', at }]),
  );
  for (const listener of all)
    await turnGroup(plane, listener.own.group, { kind: 'alarms', names: listener.names, news });
}
