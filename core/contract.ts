/**
 * The API contract: what each body is. The same schemas validate requests, type the server, the CLI and the agent,
 * and generate the OpenAPI document. Operators' bodies are strict; agents' bodies ignore unknown fields (version skew).
 */
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import {
  durationText,
  groupId,
  instanceId,
  nodeId,
  notTiny,
  positiveDuration,
  shortText,
  text,
  UPTIME_MAX,
} from './contract-pieces.ts';
import { deadlineOf, deadlinesSchema } from './deadlines.ts';
import { type DrainBody, type DrainPlan, drainSchema, drainTimeout } from './drain.ts';
import { type MonitorBody, type MonitorPlan, monitorSchema, slowChecks } from './monitor.ts';

z.config(en());

/** The longest body the API takes, in bytes; a longer one is 413. */
export const BODY_BYTES_MAX = 256 * 1024;

// ---- words ----
export const NODE_STATES = [
  'Idle',
  'StagedUpdate',
  'PerformedUpdate',
  'RebootedIntoUpdate',
  'MonitoringUpdate',
] as const;
/** What a spec can be: never ErrorReset (DESIGN section 2). */
export type SpecState = (typeof NODE_STATES)[number];
export const REPORTED_STATES = [...NODE_STATES, 'ErrorReset'] as const;
export type ReportedState = (typeof REPORTED_STATES)[number];

export const RUN_STRATEGIES = ['Always', 'RerunOnFailure', 'Manual', 'Halted', 'Once'] as const;
export type RunStrategy = (typeof RUN_STRATEGIES)[number];

export const REPORTED_PHASES = ['Pending', 'Scheduled', 'Running', 'Succeeded', 'Failed'] as const;
export type ReportedPhase = (typeof REPORTED_PHASES)[number];
export type InstancePhase = ReportedPhase | 'Unknown';

export const END_CAUSES = [
  'Requested',
  'GuestShutdown',
  'GuestPanic',
  'LaunchFailed',
  'LaunchTimeout',
  'Killed',
  'Unhealthy',
  'HostMaintenance',
  'HostLost',
  'Unknown',
] as const;
export type EndCause = (typeof END_CAUSES)[number];

export const NODE_PHASES = [
  'Unreachable',
  'Recovering',
  'Held',
  'Monitoring',
  'Updating',
  'BackingOff',
  'WaitingForWindow',
  'Queued',
  'Idle',
] as const;
export type NodePhase = (typeof NODE_PHASES)[number];

export const PRINTABLE_STATUSES = [
  'Terminating',
  'Stopping',
  'Running',
  'Starting',
  'CrashLoopBackOff',
  'Completed',
  'Failed',
  'Stopped',
  'Unknown',
] as const;
export type PrintableStatus = (typeof PRINTABLE_STATUSES)[number];

// ---- agents' bodies (unknown fields ignored) ----
export const updateCheckSchema = z.object({
  result: z.enum(['UpToDate', 'Available', 'Failed']),
  version: z.optional(shortText()),
  message: z.optional(z.string()),
});
export type UpdateCheck = z.infer<typeof updateCheckSchema>;

export const nodeReportSchema = z.object({
  generation: z.optional(z.int().check(z.nonnegative())),
  state: z.enum(REPORTED_STATES),
  bootId: shortText(),
  currentVersion: shortText(),
  updateCheck: updateCheckSchema,
  error: z.optional(z.object({ reason: z.string(), message: z.optional(z.string()) })),
  group: z.optional(groupId()),
  agentVersion: z.optional(shortText()),
  uptime: z.optional(z.number().check(z.nonnegative(), z.lte(UPTIME_MAX), notTiny())),
  progress: z.optional(z.union([z.string(), z.number(), z.record(z.string(), z.unknown())])),
  drain: z.optional(z.object({ blockedBy: z.optional(z.union([z.string(), z.array(z.string())])) })),
});
export type NodeReport = z.infer<typeof nodeReportSchema>;

export const vmReportSchema = z.object({
  instanceId: instanceId(),
  uid: z.optional(shortText()),
  phase: z.enum(REPORTED_PHASES),
  cause: z.optional(z.enum(END_CAUSES)),
  message: z.optional(z.string()),
  console: z.optional(z.string()),
});
export type VmReport = z.infer<typeof vmReportSchema>;

// ---- operators' bodies (strict) ----
export const launchSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('libvirt'), domain: shortText() }),
  z.strictObject({
    type: z.literal('qemu'),
    args: z.array(text(0, 4096)).check(z.maxLength(256)),
  }),
  z.strictObject({
    type: z.literal('exec'),
    command: z.union([text(1, 4096), z.array(text(0, 4096)).check(z.minLength(1), z.maxLength(256))]),
  }),
]);
export type Launch = z.infer<typeof launchSchema>;

export const vmBackoffSchema = z.union([
  z.strictObject({ preset: z.enum(['seed', 'kubevirt']) }),
  z.strictObject({
    base: positiveDuration(),
    factor: z.number().check(z.gte(1), z.lte(10)),
    cap: positiveDuration(),
    jitter: z.number().check(z.gte(0), z.lte(1), notTiny()),
  }),
]);
export type VmBackoffBody = z.infer<typeof vmBackoffSchema>;

export const vmBodySchema = z
  .strictObject({
    hostId: nodeId(),
    runStrategy: z.enum(RUN_STRATEGIES),
    launch: launchSchema,
    backoff: z.optional(vmBackoffSchema),
    stableFor: z.optional(durationText()),
    startDeadline: z.optional(z.union([z.literal('none'), positiveDuration()])),
    grace: z.optional(durationText()),
    simulateCrash: z.optional(z.boolean()),
    /** `block`: an update of its host waits before the reboot until the VM is off. Without it the VM is stopped for that time. */
    maintenance: z.optional(z.literal('block')),
    /** Where else it may run, in order of preference. */
    hosts: z.optional(z.array(nodeId()).check(z.minLength(1), z.maxLength(16))),
    /** Once its host is fenced it is started on the first of `hosts` that is in order. */
    restartElsewhere: z.optional(z.boolean()),
  })
  .check(
    z.refine((body) => body.restartElsewhere !== true || body.hosts !== undefined, {
      path: ['restartElsewhere'],
      message: 'needs hosts: the nodes on which the VM may be started when its own is fenced',
    }),
  );
export type VmBody = z.infer<typeof vmBodySchema>;

export const nodeBackoffSchema = z.union([
  z.strictObject({ preset: z.enum(['seed', 'brupop']) }),
  z.strictObject({
    unit: positiveDuration(),
    from: z.enum(['firstCrash', 'lastCrash']),
    cap: positiveDuration(),
    resetAfter: z.union([z.literal('none'), positiveDuration()]),
  }),
]);
export type NodeBackoffBody = z.infer<typeof nodeBackoffSchema>;

export const CONCURRENCY_MAX = 500;
export const groupBodySchema = z
  .strictObject({
    maxConcurrentUpdates: z.optional(
      z.union([
        z.int().check(z.gte(1), z.lte(CONCURRENCY_MAX)),
        z.literal('unlimited'),
        z
          .string()
          .check(
            z.regex(
              /^(?:[1-9]|[1-9]\d|100)%$/,
              'must be a number from 1 to 500, a percentage from 1% to 100%, or unlimited',
            ),
          ),
      ]),
    ),
    backoff: z.optional(nodeBackoffSchema),
    deadlines: z.optional(deadlinesSchema),
    monitor: z.optional(monitorSchema),
    drain: z.optional(drainSchema),
  })
  .check(
    z.refine(
      ({ drain, deadlines }) =>
        drain === undefined ||
        drain.steps.length === 0 ||
        drainTimeout(drain) < deadlineOf('RebootedIntoUpdate', deadlines),
      {
        error:
          'must be shorter than the deadline of RebootedIntoUpdate (15m unless set), which it is a part of; the default is 10m',
        path: ['drain', 'timeout'],
      },
    ),
    z.superRefine(({ monitor, deadlines }, problems) => {
      const deadline = deadlineOf('MonitoringUpdate', deadlines);
      for (const problem of slowChecks(monitor, deadline)) problems.addIssue({ code: 'custom', ...problem });
    }),
  );
export type GroupBody = z.infer<typeof groupBodySchema>;

/** Fields of DESIGN section 6 that belong to features not landed: refused by name, never accepted and ignored. */
export const FIELDS_NOT_LANDED: { readonly vm: readonly string[]; readonly group: readonly string[] } = {
  vm: [],
  group: ['windows', 'breaker', 'version', 'order', 'after'],
};

export const stopBodySchema = z.strictObject({ gracePeriod: z.optional(durationText()) });
export const emptyBodySchema = z.strictObject({});
export const recoverBodySchema = z.strictObject({
  force: z.optional(z.boolean()),
  cursor: z.optional(z.string().check(z.maxLength(400))),
});
export const nodeMoveBodySchema = z.strictObject({ group: groupId() });

// ---- answers ----
export type DesiredNode = {
  state: SpecState;
  version: string | null;
  generation: number;
  /** How the node is emptied before its reboot, and what must be undone on the way to Idle; absent: not at all. */
  drain?: DrainPlan;
  /** What is checked in MonitoringUpdate; absent: nothing. */
  monitor?: MonitorPlan;
};
export type NodeReportAnswer = { api: string; desired: DesiredNode; reportEverySeconds: number };
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
