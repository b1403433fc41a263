/** What the control plane asks of the world. Adapters implement these at the handler's edge; the simulation has twins in memory. */
import type { EventEntry } from '../core/contract/answers.ts';
import type { CommandAction, Draw } from '../core/decision/fact.ts';
import type { FleetCount } from '../core/fleet/count.ts';
import type { Troubled } from '../core/fleet/attention.ts';
import type { GroupRecord } from '../core/group/record.ts';
import type { GroupId, NodeId, VmId } from '../core/kit/ids.ts';
import type { AggregateKind, Ids, Ref } from '../core/kit/ref.ts';
import type { Digest } from '../core/node/digest.ts';
import type { MetricName } from '../core/contract/names.ts';
import type { AlarmState } from '../core/rollout/alarm-states.ts';
import type { NodeRecord } from '../core/node/record.ts';
import type { Instant } from '../core/kit/time.ts';
import type { HostEntry } from '../core/vm/host-entry.ts';
import type { VmRecord } from '../core/vm/record.ts';

export type { AggregateKind, Ids, Ref };
export type Records = { node: NodeRecord; vm: VmRecord; group: GroupRecord };

/** An item as it was read: `writeId` tells a writer whose answer was lost that the item is its own. */
export type Loaded<R> = { record: R; writeId: string };

export type Page<T> = { items: T[]; cursor: string | null };

export const CONCERNS = ['backingOff', 'unreachable', 'silent', 'gaveUp', 'blocked', 'crashLoop'] as const;
export type Concern = (typeof CONCERNS)[number];

/** `troubled` is null where a release before this wrote the line. */
export type AttentionLine = { ref: Ref; concerns: Concern[]; troubled: Troubled | null };

export type MemberLine = { nodeId: NodeId; digest: Digest | null };
/** Who of a queue is proposed, and in which order before that of the queue; null: passed over. */
export type Choose = (line: MemberLine) => number | null;

/** One item per aggregate with a revision; indexes only propose (DESIGN section 7). */
export interface Store {
  load<K extends AggregateKind>(kind: K, id: Ids[K]): Promise<Loaded<Records[K]> | null>;
  /** Writes if the item still has the revision given (0: if it does not exist); false when another writer was first. */
  save<K extends AggregateKind>(
    kind: K,
    record: Records[K],
    expectedRevision: number,
    writeId: string,
  ): Promise<boolean>;
  /** Ids in ascending order, removed ones left out. */
  list<K extends AggregateKind>(kind: K, limit: number, cursor: string | null): Promise<Page<Ids[K]>>;
  /** Members of a group that may lack nothing but a slot, in queue order, as the index last saw them. */
  queue(group: GroupId, limit: number, choose?: Choose): Promise<NodeId[]>;
  /** Members that may be under way, as the index last saw them. */
  underWay(group: GroupId): Promise<NodeId[]>;
  /** Members that wait staged without a slot and are not in the queue, as the index last saw them. */
  waitingStaged(group: GroupId): Promise<NodeId[]>;
  /** All members, as the index last saw them; without a digest those that have not reported. */
  members(group: GroupId): Promise<MemberLine[]>;
  /** When any node of the deployment was first offered the version, or ran it; null: not written down. */
  firstSeen(version: string): Promise<Instant | null>;
  /** Writes that down, unless it is. */
  noteSeen(version: string, at: Instant): Promise<void>;
  /** Everything that was due at `now`, as the index last saw it, oldest first in each shard. */
  overdue(now: Instant, limitPerShard: number): Promise<Ref[]>;
  vmsOfHost(host: NodeId): Promise<VmId[]>;
  /** What a host is told of its VMs, as the index last saw them; one that a release before this wrote last is missing. */
  hostEntries(host: NodeId): Promise<HostEntry[]>;
  /** Everything that is a concern or needs attention, as the index last saw it. */
  attention(): Promise<AttentionLine[]>;
  /** Members of a group in ascending order of their ids, as the index last saw them. */
  membersById(group: GroupId, limit: number, cursor: string | null): Promise<Page<NodeId>>;
  /** All VMs with their status, as the index last saw them; one that a release before this wrote last is missing. */
  vmLines(): Promise<{ vmId: VmId; status: string }[]>;
  /** All VMs, as the index last saw them. */
  vmIds(): Promise<VmId[]>;
  /** The fleet as the sweep last counted it; null: never, or in a form that is not known here. */
  loadFleet(): Promise<FleetCount | null>;
  saveFleet(count: FleetCount): Promise<void>;
}

/** The event log with its 30 days (written by the bus subscriber). */
export interface EventLog {
  append(entries: readonly EventEntry[]): Promise<void>;
  read(limit: number, cursor: string | null, now: Instant): Promise<Page<EventEntry>>;
}

export interface Timers {
  /** Wakes the aggregate at or after `at`; a `retry` of at most 15 minutes also gets the vernier. */
  arm(ref: Ref, key: number, at: Instant, retry: boolean, now: Instant): Promise<void>;
}

/** `generation` is that of the node's spec; null: the wake is about a VM, and names none. */
export type Wake = { ref: Ref; hostId: NodeId; action: CommandAction; generation: number | null; decided: boolean };

export interface Wakes {
  /** Queues the wake of a host's agent; nobody waits for SSM. */
  send(wake: Wake, now: Instant): Promise<void>;
}

/** How CloudWatch alarms stand, of those that there are. */
export interface AlarmWatch {
  states(names: readonly string[]): Promise<ReadonlyMap<string, AlarmState>>;
}

/** Which nodes SSM has on its list. */
export interface NodeRegistry {
  known(nodeIds: readonly NodeId[]): Promise<ReadonlySet<NodeId>>;
}

export interface Bus {
  publish(entries: readonly EventEntry[]): Promise<void>;
}

export interface Telemetry {
  metric(name: MetricName, value: number, group: GroupId | null): void;
  /** One structured line: what happened, to what, and the error's own words. */
  warn(message: string, detail: Record<string, unknown>): void;
}

/** `table` is the name of the table that the records are in. */
export type Settings = { idleReportSeconds: number; activeReportSeconds: number; table: string };

export type ControlPlane = {
  store: Store;
  timers: Timers;
  wakes: Wakes;
  bus: Bus;
  telemetry: Telemetry;
  now: () => Instant;
  draw: () => Draw;
  /** Lets that many milliseconds pass, so that writers who race each other spread out. */
  pause: (ms: number) => Promise<void>;
  settings: Settings;
};
