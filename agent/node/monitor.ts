/**
 * Health checks of an updated node (DESIGN section 2, MonitoringUpdate). Pure: when the next round is due and what its
 * results mean. The first round may fail until the deadline, since services still start; once all have passed, one that
 * fails is ErrorReset.
 */
import { HEALTH_CHECK_FAILED } from '../../core/policy/monitor.ts';
import { newStep, type NodeRecord } from './memory.ts';
import type { AgentCheck, CheckResult } from './monitor-record.ts';
import { failed, type Limits, limitOf, type Move, reached, WAIT } from './move.ts';

/** Whether an updated node is still being watched. */
export const watches = ({ state, step, error, monitor }: NodeRecord): boolean =>
  state === 'MonitoringUpdate' && step === null && error === null && monitor !== null;

/** The next round of checks, when it is due. One that must pass for the step has no longer than is left of the step. */
export function check(record: NodeRecord, now: number, limits: Limits): Move {
  const { monitor, step } = record;
  if (monitor === null || now < monitor.nextAt) return WAIT;
  const { checks } = monitor.plan;
  if (step === null) return { kind: 'check', record, checks };
  const leftMs = limitOf(record, step, limits) - now;
  return { kind: 'check', record, checks: checks.map((each) => cut(each, leftMs)) };
}

/** A check that outlived the step would be heard after the control plane has counted a step that nobody explained. */
const cut = (each: AgentCheck, leftMs: number): AgentCheck => ({
  ...each,
  timeoutSeconds: Math.min(each.timeoutSeconds, leftMs / 1000),
});

/**
 * The watch begun anew, where the node has booted since: its services start again, and have as long for it as before
 * (DESIGN section 2 rule 5). Null where it is the boot that is watched, or nobody had kept which one is.
 */
export function watchAnew(record: NodeRecord, bootId: string, now: number): NodeRecord | null {
  const { state, step, error, monitor } = record;
  if (monitor === null || error !== null || monitor.bootId === null || monitor.bootId === bootId) return null;
  if (step === null ? state !== 'MonitoringUpdate' : step.target !== 'MonitoringUpdate') return null;
  const until = monitor.windowMs === null ? null : now + monitor.windowMs;
  return {
    ...record,
    state: 'RebootedIntoUpdate',
    step: { ...newStep('MonitoringUpdate', now), until },
    monitor: { ...monitor, bootId, nextAt: 0, failing: null },
  };
}

/** What a round means. */
export function absorbChecks(record: NodeRecord, results: readonly CheckResult[], now: number, limits: Limits): Move {
  const { monitor, step } = record;
  if (monitor === null) return WAIT;
  const failures = results.flatMap(({ name, failure }) =>
    failure === null ? [] : [`check ${name} failed: ${failure}`],
  );
  const failing = failures.length === 0 ? null : failures.join('; ');
  const next: NodeRecord = { ...record, monitor: { ...monitor, nextAt: now + limits.checkEveryMs, failing } };
  if (step !== null) return failing === null ? reached(next, step) : { kind: 'note', record: next };
  return failing === null ? { kind: 'note', record: next } : failed(next, HEALTH_CHECK_FAILED, failing);
}
