// @ts-nocheck
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { createAlarms } from './alarms.ts';
import { chanceFrom } from './chance.ts';
import { AwsError, throttled, validation } from './errors.ts';
import { openJournal } from './journal.ts';
import { openAsyncInvocations, type DeadLetter } from './lambda.ts';
import { readName, readSchedule, StoredSchedule, NAME } from './scheduler-input.ts';
import { serveWire, type Surroundings, type WireRequest } from './wire.ts';

/** What goes wrong, and how often. All odds are "one in N"; 0 is never, 1 is always. */
export interface SchedulerFaults {
  /** A schedule fires this much after its instant, drawn evenly. Scheduler's own precision is 60 s. */
  latenessMs: readonly [min: number, max: number];
  /** Fires twice: delivery is at least once. */
  twiceOneIn: number;
  /** Accepted, and never fires. */
  loseOneIn: number;
  /** CreateSchedule and UpdateSchedule answer ThrottlingException. */
  refuseOneIn: number;
}

export const SCHEDULER_FAULTS: SchedulerFaults = {
  latenessMs: [0, 3_000],
  twiceOneIn: 20,
  loseOneIn: 0,
  refuseOneIn: 0,
};

export interface SchedulerOptions extends Surroundings {
  readonly port?: number;
  readonly dataDir: string;
  /** Schedule groups besides `default`. */
  readonly groups?: readonly string[];
  readonly seed?: number | undefined;
  readonly faults?: Partial<SchedulerFaults> | undefined;
  readonly invoke: (functionArn: string, payload: unknown) => Promise<unknown>;
  readonly deadLetter: (letter: DeadLetter) => void;
  readonly retryDelaysMs?: readonly number[];
}

export interface EmbeddedScheduler {
  readonly url: string;
  /** Begins to fire. Schedules that came due before are fired at once. */
  readonly start: () => void;
  /** Schedules stored. */
  readonly stored: number;
  /** Fires nothing more and waits for what is under way; requests are still answered. */
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const Stored = z.object({
  schedule: StoredSchedule,
  atMs: z.number(),
  fireAtMs: z.number(),
  /** How often it fires: 0 is lost. */
  times: z.number(),
  /** Fired, and kept because ActionAfterCompletion is NONE. */
  completed: z.boolean(),
  createdMs: z.number(),
  modifiedMs: z.number(),
});
type Stored = z.infer<typeof Stored>;

/** Starts the stand-in of EventBridge Scheduler: one-shot schedules of Lambda targets, strict, kept on disk. */
export async function startScheduler(options: SchedulerOptions): Promise<EmbeddedScheduler> {
  const faults = { ...SCHEDULER_FAULTS, ...options.faults };
  const chance = chanceFrom(options.seed);
  const groups = new Set(['default', ...(options.groups ?? [])]);
  const journal = openJournal(join(options.dataDir, 'schedules.jsonl'), (value) => z.parse(Stored, value));
  const alarms = createAlarms();
  let started = false;
  const invocations = openAsyncInvocations({
    file: join(options.dataDir, 'scheduler-invocations.jsonl'),
    service: 'scheduler',
    notify: options.notify,
    invoke: options.invoke,
    deadLetter: options.deadLetter,
    ...(options.retryDelaysMs === undefined ? {} : { retryDelaysMs: options.retryDelaysMs }),
  });

  const arnOf = (key: string): string => `arn:aws:scheduler:${options.region}:${options.accountId}:schedule/${key}`;

  const arm = (key: string, stored: Stored): void => {
    if (started) alarms.set(key, stored.fireAtMs, () => fire(key, stored));
  };
  const fire = (key: string, stored: Stored): void => {
    const { Target, State, ActionAfterCompletion } = stored.schedule;
    if (State === 'ENABLED') {
      const payload = targetPayload(stored, arnOf(key));
      for (let n = 0; n < stored.times; n += 1) {
        invocations.enqueue(Target.Arn, payload, Target.DeadLetterConfig?.Arn ?? null);
      }
    }
    if (ActionAfterCompletion === 'DELETE') journal.remove(key);
    else journal.put(key, { ...stored, completed: true });
  };
  const store = (key: string, body: unknown, name: string, earlier: Stored | undefined): { ScheduleArn: string } => {
    const now = Date.now();
    const { schedule, atMs } = readSchedule(name, body, now);
    const lateness = chance.between(...faults.latenessMs);
    const lost = chance.oneIn(faults.loseOneIn);
    const times = lost ? 0 : chance.oneIn(faults.twiceOneIn) ? 2 : 1;
    const createdMs = earlier?.createdMs ?? now;
    const stored = { schedule, atMs, fireAtMs: atMs + lateness, times, completed: false, createdMs, modifiedMs: now };
    journal.put(key, stored);
    arm(key, stored);
    return { ScheduleArn: arnOf(key) };
  };
  const keyOf = (group: string, name: string): string => {
    if (!NAME.test(group)) throw validation(`GroupName: ${JSON.stringify(group)} does not match ${NAME.source}`);
    if (!groups.has(group)) throw notFound(`Schedule group ${group} does not exist.`);
    return `${group}/${name}`;
  };
  const existing = (key: string): Stored => {
    const stored = journal.get(key);
    if (stored === undefined) throw notFound(`Schedule ${key.slice(key.indexOf('/') + 1)} does not exist.`);
    return stored;
  };

  const answer = (request: WireRequest): unknown => {
    const name = readName(request.path);
    const changes = request.method === 'POST' || request.method === 'PUT';
    if (changes && chance.oneIn(faults.refuseOneIn)) throw throttled();
    const group = changes ? groupIn(request.body) : (request.query.get('groupName') ?? 'default');
    const key = keyOf(group, name);
    switch (request.method) {
      case 'POST': {
        readSchedule(name, request.body, Date.now());
        if (journal.has(key)) throw new AwsError('ConflictException', `Schedule ${name} already exists.`, 409);
        return store(key, request.body, name, undefined);
      }
      case 'PUT':
        return store(key, request.body, name, existing(key));
      case 'GET':
        return describe(existing(key), arnOf(key));
      case 'DELETE':
        existing(key);
        alarms.cancel(key);
        journal.remove(key);
        return {};
      default:
        throw new AwsError('UnknownOperationException', `The stand-in has no ${request.method} ${request.path}`, 404);
    }
  };
  const server = await serveWire(options.port ?? 0, options, {
    signingName: 'scheduler',
    contentType: 'application/json',
    answer,
  });
  return {
    url: server.url,
    start: () => {
      started = true;
      invocations.start();
      for (const [key, stored] of journal.entries()) if (!stored.completed) arm(key, stored);
    },
    get stored() {
      return journal.size;
    },
    stop: () => {
      alarms.stop();
      return invocations.stop();
    },
    close: async () => {
      await server.close();
      invocations.close();
      journal.close();
    },
  };
}

const notFound = (message: string): AwsError => new AwsError('ResourceNotFoundException', message, 404);

function groupIn(body: unknown): string {
  if (typeof body !== 'object' || body === null || !('GroupName' in body)) return 'default';
  return typeof body.GroupName === 'string' ? body.GroupName : '';
}

function describe(stored: Stored, arn: string): unknown {
  return {
    ...stored.schedule,
    Arn: arn,
    CreationDate: stored.createdMs / 1000,
    LastModificationDate: stored.modifiedMs / 1000,
  };
}

/** The target's input, with the context attributes of the user guide put in. */
function targetPayload(stored: Stored, arn: string): unknown {
  const text = (stored.schedule.Target.Input ?? '{}')
    .replaceAll('<aws.scheduler.schedule-arn>', arn)
    .replaceAll('<aws.scheduler.scheduled-time>', new Date(stored.atMs).toISOString().replace('.000', ''))
    .replaceAll('<aws.scheduler.execution-id>', randomUUID())
    .replaceAll('<aws.scheduler.attempt-number>', '1');
  const payload: unknown = JSON.parse(text);
  return payload;
}
