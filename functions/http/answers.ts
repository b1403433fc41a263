/**
 * What each call answers, for the API's document: schemas held to the contract's own types by the compiler. They are
 * open, as `api: "1.n"` promises: a larger n only adds. test/fuzz closes them, so that nothing is answered unsaid.
 */
import * as z from 'zod/mini';
import { updateCheckSchema } from '../../core/contract/agent-bodies.ts';
import type {
  EventEntry,
  GroupJson,
  HostVm,
  LaunchAnswer,
  NodeJson,
  NodeReportAnswer,
  Problem,
  RecoverAnswer,
  Summary,
  VmJson,
  VmReportAnswer,
} from '../../core/contract/answers.ts';
import { launchSchema } from '../../core/contract/operator-bodies.ts';
import {
  END_CAUSES,
  NODE_PHASES,
  NODE_STATES,
  PRINTABLE_STATUSES,
  REPORTED_PHASES,
  REPORTED_STATES,
  RUN_STRATEGIES,
} from '../../core/contract/words.ts';
import { nodeBackoffSchema } from '../../core/policy/backoff.ts';
import { drainSchema, drainStepSchema } from '../../core/policy/drain.ts';
import { healthCheckSchema, monitorSchema } from '../../core/policy/monitor.ts';

/** Adds the version of the API, which every answer names. */
type Answered<T> = z.ZodMiniType<Omit<T, 'api'> & { api: string }>;

const api = z.string().check(z.regex(/^1\.\d+$/));
const instantText = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/));
const count = z.int().check(z.nonnegative());
const cause = z.enum(END_CAUSES);
const specState = z.enum(NODE_STATES);
const power = z.enum(['on', 'off']);

const nodeShape = {
  nodeId: z.string(),
  group: z.string(),
  spec: z.object({ state: specState, version: z.nullable(z.string()), generation: count, since: instantText }),
  status: z.nullable(
    z.object({
      state: z.enum(REPORTED_STATES),
      currentVersion: z.string(),
      bootId: z.string(),
      reportedAt: instantText,
      updateCheck: updateCheckSchema,
      agentVersion: z.nullable(z.string()),
      progress: z.exactOptional(z.string()),
      drainBlockedBy: z.exactOptional(z.string()),
    }),
  ),
  crash: z.object({
    count,
    firstAt: z.nullable(instantText),
    lastAt: z.nullable(instantText),
    retryAfter: z.nullable(instantText),
    resetAt: z.nullable(instantText),
    lastState: z.nullable(specState),
    lastReason: z.nullable(z.string()),
    lastMessage: z.nullable(z.string()),
  }),
  blockedVersions: z.array(z.string()),
  heldBy: z.nullable(z.string()),
  phase: z.enum(NODE_PHASES),
  explanation: z.string(),
};
const node = z.object(nodeShape) satisfies z.ZodMiniType<NodeJson>;

const vmShape = {
  vmId: z.string(),
  uid: z.string(),
  hostId: z.string(),
  placement: z.object({ declaredHostId: z.string(), hosts: z.array(z.string()), restartElsewhere: z.boolean() }),
  maintenance: z.object({ policy: z.enum(['stop', 'block']), since: z.nullable(instantText) }),
  runStrategy: z.enum(RUN_STRATEGIES),
  power: z.object({ on: z.boolean(), sequence: count }),
  instance: z.nullable(
    z.object({
      instanceId: z.string(),
      phase: z.enum([...REPORTED_PHASES, 'Unknown']),
      since: instantText,
      everRunning: z.boolean(),
      cause: z.nullable(cause),
    }),
  ),
  startFailure: z.nullable(
    z.object({
      consecutiveFailCount: count,
      lastFailedInstanceId: z.string(),
      retryAfter: instantText,
      reason: cause,
      message: z.nullable(z.string()),
    }),
  ),
  unstableRuns: z.nullable(z.object({ count, retryAfter: z.nullable(instantText) })),
  lastFailure: z.nullable(
    z.object({ reason: cause, message: z.nullable(z.string()), console: z.nullable(z.string()), at: instantText }),
  ),
  printableStatus: z.enum(PRINTABLE_STATUSES),
  restartCount: count,
  explanation: z.string(),
};
const vm = z.object(vmShape) satisfies z.ZodMiniType<VmJson>;

const durationShown = z.string();
const groupShape = {
  group: z.string(),
  declared: z.boolean(),
  policy: z.object({
    maxConcurrentUpdates: z.union([z.number(), z.string()]),
    backoff: nodeBackoffSchema,
    deadlines: z.object({
      Idle: durationShown,
      StagedUpdate: durationShown,
      PerformedUpdate: durationShown,
      RebootedIntoUpdate: durationShown,
      MonitoringUpdate: durationShown,
    }),
    monitor: z.object({
      soak: durationShown,
      checks: monitorSchema.shape.checks.def.innerType,
      onFailure: monitorSchema.shape.onFailure.def.innerType,
    }),
    drain: z.nullable(
      z.object({
        steps: drainSchema.shape.steps,
        timeout: durationShown,
        onTimeout: drainSchema.shape.onTimeout.def.innerType,
      }),
    ),
  }),
  paused: z.boolean(),
  memberCount: z.nullable(count),
  limit: z.nullable(count),
  underWay: z.array(z.string()),
  explanation: z.string(),
};
const group = z.object(groupShape) satisfies z.ZodMiniType<GroupJson>;

const event = z.object({
  id: z.string(),
  at: instantText,
  type: z.string(),
  severity: z.enum(['info', 'warning']),
  subject: z.string(),
  message: z.string(),
}) satisfies z.ZodMiniType<EventEntry>;

const hostVm = z.object({
  vmId: z.string(),
  uid: z.string(),
  power,
  instanceId: z.string(),
  launchRevision: count,
  graceSeconds: z.exactOptional(z.number().check(z.nonnegative())),
}) satisfies z.ZodMiniType<HostVm>;

const page = <T extends z.ZodMiniType>(item: T) =>
  z.object({ api, items: z.array(item), cursor: z.optional(z.string()) });
const whole = <T extends z.ZodMiniType>(item: T) => z.object({ api, items: z.array(item) });

/** One schema for the 2xx of each kind of call. */
export const ANSWERS = {
  node: z.object({ api, ...nodeShape }) satisfies Answered<NodeJson>,
  nodes: page(node),
  vm: z.object({ api, ...vmShape }) satisfies Answered<VmJson>,
  vms: page(vm),
  group: z.object({ api, ...groupShape }) satisfies Answered<GroupJson>,
  groups: page(group),
  events: page(event),
  lastEvents: whole(event),
  hostVms: whole(hostVm),
  nodeReport: z.object({
    api,
    desired: z.object({
      state: specState,
      version: z.nullable(z.string()),
      generation: count,
      drain: z.exactOptional(
        z.object({
          steps: z.array(drainStepSchema),
          timeoutSeconds: z.number().check(z.positive()),
          onTimeout: z.enum(['abort', 'reboot']),
        }),
      ),
      monitor: z.exactOptional(
        z.object({
          checks: z.array(healthCheckSchema),
          onFailure: z.enum(['rollback', 'report']),
          withinSeconds: z.number().check(z.positive()),
        }),
      ),
    }),
    reportEverySeconds: z.number().check(z.positive()),
  }) satisfies Answered<NodeReportAnswer>,
  vmReport: z.object({
    api,
    desired: z.object({
      power,
      instanceId: z.string(),
      graceSeconds: z.exactOptional(z.number().check(z.nonnegative())),
    }),
  }) satisfies Answered<VmReportAnswer>,
  launch: z.object({
    api,
    vmId: z.string(),
    uid: z.string(),
    instanceId: z.string(),
    launchRevision: count,
    launch: launchSchema,
    simulateCrash: z.boolean(),
    graceSeconds: z.number().check(z.nonnegative()),
    startDeadlineSeconds: z.nullable(z.number().check(z.positive())),
  }) satisfies Answered<LaunchAnswer>,
  summary: z.object({
    api,
    nodes: z.object({ total: count, byPhase: z.record(z.string(), count) }),
    vms: z.object({ total: count, byStatus: z.record(z.string(), count) }),
    attention: z.array(z.object({ kind: z.enum(['node', 'vm', 'group']), id: z.string(), why: z.string() })),
  }) satisfies Answered<Summary>,
  recovery: z.object({
    api,
    recovery: z.object({ at: instantText, by: z.string(), finishedAt: z.nullable(instantText) }),
    done: z.boolean(),
    touched: z.object({ groups: count, vms: count, nodes: count }),
    cursor: z.exactOptional(z.string()),
  }) satisfies Answered<RecoverAnswer>,
  openapi: z.object({
    api,
    openapi: z.string(),
    info: z.record(z.string(), z.unknown()),
    servers: z.array(z.unknown()),
    security: z.array(z.unknown()),
    paths: z.record(z.string(), z.unknown()),
    components: z.record(z.string(), z.unknown()),
  }),
} as const;

export const PROBLEM = z.object({
  api,
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string().register(z.globalRegistry, { description: 'what a program can switch on' }),
  detail: z.string(),
  errors: z.exactOptional(z.array(z.object({ path: z.string(), message: z.string() }))),
}) satisfies Answered<Problem>;

/** What API Gateway itself answers, before the control plane is asked. */
export const GATEWAY_ANSWER = z.object({ message: z.string() });
