/** Reports the node at the pace it is told, on a wake, and as soon as there is something to say. */
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import { reportWaitMs, retryWaitMs } from '../backoff.ts';
import { AgentError, messageOf, RefusedError } from '../failure.ts';
import type { Latch } from '../latch.ts';
import type { Log } from '../log.ts';
import type { Memory } from './memory.ts';
import { sayBlockers, sayProgress } from './progress.ts';
import type { UpdateApi } from '../updater/update-api.ts';
import type { NodeAnswer } from './wanted.ts';
import type { Worker } from './worker.ts';

export type ReporterOptions = {
  readonly send: (report: NodeReport) => Promise<NodeAnswer>;
  readonly worker: Worker;
  readonly api: UpdateApi;
  readonly bootId: () => string;
  readonly uptime: () => number;
  readonly group: string | null;
  readonly agentVersion: string;
  readonly slowRetryMs: number;
  readonly random: () => number;
  readonly log: Log;
  readonly ended: AbortSignal;
  /** Set when a report is to be sent at once. */
  readonly latch: Latch;
  /** Called after each answered report. */
  readonly reported: () => void;
};

/** What a memory says of the node: its generation, its state, its error. */
export function standingOf(memory: Memory): Pick<NodeReport, 'generation' | 'state' | 'error'> {
  switch (memory.kind) {
    case 'fresh':
      return { state: 'Idle' };
    case 'lost':
      // Without a generation: it can complete nothing and fail nothing until Idle has been reached.
      return { state: 'ErrorReset', error: { reason: 'StateLost', message: memory.why } };
    case 'kept': {
      const { generation, state, error } = memory.record;
      if (error === null) return { generation, state };
      return error.reason === 'StateLost' ? { state: 'ErrorReset', error } : { generation, state: 'ErrorReset', error };
    }
  }
}

export async function runReporter(options: ReporterOptions): Promise<void> {
  const { worker, log, ended, latch } = options;
  let version: string | null = null;
  let failures = 0;
  await Promise.race([worker.ready, aborted(ended)]);
  while (!ended.aborted) {
    const waitMs = await report().then(
      (answer) => {
        failures = 0;
        worker.want(answer.desired);
        options.reported();
        return reportWaitMs(answer.reportEverySeconds, options.random());
      },
      (error: unknown) => {
        failures += 1;
        return retryWait(error);
      },
    );
    await latch.wait(waitMs);
  }

  async function report(): Promise<NodeAnswer> {
    const os = await options.api.version();
    if ('version' in os) version = os.version;
    const memory = worker.memory();
    const progress = sayProgress(memory);
    const blockedBy = sayBlockers(memory);
    return options.send({
      ...standingOf(memory),
      ...(progress === null ? {} : { progress }),
      ...(blockedBy.length === 0 ? {} : { drain: { blockedBy } }),
      bootId: options.bootId(),
      currentVersion: version ?? 'unknown',
      updateCheck: worker.updateCheck(),
      uptime: options.uptime(),
      agentVersion: options.agentVersion,
      ...(options.group === null ? {} : { group: options.group }),
    });
  }

  function retryWait(error: unknown): number {
    const lasting =
      error instanceof RefusedError ? error.lasting : error instanceof AgentError && error.code !== 'Network';
    const waitMs = lasting ? options.slowRetryMs : retryWaitMs(failures, options.random());
    if (!ended.aborted) {
      log(lasting ? 'error' : 'warn', 'report failed', {
        code: error instanceof AgentError ? error.code : null,
        problem: error instanceof RefusedError ? error.problem : null,
        why: messageOf(error),
        nextTryMs: waitMs,
      });
    }
    return waitMs;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
