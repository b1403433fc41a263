/** A group as it is stored: its policy, its pause, and its slots (DESIGN sections 2 and 7). */
import type { Aggregate } from '../decision/fact.ts';
import { DEFAULT_GROUP, type GroupId } from '../kit/ids.ts';
import { type Instant, minutes } from '../kit/time.ts';
import type { HeardAlarms } from '../rollout/alarm-states.ts';
import type { BreakerState } from '../rollout/breaker-state.ts';
import type { OpenedWindow } from '../rollout/calendar.ts';
import type { Expedited } from '../rollout/expedited.ts';
import type { RolloutCount } from '../rollout/progress.ts';
import type { Settled } from '../rollout/settling.ts';
import type { KeptZone } from '../rollout/zone.ts';
import { type GroupBody, type GroupPolicy, groupPolicyOf } from '../policy/group-policy.ts';
import type { FillAsked } from './fill-asked.ts';
import type { Recovery } from './home.ts';

export type Slot = { claimId: string; at: Instant };

export type GroupRecord = Aggregate & {
  kind: 'group';
  group: GroupId;
  /** The body an operator put; null for a group that only nodes have named: it has default's policy. */
  body: GroupBody | null;
  /** When that body was put, or was taken away again; absent: before this was written down. */
  putAt?: Instant;
  pausedBy: string | null;
  slots: Record<string, Slot>;
  /** Members, as the sweep last counted them. */
  memberCount: number | null;
  /**
   * Nodes began here while there was no limit, in the group's own policy or in default's: once a limit holds they must
   * be counted before one more starts.
   */
  slotless: boolean;
  /** Since when a limit holds after `unlimited`, until the nodes without a slot are all back. */
  uncountedSince: Instant | null;
  /** How many of those nodes are still under way, as last counted; absent: not counted yet. */
  uncounted?: number;
  /** The crashes that its breaker counts, and the versions for which it is open; absent: none. */
  breaker?: BreakerState;
  /** A window that a person opened, until when. */
  opened?: OpenedWindow | null;
  /** When a window opens for which the group is looked at. */
  lookAt?: Instant | null;
  /** Versions that a person let past their age and promotion. */
  expedited?: readonly Expedited[];
  /** What it has settled on, and what keeps it from settling on a version, as the sweep last found. */
  settled?: readonly Settled[];
  unsettled?: Readonly<Record<string, string>>;
  /** Members that are silent or unreachable and hold no slot, as the sweep last counted them. */
  down?: number;
  /** The zone that is being updated, while anything of the group is under way. */
  zone?: KeptZone | null;
  /** The alarms of its policy, as they were last heard of; absent: none was. */
  alarms?: HeardAlarms;
  /** How far it is with each version, as the sweep last counted. */
  rollout?: RolloutCount;
  /** A fill that was asked for and is not through; absent: none. */
  fill?: FillAsked | null;
  /** Of `default` alone: the table this deployment lives in, and its last recovery after a restore. */
  home?: string;
  recovery?: Recovery;
};

/** A slot older than this whose node is not under way with it is freed by the sweep (DESIGN section 7). */
export const SLOT_STALE_AFTER = minutes(2);

export const newGroup = (group: GroupId): GroupRecord => ({
  kind: 'group',
  revision: 0,
  events: [],
  group,
  body: group === DEFAULT_GROUP ? {} : null,
  pausedBy: null,
  slots: {},
  memberCount: null,
  slotless: false,
  uncountedSince: null,
});

/** The policy in force: its own, or default's for an undeclared group. */
export const policyInForce = (own: GroupRecord, fallback: GroupRecord): GroupPolicy =>
  groupPolicyOf(own.body ?? fallback.body ?? {});
