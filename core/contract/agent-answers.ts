/**
 * What an agent is answered (DESIGN section 6). The schemas are open, as `api: "1.n"` promises: a larger n only adds.
 * The types are what they infer: nobody writes these shapes down a second time.
 */
import * as z from 'zod/mini';
import { drainStepSchema } from '../policy/drain.ts';
import { healthCheckSchema } from '../policy/monitor.ts';
import { apiVersion, count } from './answer-parts.ts';
import { launchSchema } from './operator-bodies.ts';
import { NODE_STATES } from './words.ts';

const POWERS = ['on', 'off'] as const;

const length = () => z.number().check(z.nonnegative());
const someTime = () => z.number().check(z.positive());

export const desiredNodeSchema = z.object({
  state: z.enum(NODE_STATES),
  version: z.nullable(z.string()),
  generation: count(),
  /** How the node is emptied before its reboot, and what must be undone on the way to Idle; absent: not at all. */
  drain: z.exactOptional(
    z.object({
      steps: z.array(drainStepSchema),
      timeoutSeconds: someTime(),
      onTimeout: z.enum(['abort', 'reboot']),
    }),
  ),
  /** What is checked in MonitoringUpdate; absent: nothing. */
  monitor: z.exactOptional(
    z.object({
      checks: z.array(healthCheckSchema),
      onFailure: z.enum(['rollback', 'report']),
      withinSeconds: someTime(),
    }),
  ),
  /** What remains of the step's deadline: the agent's own limit is this, less a margin. */
  withinSeconds: z.exactOptional(length()),
  /** How long the node is watched once its checks have passed. */
  soakSeconds: z.exactOptional(length()),
  /** A disruptive step begins within this from the sending of the report, or not at all. */
  beginWithinSeconds: z.exactOptional(length()),
  /** The only version that may be taken. */
  pin: z.exactOptional(z.string()),
});
export type DesiredNode = z.infer<typeof desiredNodeSchema>;

/** One line of what should run on a host: `off` means that the instance is to end, within the grace given. */
export const hostVmSchema = z.object({
  vmId: z.string(),
  uid: z.string(),
  power: z.enum(POWERS),
  instanceId: z.string(),
  launchRevision: count(),
  graceSeconds: z.exactOptional(length()),
  leaseSeconds: z.exactOptional(length()),
  startDeadlineSeconds: z.exactOptional(someTime()),
  /** Somebody asked for the last of its console. */
  consoleAsked: z.exactOptional(z.boolean()),
});
export type HostVm = z.infer<typeof hostVmSchema>;

export const nodeReportAnswerSchema = z.object({
  api: apiVersion(),
  desired: desiredNodeSchema,
  reportEverySeconds: someTime(),
  /** Renews the lease of every VM on this host, each for its own length; only in the answer of a report that was written. */
  leaseSeconds: z.exactOptional(length()),
  /** What should run here, left out when the tag is the one that the agent sent; only GET …/vms is acted on. */
  vms: z.exactOptional(z.array(hostVmSchema)),
  vmsTag: z.exactOptional(z.string()),
});
export type NodeReportAnswer = z.infer<typeof nodeReportAnswerSchema>;

export const hostVmsSchema = z.object({ api: apiVersion(), items: z.array(hostVmSchema) });

export const desiredVmSchema = z.object({
  power: z.enum(POWERS),
  instanceId: z.string(),
  graceSeconds: z.exactOptional(length()),
});
export type DesiredVm = z.infer<typeof desiredVmSchema>;

export const vmReportAnswerSchema = z.object({ api: apiVersion(), desired: desiredVmSchema });
export type VmReportAnswer = z.infer<typeof vmReportAnswerSchema>;

/** Asked by the host: `tcp` is a port of its own or `host:port`, `http` a URL; every 10s and 3 failures unless said. */
export const livenessProbeSchema = z.object({
  tcp: z.exactOptional(z.union([z.string(), z.number()])),
  http: z.exactOptional(z.string()),
  every: z.exactOptional(z.string()),
  failures: z.exactOptional(count()),
});
export type LivenessProbe = z.infer<typeof livenessProbeSchema>;

export const launchAnswerSchema = z.object({
  api: apiVersion(),
  vmId: z.string(),
  uid: z.string(),
  instanceId: z.string(),
  launchRevision: count(),
  launch: launchSchema,
  simulateCrash: z.boolean(),
  graceSeconds: length(),
  /** Seconds the agent may take until Running, jitter included; null when there is no deadline. */
  startDeadlineSeconds: z.nullable(someTime()),
  /** Counted from the sending of this request, and renewed by each answer to a report that has `leaseSeconds`. */
  leaseSeconds: z.exactOptional(length()),
  /** Durations as they were declared, or their defaults; `unresponsiveFor` may be "none". */
  stableFor: z.exactOptional(z.string()),
  unresponsiveFor: z.exactOptional(z.string()),
  resetLimit: z.exactOptional(count()),
  liveness: z.exactOptional(livenessProbeSchema),
  /** It may be started on another host: nothing but this agent may start it here (autostart is refused). */
  restartElsewhere: z.exactOptional(z.boolean()),
});
export type LaunchAnswer = z.infer<typeof launchAnswerSchema>;
