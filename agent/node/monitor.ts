/**
 * Health checks of an updated node (DESIGN section 2, MonitoringUpdate). Pure: when the next round is due and what its
 * results mean. The first round may fail until the deadline, since services still start; once all have passed, one that
 * fails is ErrorReset.
 */
import { HEALTH_CHECK_FAILED } from '../../core/policy/monitor.ts';
import type { NodeRecord } from './memory.ts';
import type { AgentCheck, CheckResult } from './monitor-record.ts';
import { allowedMs, failed, type Limits, type Move, reached, WAIT } from './move.ts';

/** Whether an updated node is still being watched. */
export const watches = ({ state, step, error, monitor }: NodeRecord): boolean =>
  state === 'MonitoringUpdate' && step === null && error === null && monitor !== null;

/** The next round of checks, when it is due. One that must pass for the step has no longer than is left of the step. */
export function check(record: NodeRecord, now: number, limits: Limits): Move {
  const { monitor, step } = record;
  if (monitor === null || now < monitor.nextAt) return WAIT;
  const { checks } = monitor.plan;
  if (step === null) return { kind: 'check', record, checks };
  const leftMs = step.startedAt + allowedMs(record, step, limits) - now;
  return { kind: 'check', record, checks: checks.map((each) => cut(each, leftMs)) };
}

/** A check that outlived the step would be heard after the control plane has counted a step that nobody explained. */
const cut = (each: AgentCheck, leftMs: number): AgentCheck => ({
  ...each,
  timeoutSeconds: Math.min(each.timeoutSeconds, leftMs / 1000),
});

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
