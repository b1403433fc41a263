/** Asks for the list of what should run here whenever somebody wants it, until it has come. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostVm } from '../../core/contract/agent-answers.ts';
import type { ControlPlane } from '../api/client.ts';
import { retryWaitMs } from '../backoff.ts';
import { messageOf, RefusedError } from '../failure.ts';
import type { Latch } from '../latch.ts';
import type { Log } from '../log.ts';

export type ListsOptions = {
  readonly plane: Pick<ControlPlane, 'hostVms'>;
  readonly asked: Latch;
  /** @param askedAt when it was asked for, in milliseconds of the boot clock */
  readonly follow: (items: readonly HostVm[], askedAt: number) => void;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
  readonly ended: AbortSignal;
};

/** Between two lists: what a stale list makes this host report must not ask for the next one in a circle. */
const LIST_PAUSE_MS = 250;

/** Runs until the agent ends. */
export async function followLists({ plane, asked, follow, now, random, log, ended }: ListsOptions): Promise<void> {
  let failures = 0;
  let waitMs = Number.MAX_SAFE_INTEGER;
  while (!ended.aborted) {
    if (!(await asked.wait(waitMs)) && failures === 0) continue;
    if (ended.aborted) return;
    waitMs = Number.MAX_SAFE_INTEGER;
    try {
      const askedAt = now();
      follow(await plane.hostVms(), askedAt);
      failures = 0;
      await sleep(LIST_PAUSE_MS, undefined, { ref: false });
    } catch (error) {
      failures += 1;
      // A lasting refusal is asked about again with the next report.
      if (!(error instanceof RefusedError && error.lasting)) waitMs = retryWaitMs(failures, random());
      if (!ended.aborted) log('warn', 'vm list failed', { why: messageOf(error) });
    }
  }
}
