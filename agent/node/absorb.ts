/** What the immediate answer to a command does to the record; everything else is judged by looking (`pursue`). */
import type { NodeRecord } from './memory.ts';
import { failed, type Limits, type Move, withStep } from './move.ts';
import type { CommandName, CommandOutcome } from '../updater/driver.ts';

/** Null when the answer settles nothing: accepted, or a connection that broke before it. */
export function absorb(
  record: NodeRecord,
  name: CommandName,
  outcome: CommandOutcome,
  now: number,
  limits: Limits,
): Move | null {
  const { step } = record;
  if (step === null || outcome.kind === 'accepted' || outcome.kind === 'unclear') return null;
  // Somebody else is at work: no failure. The state is read again before anything else is tried.
  if (outcome.kind === 'busy') return { kind: 'note', record: withStep(record, { ...step, pending: null }) };
  const later = withStep(record, { ...step, pending: null, notBefore: now + limits.retryAfterMs });
  // Recovery has nothing to fall back on: whatever was refused is tried again.
  if (step.target === 'Idle') return { kind: 'note', record: later };
  switch (name) {
    case 'refresh':
      return {
        kind: 'note',
        record: {
          ...withStep(record, {
            ...step,
            pending: null,
            notBefore: now + limits.retryAfterMs,
            refreshFailure: outcome.message,
          }),
          updateCheck: { result: 'Failed', message: outcome.message },
        },
      };
    case 'prepare':
      return outcome.status === 404
        ? failed(record, 'NothingOffered', outcome.message)
        : failed(record, 'PrepareFailed', outcome.message);
    case 'activate':
      return failed(record, 'ActivateFailed', outcome.message);
    case 'deactivate':
      return failed(record, 'DeactivateFailed', outcome.message);
    case 'reboot':
      return failed(record, 'RebootRefused', outcome.message);
  }
}
