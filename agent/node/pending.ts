/** Judging a command that was sent: 204 means only that it was started (facts, section 2.3). */
import type { Pending } from './memory.ts';
import type { UpdateStatus, UpdateView } from '../updater/update-status.ts';

export type Verdict =
  | { kind: 'succeeded'; status: UpdateStatus }
  | { kind: 'failed'; detail: string }
  /** Running, or not to be seen at the moment. */
  | { kind: 'waiting' }
  /** Accepted, and nothing has come of it: send it once more. */
  | { kind: 'again' }
  /** Twice accepted, and nothing has come of it. */
  | { kind: 'stuck' };

/** A command succeeded when the timestamp has changed AND the type is ours AND the status is Success. */
export function judgePending(pending: Pending, view: UpdateView, now: number, noProgressAfterMs: number): Verdict {
  if (view.kind === 'busy' || view.kind === 'unavailable' || view.kind === 'unparseable') return { kind: 'waiting' };
  const last = view.kind === 'status' ? view.status.last : null;
  const ours = last !== null && last.timestamp !== pending.before && last.type === pending.name;
  if (view.kind === 'status' && ours) {
    return last.status === 'Success'
      ? { kind: 'succeeded', status: view.status }
      : { kind: 'failed', detail: last.status === 'Failed' ? last.detail : `${last.status}: ${last.detail}` };
  }
  if (now - pending.at < noProgressAfterMs) return { kind: 'waiting' };
  return pending.issued < ISSUES_MAX ? { kind: 'again' } : { kind: 'stuck' };
}

export const ISSUES_MAX = 2;
