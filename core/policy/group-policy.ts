/** What a group's body may say, and what it means once every default is filled in (DESIGN section 2). */
import * as z from 'zod/mini';
import { type Duration, minutes } from '../kit/time.ts';
import { type NodeBackoff, nodeBackoffOf, nodeBackoffSchema, validated } from './backoff.ts';
import { DEADLINES, deadlineOf, deadlinesSchema } from './deadlines.ts';
import { type DrainPlan, drainPlanOf, drainSchema, drainTimeout } from './drain.ts';
import { type Concurrency, concurrencyOf, limitSchema } from './limit.ts';
import { rolloutFields, type RolloutPolicy, rolloutPolicyOf } from './rollout.ts';
import { type MonitorPolicy, monitorPolicyOf, monitorSchema, slowChecks } from './monitor.ts';

export const groupBodySchema = /* @__PURE__ */ z.lazy(() =>
  z
    .strictObject({
      maxConcurrentUpdates: z.optional(limitSchema),
      backoff: z.optional(nodeBackoffSchema),
      deadlines: z.optional(deadlinesSchema),
      monitor: z.optional(monitorSchema),
      drain: z.optional(drainSchema),
      ...rolloutFields(),
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
      z.refine(({ spread, maxConcurrentUpdates }) => spread === undefined || maxConcurrentUpdates !== 'unlimited', {
        path: ['spread'],
        message: 'needs a limit: without one nobody counts who is under way in which zone',
      }),
      z.superRefine(({ monitor, deadlines }, problems) => {
        const deadline = deadlineOf('MonitoringUpdate', deadlines);
        for (const problem of slowChecks(monitor, deadline)) problems.addIssue({ code: 'custom', ...problem });
      }),
    ),
);
export type GroupBody = z.infer<typeof groupBodySchema>;

export type Deadlines = Readonly<Record<keyof typeof DEADLINES, Duration>>;

/** The part of a group's policy that a node carries from the start of an attempt to its end. */
export type NodePolicy = {
  backoff: NodeBackoff;
  deadlines: Deadlines;
  soak: Duration;
  /** Absent: nothing is drained. */
  drain?: DrainPlan;
  /** Absent: nothing is checked. */
  monitor?: MonitorPolicy;
  /** Its crashes count towards a breaker of the group; absent: there is none. */
  breaker?: true;
  /** The only version that may be taken, which the agent asks its updater for; absent: whatever is offered. */
  pin?: string;
};

export type GroupPolicy = Omit<NodePolicy, 'breaker' | 'pin'> & { concurrency: Concurrency; rollout: RolloutPolicy };

/** What a node takes from its group's policy. */
export const nodePolicyOf = ({ concurrency: _ofTheGroup, rollout, ...policy }: GroupPolicy): NodePolicy => ({
  ...policy,
  ...(rollout.breaker === null ? {} : { breaker: true }),
  ...(rollout.version.pin === null ? {} : { pin: rollout.version.pin }),
});

export function groupPolicyOf(body: GroupBody): GroupPolicy {
  const deadline = (state: keyof typeof DEADLINES): Duration => deadlineOf(state, body.deadlines);
  const drain = drainPlanOf(body.drain);
  const monitor = monitorPolicyOf(body.monitor);
  const rollout = rolloutPolicyOf(body);
  // No more may be under way than may be down.
  const concurrency = concurrencyOf(body.maxConcurrentUpdates);
  return {
    backoff: nodeBackoffOf(body.backoff),
    deadlines: {
      StagedUpdate: deadline('StagedUpdate'),
      PerformedUpdate: deadline('PerformedUpdate'),
      RebootedIntoUpdate: deadline('RebootedIntoUpdate'),
      MonitoringUpdate: deadline('MonitoringUpdate'),
      Idle: deadline('Idle'),
    },
    soak: body.monitor?.soak === undefined ? minutes(2) : validated(body.monitor.soak),
    concurrency: concurrency.kind === 'unlimited' ? (rollout.maxUnavailable ?? concurrency) : concurrency,
    rollout,
    ...(drain === null ? {} : { drain }),
    ...(monitor === null ? {} : { monitor }),
  };
}
