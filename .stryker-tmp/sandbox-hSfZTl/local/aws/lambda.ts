// @ts-nocheck
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { createAlarms } from './alarms.ts';
import type { Notify } from './errors.ts';
import { openJournal } from './journal.ts';

/** A Lambda function as a laptop has it: what it answers is ignored, what it throws is retried. */
export type EmbeddedFunction = (payload: unknown) => Promise<unknown>;

/** An event that was given up: what a dead-letter queue receives. */
export interface DeadLetter {
  readonly target: string;
  readonly payload: unknown;
  readonly deadLetterArn: string | null;
  readonly error: string;
}

export interface AsyncInvocationsOptions {
  readonly file: string;
  readonly service: string;
  readonly notify: Notify;
  readonly invoke: (target: string, payload: unknown) => Promise<unknown>;
  readonly deadLetter: (letter: DeadLetter) => void;
  /** Waits before the retries. Lambda waits 1 and 2 min; a laptop need not. Their number is the number of retries. */
  readonly retryDelaysMs?: readonly number[];
}

/** Lambda's asynchronous invocation: a queue on disk, two retries, then the dead letter. */
export interface AsyncInvocations {
  /** Takes the event over. From here on it is invoked at least once, a kill notwithstanding. */
  readonly enqueue: (target: string, payload: unknown, deadLetterArn?: string | null) => void;
  /** Begins to invoke; what was enqueued before waits for it. */
  readonly start: () => void;
  readonly pending: number;
  /** Invokes nothing more and waits for what is under way; the rest, and what is enqueued later, stays on disk. */
  readonly stop: () => Promise<void>;
  readonly close: () => void;
}

const Invocation = z.object({
  target: z.string(),
  payload: z.unknown(),
  deadLetterArn: z.nullable(z.string()),
  attempt: z.number(),
});
type Invocation = z.infer<typeof Invocation>;

const RETRY_DELAYS_MS = [1_000, 2_000] as const;

/** Opens the queue of asynchronous invocations. */
export function openAsyncInvocations(options: AsyncInvocationsOptions): AsyncInvocations {
  const { service, notify } = options;
  const delays = options.retryDelaysMs ?? RETRY_DELAYS_MS;
  const journal = openJournal(options.file, (value) => z.parse(Invocation, value));
  const alarms = createAlarms();
  const running = new Set<Promise<void>>();
  let started = false;
  let stopped = false;

  const run = async (id: string, invocation: Invocation): Promise<void> => {
    try {
      await options.invoke(invocation.target, invocation.payload);
      journal.remove(id);
    } catch (error) {
      failed(id, invocation, error);
    }
  };
  const failed = (id: string, invocation: Invocation, error: unknown): void => {
    const delay = delays[invocation.attempt];
    const outcome = delay === undefined ? 'given up' : `tried again in ${delay} ms`;
    notify({ level: 'error', service, message: `${invocation.target} threw; ${outcome}`, error });
    if (delay === undefined) {
      const { target, payload, deadLetterArn } = invocation;
      options.deadLetter({ target, payload, deadLetterArn, error: String(error) });
      journal.remove(id);
      return;
    }
    const next = { ...invocation, attempt: invocation.attempt + 1 };
    journal.put(id, next);
    if (!stopped) alarms.set(id, Date.now() + delay, () => launch(id, next));
  };
  const launch = (id: string, invocation: Invocation): void => {
    const work = run(id, invocation)
      .catch((error: unknown) => {
        // Neither done nor given up: it stays in the journal, and the next start tries it again.
        notify({ level: 'error', service, message: `what became of ${invocation.target} could not be kept`, error });
      })
      .finally(() => running.delete(work));
    running.add(work);
  };
  return {
    enqueue: (target, payload, deadLetterArn = null) => {
      const id = randomUUID();
      const invocation = { target, payload, deadLetterArn, attempt: 0 };
      journal.put(id, invocation);
      if (started && !stopped) launch(id, invocation);
    },
    start: () => {
      started = true;
      // A copy: what an invocation enqueues is launched by `enqueue`.
      const waiting = [...journal.entries()];
      for (const [id, invocation] of waiting) launch(id, invocation);
    },
    get pending() {
      return journal.size;
    },
    stop: async () => {
      stopped = true;
      alarms.stop();
      await Promise.all(running);
    },
    close: journal.close,
  };
}
