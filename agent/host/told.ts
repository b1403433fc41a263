/** What the control plane is told of an instance, in a report of its own and in its node's. Pure. */
import type { InstanceSeen, VmReport } from '../../core/contract/agent-bodies.ts';
import { type Instance, isLive, phaseOf } from './instance.ts';
import { ranMs } from './running.ts';

export type Told = keyof Instance['told'];

/** The report the control plane has not had yet, oldest first: Scheduled, then Running, then the end. */
export function untoldReport(instance: Instance, now: number): { told: Told; report: VmReport } | null {
  const { told, runningAt, end } = instance;
  if (!told.scheduled) return { told: 'scheduled', report: { ...named(instance), phase: 'Scheduled' } };
  if (runningAt !== null && !told.running)
    return { told: 'running', report: { ...named(instance), phase: 'Running', ...ran(instance, now) } };
  if (end === null || told.end) return null;
  return { told: 'end', report: reportOf(instance, now) };
}

/** The instance as it is now. */
export function reportOf(instance: Instance, now: number): VmReport {
  const { end } = instance;
  const head = { ...named(instance), phase: phaseOf(instance), ...ran(instance, now) };
  if (end === null) return head;
  const { cause, message, console } = end;
  return { ...head, cause, message, ...(console === null ? {} : { console }) };
}

/** The instance in its node's report; null once its end has been understood. */
export function seenOf(instance: Instance, now: number): InstanceSeen | null {
  if (!isLive(instance) && instance.told.end) return null;
  const { vmId, instanceId, lease, guarded, graceMs, resets, condition } = instance;
  const held = lease !== null && guarded && isLive(instance);
  return {
    vmId,
    instanceId,
    phase: phaseOf(instance),
    ...ran(instance, now),
    ...(held ? { leaseSeconds: lease.ms / 1000, graceSeconds: graceMs / 1000 } : {}),
    ...(resets.count === 0 ? {} : { resets: resets.count }),
    ...(condition === null || !isLive(instance) ? {} : { condition: condition.kind }),
  };
}

const named = ({ instanceId, uid }: Instance): { instanceId: string; uid?: string } =>
  uid === null ? { instanceId } : { instanceId, uid };

function ran(instance: Instance, now: number): { ranSeconds?: number } {
  const ms = ranMs(instance, now);
  return ms === null ? {} : { ranSeconds: Math.round(ms) / 1000 };
}

/** Marks a report as acknowledged. */
export const markTold = (instance: Instance, told: Told): Instance => ({
  ...instance,
  told: { ...instance.told, [told]: true },
});
