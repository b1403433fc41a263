/** What the gates of a group's rollout ask of it, looked at once for a decision (DESIGN section 2b). */
import type { GroupRecord } from '../group/record.ts';
import type { GroupId } from '../kit/ids.ts';
import type { Duration, Instant } from '../kit/time.ts';
import type { GroupPolicy } from '../policy/group-policy.ts';
import type { RolloutPolicy } from '../policy/rollout.ts';
import { ringing } from './alarm-states.ts';
import type { OpenBreaker } from './breaker-state.ts';
import { type Openness, opennessAt } from './calendar.ts';
import { type Expedited, inForce } from './expedited.ts';
import type { Settled } from './settling.ts';
import type { KeptZone } from './zone.ts';

/** The group that comes before this one, as far as its record tells; settled on nothing if it has none. */
export type Before = {
  group: GroupId;
  soak: Duration;
  settled: readonly Settled[];
  unsettled: Readonly<Record<string, string>>;
};

export type RolloutView = {
  policy: RolloutPolicy;
  openness: Openness;
  breakers: readonly OpenBreaker[];
  expedited: readonly Expedited[];
  before: Before | null;
  /** When versions were first seen, of those that were looked up. */
  firstSeen: ReadonlyMap<string, Instant>;
  /** Null: zones do not matter, or nothing is under way. */
  zone: KeptZone | null;
  /** Alarms of its policy that are in ALARM. */
  ringing: readonly string[];
  down: number;
  /** When the group is to be looked at because a window opens; null: it is not. */
  lookAt: Instant | null;
};

/** What stands in other items. */
export type Outside = { before?: GroupRecord | null; firstSeen?: ReadonlyMap<string, Instant> };

export function viewRollout(own: GroupRecord, policy: GroupPolicy, now: Instant, outside: Outside): RolloutView {
  const { rollout } = policy;
  const { windows, freezes, after } = rollout;
  return {
    policy: rollout,
    openness: opennessAt({ windows, freezes, opened: own.opened ?? null }, now),
    breakers: own.breaker?.open ?? [],
    expedited: inForce(own.expedited ?? [], now),
    before:
      after === null
        ? null
        : { ...after, settled: outside.before?.settled ?? [], unsettled: outside.before?.unsettled ?? {} },
    firstSeen: outside.firstSeen ?? new Map(),
    zone: rollout.spreadOverZones && Object.keys(own.slots).length > 0 ? keptZone(own) : null,
    ringing: ringing(rollout.haltOnAlarm, own.alarms),
    down: own.down ?? 0,
    lookAt: own.lookAt ?? null,
  };
}

const keptZone = ({ zone }: GroupRecord): KeptZone => zone ?? { zone: null, yields: null };
