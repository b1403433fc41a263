/**
 * What people and programs are answered (DESIGN section 6). The schemas are open, as `api: "1.n"` promises: a larger n
 * only adds. The types are what they infer. test/fuzz closes the schemas, so that nothing is answered unsaid.
 */
import * as z from 'zod/mini';
import { nodeBackoffSchema } from '../policy/backoff.ts';
import { drainSteps, onDrainTimeout } from '../policy/drain.ts';
import { checks, onFailure } from '../policy/monitor.ts';
import { rolloutFields } from '../policy/rollout.ts';
import { updateCheckSchema } from './agent-bodies.ts';
import { vmBodySchema } from './operator-bodies.ts';
import { apiVersion, concernSchema, count, instantText } from './answer-parts.ts';
import { groupCanSchema, nodeCanSchema, vmCanSchema } from './can.ts';
import {
  ATTENTION_CODES,
  END_CAUSES,
  NODE_PHASES,
  NODE_STATES,
  PRINTABLE_STATUSES,
  REPORTED_PHASES,
  REPORTED_STATES,
  RUN_STRATEGIES,
  WAITING_CODES,
} from './words.ts';

const specState = z.enum(NODE_STATES);
const instantOrNull = () => z.nullable(instantText());

/** One entry of the event log, and of an item's last 20. */
export const eventSchema = z.object({
  id: z.string(),
  at: instantText(),
  type: z.string(),
  severity: z.enum(['info', 'warning']),
  subject: z.string(),
  message: z.string(),
});
export type EventEntry = z.infer<typeof eventSchema>;

export const nodeSchema = z.object({
  nodeId: z.string(),
  group: z.string(),
  spec: z.object({
    state: specState,
    version: z.nullable(z.string()),
    generation: count(),
    since: instantText(),
  }),
  status: z.nullable(
    z.object({
      state: z.enum(REPORTED_STATES),
      currentVersion: z.string(),
      bootId: z.string(),
      reportedAt: instantText(),
      updateCheck: updateCheckSchema,
      agentVersion: z.nullable(z.string()),
      /** What the agent says of a step under way; absent when it says nothing. */
      progress: z.exactOptional(z.string()),
      /** What keeps the node from being drained; absent when nothing does. */
      drainBlockedBy: z.exactOptional(z.string()),
    }),
  ),
  crash: z.object({
    count: count(),
    firstAt: instantOrNull(),
    lastAt: instantOrNull(),
    retryAfter: instantOrNull(),
    resetAt: instantOrNull(),
    lastState: z.nullable(specState),
    lastReason: z.nullable(z.string()),
    lastMessage: z.nullable(z.string()),
  }),
  blockedVersions: z.array(z.string()),
  heldBy: z.nullable(z.string()),
  /** The failure domain it runs in; `none` when it names none. */
  zone: z.string(),
  phase: z.enum(NODE_PHASES),
  /** The first thing it still waits for; null while a step is being done and when nothing is offered but what runs. */
  waitingFor: z.nullable(z.object({ code: z.enum(WAITING_CODES), until: z.exactOptional(instantText()) })),
  /** For each verb null when it is accepted now, else why not. */
  can: nodeCanSchema,
  /** Why a person should look at it; absent: nothing asks for one. */
  attention: z.exactOptional(concernSchema),
  explanation: z.string(),
});
export type NodeJson = z.infer<typeof nodeSchema>;

export const vmSchema = z.object({
  vmId: z.string(),
  uid: z.string(),
  /** Where it is, or is to run, now. */
  hostId: z.string(),
  /** Where it was declared, and where else it may go once its host is fenced. */
  placement: z.object({ declaredHostId: z.string(), hosts: z.array(z.string()), restartElsewhere: z.boolean() }),
  /** What an update of its host does: stops the VM for that time, or waits for it; `since`: such an update is under way. */
  maintenance: z.object({ policy: z.enum(['stop', 'block']), since: instantOrNull() }),
  runStrategy: z.enum(RUN_STRATEGIES),
  /** The body as it was put; a control plane of a release before does not tell it. */
  declared: z.exactOptional(vmBodySchema),
  power: z.object({ on: z.boolean(), sequence: count() }),
  instance: z.nullable(
    z.object({
      instanceId: z.string(),
      phase: z.enum([...REPORTED_PHASES, 'Unknown']),
      since: instantText(),
      everRunning: z.boolean(),
      cause: z.nullable(z.enum(END_CAUSES)),
      /** Why the guest does not run although its instance is Running, and since when; absent while it does. */
      condition: z.exactOptional(z.object({ kind: z.string(), since: instantText() })),
      /** How often the guest has reset itself in this life; absent when it has not. */
      resets: z.exactOptional(count()),
      /** The lease that its host says it is held by; absent when it is held by none. */
      leaseSeconds: z.exactOptional(z.number()),
    }),
  ),
  startFailure: z.nullable(
    z.object({
      consecutiveFailCount: count(),
      lastFailedInstanceId: z.string(),
      retryAfter: instantText(),
      reason: z.enum(END_CAUSES),
      message: z.nullable(z.string()),
    }),
  ),
  unstableRuns: z.nullable(z.object({ count: count(), retryAfter: instantOrNull() })),
  lastFailure: z.nullable(
    z.object({
      reason: z.enum(END_CAUSES),
      message: z.nullable(z.string()),
      console: z.nullable(z.string()),
      at: instantText(),
    }),
  ),
  printableStatus: z.enum(PRINTABLE_STATUSES),
  can: vmCanSchema,
  /** Starts really made after the first. */
  restartCount: count(),
  /** Of either kind together, until it has run for `stableFor`, a verb, or a new launch definition. */
  failuresInARow: count(),
  /** What a person should know of what was put; absent when there is nothing. Only in the answer to PUT. */
  warnings: z.exactOptional(z.array(z.string())),
  /** Why a person should look at it; absent: nothing asks for one. */
  attention: z.exactOptional(concernSchema),
  explanation: z.string(),
});
export type VmJson = z.infer<typeof vmSchema>;

/** The last of a live guest's console; null until its host has sent it. Kept for 10 min. */
export const consoleSchema = z.object({
  api: apiVersion(),
  vmId: z.string(),
  askedAt: instantText(),
  askedBy: z.string(),
  receivedAt: instantOrNull(),
  instanceId: z.nullable(z.string()),
  console: z.nullable(z.string()),
});
export type ConsoleAnswer = Omit<z.infer<typeof consoleSchema>, 'api'>;

const durationShown = () => z.string();

export const groupSchema = z.object({
  group: z.string(),
  declared: z.boolean(),
  policy: z.object({
    maxConcurrentUpdates: z.union([z.number(), z.string()]),
    backoff: nodeBackoffSchema,
    deadlines: z.object({
      Idle: durationShown(),
      StagedUpdate: durationShown(),
      PerformedUpdate: durationShown(),
      RebootedIntoUpdate: durationShown(),
      MonitoringUpdate: durationShown(),
    }),
    monitor: z.object({
      soak: durationShown(),
      checks: checks(),
      onFailure: onFailure(),
    }),
    drain: z.nullable(
      z.object({
        steps: drainSteps(),
        timeout: durationShown(),
        onTimeout: onDrainTimeout(),
      }),
    ),
    ...rolloutFields(),
  }),
  paused: z.boolean(),
  memberCount: z.nullable(count()),
  /** How many may be under way now; null when unlimited. */
  limit: z.nullable(count()),
  underWay: z.array(z.string()),
  can: groupCanSchema,
  window: z.object({
    open: z.boolean(),
    /** When something may begin again; absent: now, or no instant is known. */
    opensAt: z.exactOptional(instantText()),
    closesAt: z.exactOptional(instantText()),
    /** Who has opened it. */
    openedBy: z.exactOptional(z.string()),
    frozen: z.exactOptional(z.object({ to: instantText(), reason: z.exactOptional(z.string()) })),
  }),
  expedited: z.array(z.object({ version: z.string(), by: z.string(), until: instantText() })),
  /** What the policy listens to, and how it stands. */
  alarms: z.array(z.object({ name: z.string(), state: z.enum(['OK', 'ALARM', 'Missing']) })),
  /** The zone that is being updated now. */
  zone: z.exactOptional(z.string()),
  breakers: z.array(z.object({ version: z.string(), openedAt: instantText(), nodes: z.array(z.string()) })),
  settled: z.array(z.object({ version: z.string(), since: instantText() })),
  /** As the sweep last counted; null before it has. */
  rollout: z.nullable(
    z.object({
      at: instantText(),
      target: z.record(z.string(), z.object({ done: count(), underWay: count(), waiting: count(), failed: count() })),
    }),
  ),
  /** Why a person should look at it; absent: nothing asks for one. */
  attention: z.exactOptional(concernSchema),
  explanation: z.string(),
});
export type GroupJson = z.infer<typeof groupSchema>;

/** A thing of a list as a call of its own answers it. */
const answered = <S extends z.core.$ZodShape>(item: z.ZodMiniObject<S>) =>
  z.object({ api: apiVersion(), ...item.shape });
const page = <T extends z.ZodMiniType>(item: T) =>
  z.object({ api: apiVersion(), items: z.array(item), cursor: z.exactOptional(z.string()) });
/** What of a page cannot be read: by a newer release written, or changed by hand. Absent: nothing. */
const unreadableSchema = z.exactOptional(z.array(z.object({ id: z.string(), why: z.string() })));
const pageOfItems = <T extends z.ZodMiniType>(item: T) =>
  z.object({ ...page(item).shape, unreadable: unreadableSchema });

export const nodeAnswerSchema = answered(nodeSchema);
export const nodePageSchema = pageOfItems(nodeSchema);
export const vmAnswerSchema = answered(vmSchema);
export const vmPageSchema = pageOfItems(vmSchema);
export const groupAnswerSchema = answered(groupSchema);
export const groupPageSchema = pageOfItems(groupSchema);
export const eventPageSchema = page(eventSchema);
export const lastEventsSchema = z.object({ api: apiVersion(), items: z.array(eventSchema) });

export const attentionSchema = z.object({
  kind: z.enum(['node', 'vm', 'group']),
  /** The first that it stands for. */
  id: z.string(),
  /** Absent from a control plane before this was told. */
  code: z.exactOptional(z.enum(ATTENTION_CODES)),
  /** How many it stands for, which have the same cause; the first of them by name in `ids`. */
  count: z.exactOptional(count()),
  ids: z.exactOptional(z.array(z.string())),
  why: z.string(),
});
export type AttentionEntry = z.infer<typeof attentionSchema>;

export const summarySchema = z.object({
  api: apiVersion(),
  nodes: z.object({ total: count(), byPhase: z.record(z.string(), count()) }),
  vms: z.object({ total: count(), byStatus: z.record(z.string(), count()) }),
  /** What a person should look at, worst first. */
  attention: z.array(attentionSchema),
  /** When the sweep counted this; absent: it was looked at item by item, now. */
  at: z.exactOptional(instantText()),
  /** When the last sweep counted the fleet, whatever this was made of; absent before it has. */
  sweptAt: z.exactOptional(instantText()),
  /** There is more than was looked at, and no sweep has counted it yet. */
  partly: z.exactOptional(z.literal(true)),
});
export type Summary = Omit<z.infer<typeof summarySchema>, 'api'>;

/** One page of a recovery; without a cursor it is the last. */
export const recoverAnswerSchema = z.object({
  api: apiVersion(),
  recovery: z.object({ at: instantText(), by: z.string(), finishedAt: instantOrNull() }),
  done: z.boolean(),
  touched: z.object({ groups: count(), vms: count(), nodes: count() }),
  cursor: z.exactOptional(z.string()),
});
export type RecoverAnswer = Omit<z.infer<typeof recoverAnswerSchema>, 'api'>;

/** The API's own description: it names the version as every OpenAPI document does, and has no key of ours. */
export const openapiSchema = z.object({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: apiVersion() }),
  servers: z.array(z.unknown()),
  security: z.array(z.unknown()),
  tags: z.array(z.unknown()),
  paths: z.record(z.string(), z.unknown()),
  components: z.record(z.string(), z.unknown()),
});

/** RFC 9457 problem, with a code to switch on. */
export const problemSchema = z.object({
  api: apiVersion(),
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string().register(z.globalRegistry, { description: 'what a program can switch on' }),
  detail: z.string(),
  errors: z.exactOptional(z.array(z.object({ path: z.string(), message: z.string() }))),
});
export type Problem = Omit<z.infer<typeof problemSchema>, 'api'>;

/** What API Gateway itself answers, before the control plane is asked. */
export const gatewayAnswerSchema = z.object({ message: z.string() });
