/** What the API answers (DESIGN section 6). */
import type { NodeBackoffBody } from '../policy/backoff.ts';
import type { DrainBody, DrainPlan } from '../policy/drain.ts';
import type { MonitorBody, MonitorPlan } from '../policy/monitor.ts';
import type { UpdateCheck } from './agent-bodies.ts';
import type { Launch } from './operator-bodies.ts';
import type {
  EndCause,
  InstancePhase,
  NodePhase,
  PrintableStatus,
  ReportedState,
  RunStrategy,
  SpecState,
} from './words.ts';

export type DesiredNode = {
  state: SpecState;
  version: string | null;
  generation: number;
  /** How the node is emptied before its reboot, and what must be undone on the way to Idle; absent: not at all. */
  drain?: DrainPlan;
  /** What is checked in MonitoringUpdate; absent: nothing. */
  monitor?: MonitorPlan;
  /** What remains of the step's deadline: the agent's own limit is this, less a margin. */
  withinSeconds?: number;
  /** How long the node is watched once its checks have passed. */
  soakSeconds?: number;
  /** A disruptive step begins within this from the sending of the report, or not at all. */
  beginWithinSeconds?: number;
  /** The only version that may be taken. */
  pin?: string;
};
export type NodeReportAnswer = {
  api: string;
  desired: DesiredNode;
  reportEverySeconds: number;
  /** Renews the lease of every VM on this host, each for its own length; only in the answer of a report that was written. */
  leaseSeconds?: number;
  /** What should run here, left out when the tag is the one that the agent sent; only GET …/vms is acted on. */
  vms?: HostVm[];
  vmsTag?: string;
};
export type Power = 'on' | 'off';
export type DesiredVm = { power: Power; instanceId: string; graceSeconds?: number };
export type VmReportAnswer = { api: string; desired: DesiredVm };
/** One line of what should run on a host: `off` means that the instance is to end, within the grace given. */
export type HostVm = {
  vmId: string;
  uid: string;
  power: Power;
  instanceId: string;
  launchRevision: number;
  graceSeconds?: number;
  leaseSeconds?: number;
  startDeadlineSeconds?: number;
  /** Somebody asked for the last of its console. */
  consoleAsked?: boolean;
};
export type LaunchAnswer = {
  api: string;
  vmId: string;
  uid: string;
  instanceId: string;
  launchRevision: number;
  launch: Launch;
  simulateCrash: boolean;
  graceSeconds: number;
  /** Seconds the agent may take until Running, jitter included; null when there is no deadline. */
  startDeadlineSeconds: number | null;
};

/** One entry of the event log, and of an item's last 20. */
export type EventEntry = {
  id: string;
  at: string;
  type: string;
  severity: 'info' | 'warning';
  subject: string;
  message: string;
};

export type NodeJson = {
  nodeId: string;
  group: string;
  spec: { state: SpecState; version: string | null; generation: number; since: string };
  status: {
    state: ReportedState;
    currentVersion: string;
    bootId: string;
    reportedAt: string;
    updateCheck: UpdateCheck;
    agentVersion: string | null;
    /** What the agent says of a step under way; absent when it says nothing. */
    progress?: string;
    /** What keeps the node from being drained; absent when nothing does. */
    drainBlockedBy?: string;
  } | null;
  crash: {
    count: number;
    firstAt: string | null;
    lastAt: string | null;
    retryAfter: string | null;
    resetAt: string | null;
    lastState: SpecState | null;
    lastReason: string | null;
    lastMessage: string | null;
  };
  blockedVersions: string[];
  heldBy: string | null;
  phase: NodePhase;
  explanation: string;
};

export type VmJson = {
  vmId: string;
  uid: string;
  /** Where it is, or is to run, now. */
  hostId: string;
  /** Where it was declared, and where else it may go once its host is fenced. */
  placement: { declaredHostId: string; hosts: string[]; restartElsewhere: boolean };
  /** What an update of its host does: stops the VM for that time, or waits for it; `since`: such an update is under way. */
  maintenance: { policy: 'stop' | 'block'; since: string | null };
  runStrategy: RunStrategy;
  power: { on: boolean; sequence: number };
  instance: {
    instanceId: string;
    phase: InstancePhase;
    since: string;
    everRunning: boolean;
    cause: EndCause | null;
  } | null;
  startFailure: {
    consecutiveFailCount: number;
    lastFailedInstanceId: string;
    retryAfter: string;
    reason: string;
    message: string | null;
  } | null;
  unstableRuns: { count: number; retryAfter: string | null } | null;
  lastFailure: { reason: string; message: string | null; console: string | null; at: string } | null;
  printableStatus: PrintableStatus;
  restartCount: number;
  explanation: string;
};

export type GroupJson = {
  group: string;
  declared: boolean;
  policy: {
    maxConcurrentUpdates: number | string;
    backoff: NodeBackoffBody;
    deadlines: Record<SpecState, string>;
    monitor: { soak: string; checks: NonNullable<MonitorBody['checks']>; onFailure: 'rollback' | 'report' };
    drain: { steps: DrainBody['steps']; timeout: string; onTimeout: 'abort' | 'reboot' } | null;
  };
  paused: boolean;
  memberCount: number | null;
  /** How many may be under way now; null when unlimited. */
  limit: number | null;
  underWay: string[];
  explanation: string;
};

export type Summary = {
  nodes: { total: number; byPhase: Record<string, number> };
  vms: { total: number; byStatus: Record<string, number> };
  /** What a person should look at, worst first. */
  attention: { kind: 'node' | 'vm' | 'group'; id: string; why: string }[];
};

/** One page of a recovery; without a cursor it is the last. */
export type RecoverAnswer = {
  recovery: { at: string; by: string; finishedAt: string | null };
  done: boolean;
  touched: { groups: number; vms: number; nodes: number };
  cursor?: string;
};

/** RFC 9457 problem, with a code to switch on. */
export type Problem = {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  instance?: string;
  errors?: { path: string; message: string }[];
};
