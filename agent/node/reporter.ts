/** Reports the node at the pace it is told, on a wake, and as soon as there is something to say. */
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import { reportWaitMs, retryWaitMs } from '../backoff.ts';
import { AgentError, messageOf, RefusedError } from '../failure.ts';
import type { Latch } from '../latch.ts';
import type { Log } from '../log.ts';
import { type Memory, STATE_LOST } from './memory.ts';
import { sayBlockers, sayProgress } from './progress.ts';
import type { UpdateDriver } from '../updater/driver.ts';
import { type NodeAnswer, type Wanted, wantedOf } from './wanted.ts';
import type { Worker } from './worker.ts';

export type ReporterOptions = {
  readonly send: (report: NodeReport) => Promise<NodeAnswer>;
  readonly worker: Worker;
  readonly driver: UpdateDriver;
  readonly bootId: () => string;
  readonly uptime: () => number;
  readonly group: string | null;
  /** The failure domain it runs in; null while nobody has said. */
  readonly zone: () => string | null;
  /** What is wrong with the host besides its node: its clock. */
  readonly hostTroubles: () => string[];
  /** The clock of durations. */
  readonly now: () => number;
  readonly agentVersion: string;
  readonly slowRetryMs: number;
  readonly random: () => number;
  readonly log: Log;
  readonly ended: AbortSignal;
  /** Set when a report is to be sent at once. */
  readonly latch: Latch;
  /** What is said of the VMs here: asked for just before a report is sent, and told of its answer. */
  readonly vms: () => {
    readonly fields: Pick<NodeReport, 'instances' | 'unexpected'>;
    readonly answered: (answer: NodeAnswer) => void;
  };
  /** Called after each answered report. */
  readonly reported: () => void;
};

/** What a memory says of the node: its generation, its state, its error. */
export function standingOf(memory: Memory): Pick<NodeReport, 'generation' | 'state' | 'error' | 'notBegun'> {
  switch (memory.kind) {
    case 'fresh':
      return { state: 'Idle' };
    case 'lost':
      // Without a generation: it can complete nothing and fail nothing until Idle has been reached.
      return { state: 'ErrorReset', error: { reason: STATE_LOST, message: memory.why } };
    case 'kept': {
      const { generation, state, error, notBegun } = memory.record;
      if (error === null) return { generation, state, ...(notBegun ? { notBegun } : {}) };
      return error.reason === STATE_LOST ? { state: 'ErrorReset', error } : { generation, state: 'ErrorReset', error };
    }
  }
}

export async function runReporter(options: ReporterOptions): Promise<void> {
  const { worker, ended, latch, now, random } = options;
  const report = createReport(options);
  const soak = new Soak();
  let failures = 0;
  await Promise.race([worker.ready, aborted(ended)]);
  while (!ended.aborted) {
    const sentAt = now();
    const waitMs = await report().then(
      ({ answer, state }) => {
        failures = 0;
        const wanted = wantedOf(answer.desired, sentAt);
        worker.want(wanted);
        options.reported();
        return Math.min(reportWaitMs(answer.reportEverySeconds, random()), soak.leftMs(wanted, state, now()));
      },
      (error: unknown) => {
        failures += 1;
        return retryWait(options, error, failures);
      },
    );
    await latch.wait(waitMs);
  }
}

/** The end of the soak time: a report then lets the node go on at once (DESIGN section 2 rule 1). */
class Soak {
  #generation: number | null = null;
  #endsAt = 0;

  /** Until that report is due; Infinity when none is. Counted from the first answer that had heard of the passing checks. */
  leftMs({ generation, soakMs, state: wanted }: Wanted, reported: NodeReport['state'], now: number): number {
    if (soakMs == null || wanted !== 'MonitoringUpdate' || reported !== 'MonitoringUpdate') {
      this.#generation = null;
      return Infinity;
    }
    if (this.#generation !== generation) this.#endsAt = now + soakMs;
    this.#generation = generation;
    return now < this.#endsAt ? this.#endsAt - now : Infinity;
  }
}

function createReport(options: ReporterOptions): () => Promise<{ answer: NodeAnswer; state: NodeReport['state'] }> {
  const { worker } = options;
  let version: string | null = null;
  return async () => {
    const os = await options.driver.version();
    if ('version' in os) version = os.version;
    const { memory } = worker;
    const standing = standingOf(memory);
    const progress = [sayProgress(memory), ...worker.troubles(), ...options.hostTroubles()].filter(
      (part) => part !== null,
    );
    const blockedBy = sayBlockers(memory);
    const zone = options.zone();
    const vms = options.vms();
    const answer = await options.send({
      ...standing,
      ...(progress.length === 0 ? {} : { progress: progress.join('; ') }),
      ...(blockedBy.length === 0 ? {} : { drain: { blockedBy } }),
      bootId: options.bootId(),
      currentVersion: version ?? 'unknown',
      updateCheck: worker.updateCheck,
      uptime: options.uptime(),
      agentVersion: options.agentVersion,
      ...(options.group === null ? {} : { group: options.group }),
      ...(zone === null ? {} : { zone }),
      ...vms.fields,
    });
    vms.answered(answer);
    return { answer, state: standing.state };
  };
}

function retryWait({ slowRetryMs, random, log, ended }: ReporterOptions, error: unknown, failures: number): number {
  const lasting =
    error instanceof RefusedError ? error.lasting : error instanceof AgentError && error.code !== 'Network';
  const waitMs = lasting ? slowRetryMs : retryWaitMs(failures, random());
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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
