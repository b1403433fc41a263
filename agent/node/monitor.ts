/**
 * Health checks of an updated node (DESIGN section 2, MonitoringUpdate). Pure: when the next round is due and what its
 * results mean. The first round may fail until the deadline, since services still start; once all have passed, one that
 * fails is ErrorReset.
 */
import { HEALTH_CHECK_FAILED } from '../../core/monitor.ts';
import type { NodeRecord } from './memory.ts';
import type { CheckResult } from './monitor-record.ts';
import { failed, type Limits, type Move, reached, WAIT } from './move.ts';

/** Whether an updated node is still being watched. */
export const watches = ({ state, step, error, monitor }: NodeRecord): boolean =>
  state === 'MonitoringUpdate' && step === null && error === null && monitor !== null;

/** The next round of checks, when it is due. */
export function check(record: NodeRecord, now: number): Move {
  const { monitor } = record;
  if (monitor === null || now < monitor.nextAt) return WAIT;
  return { kind: 'check', record, checks: monitor.plan.checks };
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
