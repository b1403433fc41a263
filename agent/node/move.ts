/** The moves a decision about the node can be, and the record each leaves behind. */
import type { AgentDrainStep, DrainAct } from './drain-record.ts';
import type { CommandName, NodeRecord, StepRecord } from './memory.ts';
import type { AgentCheck } from './monitor-record.ts';
import type { UpdateView } from '../updater/update-status.ts';
import { lastTimestamp } from '../updater/update-status.ts';

/** What the agent sees of its host at one moment. */
export type Seen = {
  readonly now: number;
  readonly bootId: string;
  /** From /os; null when it does not answer. */
  readonly version: string | null;
  readonly update: UpdateView;
  /** Instances that live on this host. */
  readonly liveVms: number;
  /** settings.updates.version-lock, read only while staging and rolling back; null when it was not, or did not answer. */
  readonly versionLock: string | null;
};

export type Limits = {
  readonly deadlinesMs: Readonly<Record<StepRecord['target'], number>>;
  readonly noProgressAfterMs: number;
  readonly rebootAgainAfterMs: number;
  /** Between tries of a refresh or a deactivation that failed. */
  readonly retryAfterMs: number;
  /** Between looks at a drain under way. */
  readonly drainEveryMs: number;
  /** Between rounds of health checks. */
  readonly checkEveryMs: number;
  /** For a whole way back to the old version. */
  readonly rollbackMs: number;
};

export type Move =
  /** Nothing is to be done. */
  | { kind: 'rest' }
  /** A step is under way; look again soon. */
  | { kind: 'wait' }
  /** Keep this record, then decide again. */
  | { kind: 'note'; record: NodeRecord }
  /** Keep this record, then send the command. */
  | { kind: 'act'; record: NodeRecord; command: CommandName }
  /** Ask the adapter of one drain step. */
  | {
      kind: 'drain';
      act: DrainAct;
      record: NodeRecord;
      index: number;
      step: AgentDrainStep;
      /** What is ours of it; null when that is not known. */
      mine: string[] | null;
    }
  /** Run the health checks. */
  | { kind: 'check'; record: NodeRecord; checks: readonly AgentCheck[] }
  /** Set settings.updates.version-lock. */
  | { kind: 'lock'; record: NodeRecord; version: string }
  /** The step has ended, well or badly: keep this record and report. */
  | { kind: 'end'; record: NodeRecord };

export const WAIT: Move = { kind: 'wait' };

/** How long a step may take: the agent's own setting, and for health checks what the control plane allows if that is less. */
export function allowedMs({ monitor }: NodeRecord, { target }: StepRecord, limits: Limits): number {
  const own = limits.deadlinesMs[target];
  const within = target === 'MonitoringUpdate' ? monitor?.plan.withinSeconds : undefined;
  return within === undefined ? own : Math.min(own, within * 1000);
}

export const withStep = (record: NodeRecord, step: StepRecord): NodeRecord => ({ ...record, step });

/** Sends a command, with the timestamp it has to change on record. */
export function act(record: NodeRecord, step: StepRecord, command: CommandName, seen: Seen): Move {
  if (step.notBefore !== null && seen.now < step.notBefore) return WAIT;
  const again = step.pending?.name === command ? step.pending.issued : 0;
  const pending = { name: command, before: lastTimestamp(seen.update), at: seen.now, issued: again + 1 };
  return {
    kind: 'act',
    command,
    record: {
      ...record,
      activated: record.activated || command === 'activate',
      step: { ...step, pending, notBefore: null },
    },
  };
}

/** The step's state is reached. */
export function reached(record: NodeRecord, step: StepRecord, change: Partial<NodeRecord> = {}): Move {
  return { kind: 'end', record: { ...record, ...change, state: step.target, step: null, error: null } };
}

/** The step has failed; what had been done stays on record, so that recovery can undo it. */
export const failed = (record: NodeRecord, reason: string, message: string): Move => ({
  kind: 'end',
  record: { ...record, step: null, error: { reason, message } },
});
