/** What a report says of a step under way, in words that change only when something does: each change is a write. */
import type { DrainRecord } from './drain-record.ts';
import type { Memory, NodeRecord } from './memory.ts';

/** Null when there is nothing to say beyond the state. */
export function sayProgress(memory: Memory): string | null {
  if (memory.kind !== 'kept') return null;
  const { record } = memory;
  const { rollback, step, monitor, notice } = record;
  if (step === null) return monitor?.failing ?? notice;
  if (rollback !== null && step.target === 'Idle') return sayRollback(record, rollback);
  if (step.target === 'MonitoringUpdate') return monitor?.failing ?? null;
  return record.drain === null ? null : sayDrain(record, record.drain);
}

export const sayBlockers = (memory: Memory): string[] =>
  memory.kind === 'kept' && memory.record.step !== null ? (memory.record.drain?.blockedBy ?? []) : [];

function sayRollback(record: NodeRecord, { to, trouble, outcome }: NonNullable<NodeRecord['rollback']>): string {
  if (outcome !== null) return outcome;
  const drained = record.drain === null || record.drain.startedAt === null ? null : sayDrain(record, record.drain);
  return `going back to ${to}${trouble === null ? '' : ` (${trouble})`}${drained === null ? '' : `: ${drained}`}`;
}

function sayDrain({ step }: NodeRecord, drain: DrainRecord): string | null {
  const last = drain.begun.at(-1);
  const trouble = drain.trouble === null ? '' : `: ${drain.trouble}`;
  const recovering = step?.target === 'Idle' && drain.begun.length > 0;
  if (recovering) return `giving back what was drained${trouble}`;
  if (drain.startedAt === null) return null;
  if (drain.drainedAt !== null) return last === undefined ? null : `drained${trouble}`;
  const index = last === undefined ? 0 : last.done ? last.step + 1 : last.step;
  const kind = drain.plan.steps[index]?.type;
  return kind === undefined
    ? `draining${trouble}`
    : `draining: step ${index + 1} of ${drain.plan.steps.length} (${kind})${trouble}`;
}
