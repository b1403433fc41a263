/** What a group's body and a VM's body mean once every default is filled in (DESIGN sections 2 and 3). */
import { type NodeBackoff, nodeBackoffOf, validated, type VmBackoff, vmBackoffOf } from './backoff.ts';
import type { GroupBody, SpecState, VmBody } from './contract.ts';
import { deadlineOf } from './deadlines.ts';
import { type DrainPlan, drainPlanOf } from './drain.ts';
import { type MonitorPolicy, monitorPolicyOf } from './monitor.ts';
import { type Duration, minutes, seconds } from './time.ts';

export type Deadlines = Readonly<Record<SpecState, Duration>>;

/** The part of a group's policy that a node carries from the start of an attempt to its end. */
export type NodePolicy = {
  backoff: NodeBackoff;
  deadlines: Deadlines;
  soak: Duration;
  /** Absent: nothing is drained. */
  drain?: DrainPlan;
  /** Absent: nothing is checked. */
  monitor?: MonitorPolicy;
};

export type Concurrency =
  | { kind: 'count'; count: number }
  | { kind: 'percent'; percent: number }
  | { kind: 'unlimited' };

export type GroupPolicy = NodePolicy & { concurrency: Concurrency };

/** What a node takes from its group's policy. */
export const nodePolicyOf = ({ concurrency: _ofTheGroup, ...policy }: GroupPolicy): NodePolicy => policy;

export function groupPolicyOf(body: GroupBody): GroupPolicy {
  const deadline = (state: SpecState): Duration => deadlineOf(state, body.deadlines);
  const drain = drainPlanOf(body.drain);
  const monitor = monitorPolicyOf(body.monitor);
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
    concurrency: concurrencyOf(body.maxConcurrentUpdates ?? 1),
    ...(drain === null ? {} : { drain }),
    ...(monitor === null ? {} : { monitor }),
  };
}

function concurrencyOf(limit: NonNullable<GroupBody['maxConcurrentUpdates']>): Concurrency {
  if (typeof limit === 'number') return { kind: 'count', count: limit };
  if (limit === 'unlimited') return { kind: 'unlimited' };
  return { kind: 'percent', percent: Number(limit.slice(0, -1)) };
}

/** How many nodes may be under way: a percentage is of the members last counted, rounded down, at least 1. */
export function limitOf(concurrency: Concurrency, memberCount: number | null): number | null {
  switch (concurrency.kind) {
    case 'count':
      return concurrency.count;
    case 'percent':
      return Math.max(1, Math.floor(((memberCount ?? 0) * concurrency.percent) / 100));
    case 'unlimited':
      return null;
  }
}

export type VmPolicy = {
  backoff: VmBackoff;
  stableFor: Duration;
  /** Time from Scheduled to Running; null when the VM has no start deadline. */
  startDeadline: Duration | null;
  grace: Duration;
};

export function vmPolicyOf(body: VmBody): VmPolicy {
  return {
    backoff: vmBackoffOf(body.backoff),
    stableFor: body.stableFor === undefined ? minutes(10) : validated(body.stableFor),
    startDeadline:
      body.startDeadline === 'none'
        ? null
        : body.startDeadline === undefined
          ? minutes(5)
          : validated(body.startDeadline),
    grace: body.grace === undefined ? seconds(30) : validated(body.grace),
  };
}
