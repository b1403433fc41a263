/** What is offered, asked for while nothing is under way: one refresh, judged by its own outcome (DESIGN section 2 rule 5). */
import type { UpdateCheck } from '../../core/contract/agent-bodies.ts';
import { updateCheckOf } from './offer.ts';
import { judgePending } from './pending.ts';
import type { UpdateDriver } from '../updater/driver.ts';
import { lastTimestamp } from '../updater/update-status.ts';

export type RefreshTools = {
  readonly api: UpdateDriver;
  readonly now: () => number;
  /** Waits one poll; resolves at once when the agent has something better to do. */
  readonly pause: () => Promise<void>;
  /** True when it is to be given up: a step is wanted, or the agent ends. */
  readonly interrupted: () => boolean;
  readonly timeoutMs: number;
};

/**
 * Refreshes and says what is offered. A refresh that fails, or does not show, is Failed with its reason and never
 * UpToDate. Null when it was interrupted.
 */
export async function refreshOffer(tools: RefreshTools): Promise<UpdateCheck | null> {
  const { api, now } = tools;
  const until = now() + tools.timeoutMs;
  const late = (why: string): UpdateCheck => ({ result: 'Failed', message: why });
  let before: string | null | undefined;
  for (;;) {
    if (tools.interrupted()) return null;
    const view = await api.look();
    if (before === undefined && view.kind !== 'busy') {
      const outcome = await api.command('refresh');
      if (outcome.kind === 'refused' || outcome.kind === 'unclear') return late(outcome.message);
      if (outcome.kind === 'accepted') before = lastTimestamp(view);
    } else if (before !== undefined) {
      const pending = { name: 'refresh' as const, before, at: now(), issued: 1 };
      const verdict = judgePending(pending, view, now(), Number.POSITIVE_INFINITY);
      if (verdict.kind === 'succeeded') {
        const [os, lock] = await Promise.all([api.version(), api.versionLock()]);
        return updateCheckOf(verdict.status, 'version' in os ? os.version : null, lock);
      }
      if (verdict.kind === 'failed') return late(`refresh failed: ${verdict.detail}`);
    }
    if (now() >= until) {
      if (view.kind === 'busy') return late(view.message ?? 'the update API is busy (423)');
      return late('message' in view ? view.message : 'the refresh was accepted and nothing came of it');
    }
    await tools.pause();
  }
}
