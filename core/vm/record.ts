import type { VmBody } from '../contract/operator-bodies.ts';
import type { EndCause, InstancePhase } from '../contract/words.ts';
import type { Aggregate } from '../decision/fact.ts';
import type { InstanceId, NodeId, VmId } from '../kit/ids.ts';
import { type Duration, hours, type Instant, minutes } from '../kit/time.ts';

/** What a host may hold an instance by: past the lease it stops the guest, past lease and grace it kills it (rule 6). */
export type Hold = { lease: Duration; grace: Duration };

/** The leases that a host may hold an instance by. */
export type LeaseHeld = {
  /** What the host last said; null: nothing. */
  echoed: Hold | null;
  /** What it was sent and has not said since, oldest first; a null is the word that there is no lease any more. */
  sent: { hold: Hold | null; at: Instant }[];
  /** When to see whether the host was heard meanwhile; null or absent: nobody has missed it. */
  lookAt?: Instant | null;
};

/** One life of a VM. A final phase means that its end is known. */
export type Instance = {
  instanceId: InstanceId;
  phase: InstancePhase;
  since: Instant;
  createdAt: Instant;
  everRunning: boolean;
  /** When it was last seen to become Running; null until then. */
  runningSince: Instant | null;
  cause: EndCause | null;
  /**
   * Somebody asked for its end: a verb, a change of strategy, or a delete; with `forHost`, nobody but the update of
   * its host.
   */
  stop: { at: Instant; grace: Duration; forHost?: true } | null;
  /** When it must be Running; set when the host took it on, null when it was not or there is no deadline. */
  startDeadlineAt: Instant | null;
  /** Its start deadline passed: counted, told to end, not replaced before its end is known. */
  timedOutAt: Instant | null;
  /** When the wake for its start or stop is repeated; null once the host has taken it up. */
  nextWakeAt: Instant | null;
  wakesRepeated: number;
  /** When its host took it on; absent: not yet, or the record is older than this field. */
  takenOnAt?: Instant;
  /** Its host says how long it has run: silence, and an older agent's way of not saying so, are judged otherwise. */
  tellsRun?: true;
  /** Why its guest does not run although it is Running (rule 11); absent or null: it does. */
  condition?: { kind: string; since: Instant } | null;
  /** How often the guest has reset itself, and when that was last seen to happen: at most the last three times. */
  resets?: { count: number; seenAt: Instant[] };
  lease?: LeaseHeld;
  /** A look at its host is due: its start deadline has passed unheard, or it may have run for `stableFor`. */
  askHostAt?: Instant | null;
  /** Ended by us before any host took it on: it was never made. */
  neverMade?: true;
};

export type StartFailure = {
  consecutiveFailCount: number;
  lastFailedInstanceId: InstanceId;
  retryAfter: Instant;
  reason: EndCause;
  message: string | null;
};

export type UnstableRuns = { count: number; retryAfter: Instant | null };

export type LastFailure = { reason: EndCause; message: string | null; console: string | null; at: Instant };

/** `promised`: a person asked for it, or it ended for its host's update; an edit to Manual does not cancel that (rule 7). */
export type PendingStart = { notBefore: Instant; promised?: true };

/** Why nothing is started on the VM's host: it is known to be off, or it was not heard for the length of a lease. */
export type LostHost = { since: Instant; how: 'fenced' | 'unheard'; lookAt: Instant };

/** The last of a guest's console, asked for by a person. */
export type ConsoleAsked = {
  askedAt: Instant;
  by: string;
  received: { at: Instant; instanceId: InstanceId; text: string } | null;
};

export type VmRecord = Aggregate & {
  kind: 'vm';
  vmId: VmId;
  uid: string;
  body: VmBody;
  /** The host on which it was started once its own was fenced; absent or null: the one it was declared on. */
  placedOn?: NodeId | null;
  /** Its host is being updated: nothing is started before it is back; `lookAt` is when to see for ourselves. */
  maintenance?: { since: Instant; lookAt: Instant } | null;
  launchRevision: number;
  power: { on: boolean; sequence: number };
  lastVerb: 'start' | 'stop' | 'restart' | null;
  instance: Instance | null;
  /** Instances before this one, newest last: what they report changes nothing. */
  previousInstances: InstanceId[];
  /** A next instance is wanted, not before this instant and not before the end of the present one is known. */
  pendingStart: PendingStart | null;
  startFailure: StartFailure | null;
  unstableRuns: UnstableRuns | null;
  lastFailure: LastFailure | null;
  /** Starts really made after the first. */
  restartCount: number;
  /** Of either kind, until it has run for `stableFor`, a verb, or a new launch definition. */
  failuresInARow?: number;
  /** Since when it is tried no more (`giveUpAfter`); absent or null: it is. */
  gaveUpAt?: Instant | null;
  /** Instances in a row that ended with their host, each within `stableFor`. */
  hostLosses?: number;
  lostHost?: LostHost | null;
  /** The last wake of its host that failed, until the host takes the instance up. */
  wakeFailure?: { status: string; at: Instant } | null;
  console?: ConsoleAsked | null;
  deleting: { at: Instant; deadlineAt: Instant } | null;
  /** The recovery after a restore that last touched this VM. */
  recoveredAt?: Instant;
  /** Restored: no start before its host was heard, and some time after; `sequence` is that of the power in the copy. */
  awaitingHost?: {
    since: Instant;
    settleUntil: Instant;
    heardAt: Instant | null;
    lookAt: Instant;
    sequence: number;
  } | null;
  /** Set when the record is gone: a tombstone that knows which reports are late. */
  removed: { at: Instant } | null;
};

export const INSTANCES_KEPT = 16;
/** After the first repeats a wake that the host does not take up goes on at this pace: no wait is without an end. */
export const PATIENT_WAKE_EVERY = hours(1);
/** How long after the grace period a delete that is still blocked names its blocker. */
export const DELETE_PATIENCE = minutes(5);

/** An instance that runs, may run, or may yet be run by its host. */
export type LiveInstance = Instance & { phase: Exclude<InstancePhase, 'Succeeded' | 'Failed'> };

export const live = (instance: Instance | null): instance is LiveInstance =>
  instance !== null && instance.phase !== 'Succeeded' && instance.phase !== 'Failed';

/** Ends that never count, whoever reports them (DESIGN section 3). */
export const UNCOUNTED_CAUSES: readonly EndCause[] = ['Requested', 'HostMaintenance', 'HostLost'];

/** The strategies that restart by themselves and keep failure records (rule 1). */
export const keepsRecords = (vm: VmRecord): boolean =>
  vm.body.runStrategy === 'Always' || vm.body.runStrategy === 'RerunOnFailure';

/** Where it runs, or is to run. */
export const hostOf = (vm: VmRecord): NodeId => vm.placedOn ?? (vm.body.hostId as NodeId); // the contract has checked it

/** Asked of its host, which has neither fetched its launch nor reported it: once it is no longer asked, it is refused it. */
export const notTakenOn = ({ phase }: Instance): boolean => phase === 'Pending';

/** Live, and nobody has told it to end. */
export const wanted = (instance: Instance | null): instance is LiveInstance =>
  live(instance) && instance.stop === null && instance.timedOutAt === null;

/** Since when its host has had it: as far as an older record tells. */
export const takenOnAt = ({ takenOnAt: at, phase, since, createdAt }: Instance): Instant =>
  at ?? (phase === 'Unknown' ? createdAt : since);

/** Whether its host is being updated, as far as it was told. */
export const waitsForHost = (vm: VmRecord): boolean => vm.maintenance != null;

/** Whether it keeps its host from rebooting (rule 10). */
export const blocksReboot = (vm: VmRecord): boolean =>
  vm.removed === null && vm.body.maintenance === 'block' && live(vm.instance);
