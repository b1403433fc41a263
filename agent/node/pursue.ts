/** How each state is reached (DESIGN section 2, facts sections 2.3 and 4). One function a state; each is pure. */
import type { NodeRecord, StepRecord } from './memory.ts';
import { check } from './monitor.ts';
import { act, failed, type Limits, type Move, reached, type Seen, WAIT, withStep } from './move.ts';
import { judgeOffer, updateCheckOf } from './offer.ts';
import { judgePending } from './pending.ts';
import { reboot } from './reboot.ts';
import { recover } from './recover.ts';
import type { UpdateStatus } from '../updater/update-status.ts';

export function pursue(record: NodeRecord, step: StepRecord, seen: Seen, limits: Limits): Move {
  switch (step.target) {
    case 'Idle':
      return recover(record, step, seen, limits);
    case 'StagedUpdate':
      return stage(record, step, seen, limits);
    case 'PerformedUpdate':
      return activate(record, step, seen, limits);
    case 'RebootedIntoUpdate':
      return reboot(record, step, seen, limits);
    case 'MonitoringUpdate':
      return monitor(record, step, seen, limits);
  }
}

/** Without checks the running version is proof enough. */
function monitor(record: NodeRecord, step: StepRecord, seen: Seen, limits: Limits): Move {
  if (seen.version === null) return WAIT;
  return record.monitor === null ? reached(record, step) : check(record, seen.now, limits);
}

/** A fresh refresh, then prepare. Nothing here disrupts, so a boot in between only means to begin again. */
function stage(record: NodeRecord, step: StepRecord, seen: Seen, limits: Limits): Move {
  if (seen.bootId !== record.bootIdAtStep) {
    if (seen.version === null) return WAIT;
    const afresh = { ...step, refreshed: false, refreshFailure: null, pending: null, notBefore: null };
    return { kind: 'note', record: { ...record, step: afresh, bootIdAtStep: seen.bootId, fromVersion: seen.version } };
  }
  if (step.pending !== null) {
    const verdict = judgePending(step.pending, seen.update, seen.now, limits.noProgressAfterMs);
    switch (verdict.kind) {
      case 'waiting':
        return WAIT;
      case 'again':
        return act(record, step, step.pending.name, seen);
      case 'stuck':
        return failed(record, 'NoProgress', `${step.pending.name} was accepted twice and nothing came of it`);
      case 'failed':
        return stagingFailed(record, step, step.pending.name, verdict.detail, seen.now + limits.retryAfterMs);
      case 'succeeded':
        return stagingWent(record, step, step.pending.name, verdict.status, seen.versionLock);
    }
  }
  if (seen.update.kind === 'busy') return WAIT;
  if (!step.refreshed) return act(record, step, 'refresh', seen);
  if (seen.update.kind !== 'status') return WAIT;
  return stageOffered(record, step, seen.update.status, seen);
}

function stagingFailed(record: NodeRecord, step: StepRecord, command: string, detail: string, retryAt: number): Move {
  if (command === 'refresh') {
    // Not a crash: it is tried again until the deadline.
    return {
      kind: 'note',
      record: {
        ...withStep(record, { ...step, pending: null, refreshFailure: detail, notBefore: retryAt }),
        updateCheck: { result: 'Failed', message: detail },
      },
    };
  }
  return failed(
    record,
    command === 'deactivate' ? 'DeactivateFailed' : 'PrepareFailed',
    `${command} failed: ${detail}`,
  );
}

function stagingWent(
  record: NodeRecord,
  step: StepRecord,
  command: string,
  status: UpdateStatus,
  lock: string | null,
): Move {
  const { staging } = status;
  switch (command) {
    case 'refresh':
      return {
        kind: 'note',
        record: {
          ...withStep(record, { ...step, pending: null, refreshed: true, refreshFailure: null }),
          updateCheck: updateCheckOf(status, record.fromVersion, lock),
        },
      };
    case 'deactivate':
      return { kind: 'note', record: { ...withStep(record, { ...step, pending: null }), activated: false } };
    default:
      if (status.state !== 'Staged' || staging === null) {
        return failed(record, 'PrepareFailed', `prepare succeeded, yet the update is ${status.state}`);
      }
      return reached(record, step, stagedAs(staging.version));
  }
}

/** The version staged is the version reported, also where a newer one has been chosen meanwhile. */
const stagedAs = (version: string): Partial<NodeRecord> => ({
  targetVersion: version,
  updateCheck: { result: 'Available', version },
});

function stageOffered(record: NodeRecord, step: StepRecord, status: UpdateStatus, seen: Seen): Move {
  const { state, staging, chosen } = status;
  const activated = state === 'Ready' && staging !== null && (chosen === null || staging.version === chosen);
  const offered = activated ? staging.version : chosen;
  if (state === 'Ready' && offered === null) return act(record, step, 'deactivate', seen);
  if (state === 'Idle' || offered === null) {
    return failed(record, 'NothingOffered', 'the refresh of this attempt offers no update');
  }
  const offer = judgeOffer(offered, record.fromVersion, seen.versionLock);
  if (offer.kind === 'older') return failed(record, 'DowngradeOffered', offer.message);
  if (offer.kind === 'unclear') return WAIT;
  // An operator was here before us, or our record was lost: it is what we would have done.
  if (activated) return reached(record, step, stagedAs(offered));
  return act(record, step, state === 'Ready' ? 'deactivate' : 'prepare', seen);
}

/** Marks the staged set for the next boot. It must be the one that was staged. */
function activate(record: NodeRecord, step: StepRecord, seen: Seen, limits: Limits): Move {
  if (seen.bootId !== record.bootIdAtStep) {
    if (seen.version === null) return WAIT;
    // Somebody else's reboot came first. Into the update: what is left to do is to prove it. Else: a crash.
    return seen.version === record.fromVersion
      ? failed(record, 'UnexpectedReboot', `the node rebooted into ${seen.version} during activation`)
      : reached(record, step, { activated: false });
  }
  if (step.pending !== null) {
    const verdict = judgePending(step.pending, seen.update, seen.now, limits.noProgressAfterMs);
    switch (verdict.kind) {
      case 'waiting':
        return WAIT;
      case 'again':
        return act(record, step, 'activate', seen);
      case 'stuck':
        return failed(record, 'NoProgress', 'activate was accepted twice and nothing came of it');
      case 'failed':
        return failed(record, 'ActivateFailed', `activate failed: ${verdict.detail}`);
      case 'succeeded':
        return verdict.status.state === 'Ready'
          ? reached(record, step)
          : failed(record, 'ActivateFailed', `activate succeeded, yet the update is ${verdict.status.state}`);
    }
  }
  if (seen.update.kind === 'none') return failed(record, 'NotStaged', 'no update command has run since boot');
  if (seen.update.kind !== 'status') return WAIT;
  const { state, staging } = seen.update.status;
  if ((state !== 'Staged' && state !== 'Ready') || staging === null) {
    return failed(record, 'NotStaged', `the update is ${state}`);
  }
  if (staging.version !== record.targetVersion) {
    return failed(
      record,
      'VersionMoved',
      `${staging.version} is staged instead of ${record.targetVersion ?? 'nothing'}`,
    );
  }
  return state === 'Ready' ? reached(record, step) : act(record, step, 'activate', seen);
}
