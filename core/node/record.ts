import type { Unexpected, UpdateCheck } from '../contract/agent-bodies.ts';
import type { ReportedState, SpecState, WaitingCode } from '../contract/words.ts';
import type { Aggregate } from '../decision/fact.ts';
import type { GroupId, NodeId } from '../kit/ids.ts';
import type { NodePolicy } from '../policy/group-policy.ts';
import type { Duration, Instant } from '../kit/time.ts';
import { hours, minutes } from '../kit/time.ts';

/** What the control plane wants of a node. A new state is always a new generation. */
export type NodeSpec = {
  state: SpecState;
  version: string | null;
  generation: number;
  since: Instant;
  /** When the spec was first given in an answer to the node's report; the deadline runs from here. */
  acknowledgedAt: Instant | null;
  /** When status reached the spec; null until then. */
  reachedAt: Instant | null;
  /** When the wake is repeated while the step is not acknowledged (or Idle is not reached); null when it is not. */
  nextWakeAt: Instant | null;
  wakesRepeated: number;
  /** Of a reboot: until when it may begin at all, by the group's window or its next freeze; absent: nothing ends that. */
  beginsUntil?: Instant;
  /** A negative status has brought a repeat forward already: once for each step (DESIGN section 5). */
  broughtForward?: true;
};

export type NodeStatus = {
  state: ReportedState;
  currentVersion: string;
  bootId: string;
  /** Seconds since that boot, as the last accepted report gave it; null when it gave none. */
  uptime: number | null;
  /** Rewritten only when 30 minutes old, or when something else changes. */
  reportedAt: Instant;
  updateCheck: UpdateCheck;
  agentVersion: string | null;
  drainBlockedBy: string | null;
  /** What the agent says of its step; absent when it says nothing. */
  progress?: string;
  /** The failure domain it runs in; absent: it named none, and is in a zone of its own. */
  zone?: string;
};

/** What a host's VMs must learn of it (DESIGN section 3 rule 6). */
export type HostNews =
  | { kind: 'hostSilent' | 'hostFenced' | 'hostUnheard'; at: Instant; asOf?: Instant }
  /** It runs another boot, which began then; what this boot itself said it runs is `alive`. */
  | { kind: 'hostBooted'; at: Instant; bootedAt: Instant; alive: readonly string[] };

/** Whether VMs are declared on the node, and when that was last looked at or one declared. */
export type Hosting = { vms: boolean; at: Instant };

/** One way from Idle through an update and back to Idle. */
export type Attempt = {
  /** The slot that it holds in its group; null under `unlimited`, and once the slot has been given up. */
  claimId: string | null;
  /** Began while its group had no limit: counted, when a limit comes, before one more starts (rule 4). */
  unlimited: boolean;
  version: string | null;
  fromVersion: string;
  /** The boot that must be replaced by a new one for RebootedIntoUpdate to be reached. */
  fromBootId: string;
  startedAt: Instant;
  /** Monitoring was passed and no ErrorReset has come since. */
  succeeded: boolean;
  /** Since when it had to wait staged; absent: it never had to. */
  stagedSince?: Instant;
  /** When it was let go on from waiting staged, until its next report. */
  letOnAt?: Instant | null;
  /** Since the reboot of the update: the boot that is watched, how many others came before it, and whether its checks have passed once. */
  watch?: { bootId: string; reboots: number; passed: boolean };
  /** Why it was given up without a crash; it ends when the node is Idle. */
  withdrawn?: string;
  /** It was withdrawn when its reboot had been decided: its VMs wait until it is Idle. */
  disrupted?: true;
};

/** The update that a node completed last: for a day a fall back from it is a crash (DESIGN section 2 rule 5). */
export type Completed = { version: string; from: string; bootId: string; at: Instant };

/** The version that was staged and not taken, and what was offered then (DESIGN section 2 rule 5). */
export type RefusedOffer = {
  version: string;
  offer: string | null;
  /** The gate that was closed; null: it runs already. */
  code: WaitingCode | null;
  at: Instant;
  until: Instant;
};

/** Everything remembered about a node's crashes (the reviewer of Brupop #160 asked for one struct). */
export type CrashRecord = {
  count: number;
  firstAt: Instant | null;
  lastAt: Instant | null;
  retryAfter: Instant | null;
  resetAt: Instant | null;
  lastState: SpecState | null;
  lastReason: string | null;
  lastMessage: string | null;
  /** The versions that the crashes on record were towards; absent: not written down. */
  towards?: string[];
  /** A person has said `retry` since the last of them. */
  waived?: true;
};

export const NO_CRASH: CrashRecord = {
  count: 0,
  firstAt: null,
  lastAt: null,
  retryAfter: null,
  resetAt: null,
  lastState: null,
  lastReason: null,
  lastMessage: null,
};

export type NodeRecord = Aggregate & {
  kind: 'node';
  nodeId: NodeId;
  group: GroupId;
  /** When its first report came; absent: before this was written down. */
  enrolledAt?: Instant;
  spec: NodeSpec;
  status: NodeStatus | null;
  /** Boot ids that have been replaced by another, newest last. */
  previousBoots: string[];
  attempt: Attempt | null;
  crash: CrashRecord;
  blockedVersions: string[];
  /** Since when each of them is blocked. */
  blockedAt?: Record<string, Instant>;
  completed?: Completed | null;
  refusedOffer?: RefusedOffer | null;
  heldBy: string | null;
  /** Since when the node lacks nothing but a slot; null when it lacks something else. */
  waitingSince: Instant | null;
  /** A step was withdrawn or a deadline passed, and the node has not reported since. */
  unreachableSince: Instant | null;
  silentSince: Instant | null;
  /** When the sweep looks whether it is silent, if that is earlier than it can be; absent: when it can be. */
  silenceLookAt?: Instant;
  fencedAt: Instant | null;
  /** What not all VMs of this host have been told yet: the sweep tells them again until they have. */
  untold?: HostNews | null;
  /** Since when a VM here waits to hear of the next report; absent or null: none does. */
  listened?: Instant | null;
  /** When a lease that a VM here is held by may have run out, unless another report comes. */
  leaseLookAt?: Instant | null;
  /** Whether VMs are declared on it, as far as is known; absent or null: that has to be looked at. */
  hosting?: Hosting | null;
  /** What runs here although it should not, or may begin to by itself, as the agent last said. */
  unexpected?: Unexpected[];
  /** What EC2 last said of the machine, until the node reports again; absent when it said nothing. */
  machine?: { state: 'stopped' | 'running'; at: Instant } | null;
  /** The recovery after a restore that last touched this node, and the node's first report since (null: none yet). */
  restored?: { at: Instant; heardAt: Instant | null } | null;
  /** VMs that live here and keep it from rebooting; absent: none (DESIGN section 3 rule 10). */
  vmBlockers?: string[];
  /** The last negative status of a wake, until the node reports again. */
  wakeFailure: { status: string; at: Instant } | null;
  policy: NodePolicy;
  /** Set when the node was deleted or is gone: a tombstone that older reports cannot revive. */
  removed: { at: Instant; reason: string; how?: Gone } | null;
};

/** How AWS says that a machine is gone for good; lost: silent for a day, and SSM does not know it. */
export type Gone = 'terminated' | 'deregistered' | 'lost';

export const BOOTS_KEPT = 16;
/** Of a node at rest, whose last boot is older than any request can be: reports of the others are none any more. */
export const BOOTS_KEPT_AT_REST = 2;
/** Of a node at rest, besides those of the last day; older ones are in the event log (docs/cost.md). */
export const EVENTS_KEPT_AT_REST = 3;

/** A wake is repeated this long after the step began, while it is not acknowledged (DESIGN section 5). */
export const WAKE_REPEATS: readonly [Duration, ...Duration[]] = [minutes(1), minutes(4), minutes(10)];
/** A step not acknowledged for this long is withdrawn (DESIGN section 2 rule 2). */
export const WITHDRAW_AFTER = minutes(35);
/** Between wakes once those repeats are used up: no wait is without an end, and a host that is off is not hammered. */
export const WAKE_EVERY = hours(1);
/** A node that has not reported for this long, 4½ of its intervals, is silent (DESIGN section 2 rule 8). */
export const SILENT_AFTER = minutes(90);
/** `reportedAt` is rewritten when it is this old (DESIGN section 6). */
export const REPORTED_AT_REFRESH = minutes(30);

/** Whether the node has an attempt: it has left Idle, or has not come back to it. */
export const underWay = (node: NodeRecord): boolean => node.attempt !== null;

/** Whether it has staged an update and waits, or is about to be told to go on (DESIGN section 2b). */
export const waitsStaged = ({ spec, attempt }: NodeRecord): boolean =>
  attempt !== null && spec.state === 'StagedUpdate' && spec.reachedAt !== null;

/** The disruptive step has been decided: nothing but a crash ends the attempt from here on (DESIGN section 2 rule 6). */
export const rebootDecided = ({ spec }: NodeRecord): boolean =>
  spec.state === 'RebootedIntoUpdate' || spec.state === 'MonitoringUpdate';
