/** The moves a decision about the node can be, and the record each leaves behind. */
import type { AgentDrainStep, DrainAct } from './drain-record.ts';
import type { NodeRecord, StepRecord } from './memory.ts';
import type { AgentCheck } from './monitor-record.ts';
import type { CommandName } from '../updater/driver.ts';
import type { HeldLock, LockChange } from '../updater/version-lock.ts';
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
  /** Why the record cannot be written at the moment; null: it can. */
  readonly unwritable: string | null;
  /** What of the version-lock is ours; null: nothing. */
  readonly lockHeld: HeldLock | null;
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
  /** A changed setting has to show in a refresh within this, asked for again and again. */
  readonly settingsWithinMs: number;
  readonly settingsEveryMs: number;
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
  /** Change settings.updates.version-lock, and whose it is. */
  | { kind: 'lock'; record: NodeRecord; change: LockChange }
  /** The step has ended, well or badly: keep this record and report. */
  | { kind: 'end'; record: NodeRecord };

export const WAIT: Move = { kind: 'wait' };

/**
 * Until when a step may take: as the control plane says. One that is too old to say it leaves the agent's own settings,
 * and for health checks what it allows if that is less; draining then has a time of its own, and the reboot's begins after it.
 */
export function limitOf({ monitor, drain }: NodeRecord, step: StepRecord, limits: Limits): number {
  const { target, startedAt, until } = step;
  if (until !== null) return until;
  const own = limits.deadlinesMs[target];
  if (target === 'MonitoringUpdate') return startedAt + Math.min(own, (monitor?.plan.withinSeconds ?? Infinity) * 1000);
  if (target !== 'RebootedIntoUpdate' || drain === null || drain.startedAt === null) return startedAt + own;
  return (drain.drainedAt ?? drain.startedAt + drain.plan.timeoutSeconds * 1000) + own;
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

/** The step was not begun, since it was heard of too late: it is as if it had not been asked for, until it is asked anew. */
export const notBegun = (record: NodeRecord): Move => ({
  kind: 'end',
  record: { ...record, step: null, drain: null, notBegun: true },
});

/** The step has failed; what had been done stays on record, so that recovery can undo it. */
export const failed = (record: NodeRecord, reason: string, message: string): Move => ({
  kind: 'end',
  record: { ...record, step: null, error: { reason, message } },
});
