/** What the agent's pure decisions are asked with: its limits, a node as it is seen, and a record on its way. */
import { newRecord, newStep, type NodeRecord, type StepRecord } from '../../../agent/node/memory.ts';
import type { Limits, Seen } from '../../../agent/node/move.ts';
import type { UpdateStatus, UpdateView } from '../../../agent/updater/update-status.ts';
import type { SpecState } from '../../../core/contract/words.ts';

export const limits: Limits = {
  deadlinesMs: {
    Idle: Number.POSITIVE_INFINITY,
    StagedUpdate: 600_000,
    PerformedUpdate: 240_000,
    RebootedIntoUpdate: 840_000,
    MonitoringUpdate: 240_000,
  },
  noProgressAfterMs: 30_000,
  rebootAgainAfterMs: 300_000,
  retryAfterMs: 30_000,
  drainEveryMs: 5000,
  checkEveryMs: 10_000,
  rollbackMs: 1_500_000,
  settingsWithinMs: 60_000,
  settingsEveryMs: 3000,
};
/** When each step of these tests began. */
export const T0 = 1_000_000;

/** On 1.0.0 in boot b1, with no update command since that boot, unless said otherwise. */
export const seen = (change: Partial<Seen> = {}): Seen => ({
  now: T0,
  bootId: 'b1',
  version: '1.0.0',
  update: { kind: 'none' },
  liveVms: 0,
  versionLock: 'latest',
  lockHeld: null,
  unwritable: null,
  ...change,
});

export const status = (change: Partial<UpdateStatus> = {}): UpdateView => ({
  kind: 'status',
  status: { state: 'Available', chosen: '2.0.0', staging: null, last: null, ...change },
});

/** A last command of the node's update API. */
export const ran = (type: string, outcome = 'Success', timestamp = 't1') => ({
  type,
  status: outcome,
  timestamp,
  detail: 'exit status 1: why',
});

export const pending = (name: 'refresh' | 'prepare' | 'activate' | 'deactivate' | 'reboot', issued = 1) => ({
  name,
  before: 't0',
  at: T0,
  issued,
});

/** From 1.0.0 to 2.0.0, on the way from one state to the next. */
export const onTheWay = (
  state: SpecState,
  target: SpecState,
  step: Partial<StepRecord> = {},
  change: Partial<NodeRecord> = {},
): NodeRecord => ({
  ...newRecord(5),
  state,
  fromVersion: '1.0.0',
  targetVersion: '2.0.0',
  bootIdAtStep: 'b1',
  ...change,
  step: { ...newStep(target, T0), ...step },
});
