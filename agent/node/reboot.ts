/** RebootedIntoUpdate: empty the node, reboot, prove the new boot, give back (DESIGN section 2). Pure. */
import { drain, undrain } from './drain.ts';
import type { NodeRecord, StepRecord } from './memory.ts';
import { act, failed, type Limits, type Move, notBegun, reached, type Seen, WAIT, withStep } from './move.ts';
import { ISSUES_MAX } from './pending.ts';

/** Nothing is drained before the update is known to be there to boot into, and nothing is reached before it is undone. */
export function reboot(record: NodeRecord, step: StepRecord, seen: Seen, limits: Limits): Move {
  if (seen.bootId !== record.bootIdAtStep) return proveBoot(record, step, seen);
  if (step.pending !== null) {
    if (seen.now - step.pending.at < limits.rebootAgainAfterMs) return WAIT;
    return step.pending.issued < ISSUES_MAX
      ? act(record, step, 'reboot', seen)
      : failed(record, 'NoProgress', 'the reboot was accepted twice and did not come');
  }
  const waitsToBegin = step.beginBefore !== null && !step.begun;
  if (waitsToBegin && seen.now >= (step.beginBefore ?? 0)) return notBegun(record);
  if (seen.update.kind === 'none') return failed(record, 'NotActivated', 'no update command has run since boot');
  if (seen.update.kind !== 'status') return WAIT;
  const { state, staging } = seen.update.status;
  if (state !== 'Ready' || staging === null || !staging.nextToBoot) {
    return failed(record, 'NotActivated', `the update is ${state}`);
  }
  if (staging.version !== record.targetVersion) {
    return failed(
      record,
      'VersionMoved',
      `${staging.version} is active instead of ${record.targetVersion ?? 'nothing'}`,
    );
  }
  const draining = drain(record, seen.now);
  if (draining !== null) return waitsToBegin ? beginning(draining) : draining;
  // The VMs here are ended once it has begun.
  if (seen.liveVms > 0) return waitsToBegin ? { kind: 'note', record: begun(record) } : WAIT;
  const rebooting = act(record, step, 'reboot', seen);
  return waitsToBegin ? beginning(rebooting) : rebooting;
}

/** That it has begun is on record with the first act that disturbs anybody: from there on it is done, however long it takes. */
function beginning(move: Move): Move {
  const disturbs = move.kind === 'act' || (move.kind === 'drain' && move.act === 'drain');
  return disturbs ? { ...move, record: begun(move.record) } : move;
}

const begun = (record: NodeRecord): NodeRecord =>
  record.step === null ? record : withStep(record, { ...record.step, begun: true });

/** Another boot id, and another version from /os. What was drained is given back before that is reported. */
function proveBoot(record: NodeRecord, step: StepRecord, seen: Seen): Move {
  if (seen.version === null) return WAIT;
  const booted = { ...record, activated: false };
  if (seen.version === record.fromVersion) {
    return failed(
      booted,
      'RolledBack',
      `booted back into ${seen.version} instead of ${record.targetVersion ?? 'the update'}`,
    );
  }
  const undoing = undrain(booted, seen.now);
  if (undoing !== null) return undoing === 'later' ? WAIT : undoing;
  return reached(booted, step, {
    // What was offered has been taken. The next refresh comes with Idle; until then no older offer is repeated.
    updateCheck: { result: 'UpToDate' },
    ...(seen.version === record.targetVersion ? {} : { notice: sayMoved(record, seen.version) }),
  });
}

const sayMoved = ({ targetVersion }: NodeRecord, version: string): string =>
  `runs ${version}, where ${targetVersion ?? 'another version'} had been staged`;
