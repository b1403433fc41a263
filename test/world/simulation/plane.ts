/** The control plane under test: the real handlers' operations with the real adapters, each invocation of its own. */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Answer, Call, Caller } from './call.ts';
import { createApp } from '../../../functions/http/app.ts';
import { EventBridgeBus } from '../../../functions/aws/bus.ts';
import { DynamoStore } from '../../../functions/aws/dynamodb-store.ts';
import { wakeNodes } from '../../../functions/aws/run-command.ts';
import { AwsTimers } from '../../../functions/aws/timers.ts';
import { SqsWakes } from '../../../functions/aws/wakes.ts';
import type { Env } from '../../../functions/env.ts';
import { deliverWakes } from '../../../functions/operations/deliver-wakes.ts';
import { handleTimerEvent } from '../../../functions/operations/firings.ts';
import { sweep } from '../../../functions/operations/sweep.ts';
import { noteWakeStatus } from '../../../functions/operations/wake-status.ts';
import type { ControlPlane } from '../../../functions/ports.ts';
import { parseNodeId } from '../../../core/kit/ids.ts';
import { instant } from '../../../core/kit/time.ts';
import { seededDraws } from '../../../world/random.ts';
import type { Faults } from './faults.ts';
import type { Ended, Invocation, Kernel } from './kernel.ts';
import { COMMAND_QUEUE, type Services, VERNIER_QUEUE } from './services.ts';

const ACCOUNT = '000000000000';
const NODE_ROLE = 'HoldoffNode';

const ENV: Env = {
  table: 'holdoff',
  scheduleGroup: 'holdoff',
  schedulerRoleArn: 'role',
  timerTargetArn: 'timer',
  timerDeadLetterArn: 'dead',
  vernierQueueUrl: VERNIER_QUEUE,
  commandQueueUrl: COMMAND_QUEUE,
  wakeDocument: 'holdoff-wake',
  eventBus: 'holdoff',
  accountId: ACCOUNT,
  nodeRoles: [NODE_ROLE],
  idleReportSeconds: 900,
  activeReportSeconds: 15,
};

const userArn = (caller: Caller): string | undefined => {
  switch (caller.kind) {
    case 'operator':
      return `arn:aws:iam::${ACCOUNT}:user/operator`;
    case 'node':
      return `arn:aws:sts::${ACCOUNT}:assumed-role/${NODE_ROLE}/${caller.nodeId}`;
    case 'stranger':
      return 'arn:aws:iam::999999999999:user/operator';
    case 'nobody':
      return undefined;
  }
};

export class Plane {
  readonly #kernel: Kernel;
  readonly #services: Services;
  readonly #faults: Faults;
  readonly #draw: () => number;
  readonly #plane: ControlPlane;
  readonly #app: ReturnType<typeof createApp>;
  /** Lines that the handlers logged, newest last: what a person would look at. */
  readonly log: string[] = [];

  constructor(kernel: Kernel, services: Services, faults: Faults, seed: number, draw: () => number) {
    this.#kernel = kernel;
    this.#services = services;
    this.#faults = faults;
    this.#draw = draw;
    const { dynamodb, scheduler, sqs, events } = services.clients;
    const clock = (): ReturnType<typeof instant> => instant(kernel.now);
    this.#plane = {
      store: new DynamoStore(dynamodb, ENV.table, clock),
      timers: new AwsTimers(scheduler, sqs, ENV),
      wakes: new SqsWakes(sqs, COMMAND_QUEUE),
      bus: new EventBridgeBus(events, ENV.eventBus),
      telemetry: {
        metric: () => undefined,
        warn: (message, detail) => void this.log.push(`${message} ${JSON.stringify(detail)}`),
      },
      now: clock,
      draw: seededDraws(seed),
      pause: (ms) => kernel.wait(kernel.current, ms),
      settings: {
        idleReportSeconds: ENV.idleReportSeconds,
        activeReportSeconds: ENV.activeReportSeconds,
        table: ENV.table,
      },
    };
    const eventLog = {
      append: (): Promise<void> => Promise.resolve(),
      read: (): Promise<{ items: never[]; cursor: null }> => Promise.resolve({ items: [], cursor: null }),
    };
    this.#app = createApp(this.#plane, eventLog, { accountId: ACCOUNT, nodeRoles: [NODE_ROLE] });
  }

  /**
   * A request to the API.
   * @param told with null when the process died and API Gateway answers for it
   */
  async request(
    { caller, method, path, body }: Call,
    serving: (self: Invocation) => void,
    told: (answer: Answer | null, self: Invocation) => void,
  ): Promise<void> {
    const arn = userArn(caller);
    const init: RequestInit =
      method === 'GET' ? { method } : { method, body: body === undefined ? '' : JSON.stringify(body) };
    let served: Invocation | null = null as Invocation | null; // assigned in the closure below
    const ended = await this.#invoke(`${method} ${path}`, async (self) => {
      served = self;
      serving(self);
      const response = await this.#app.request(path, init, arn === undefined ? {} : { iam: { userArn: arn } });
      return { status: response.status, body: await response.json() };
    });
    if (ended.kind === 'failed') throw ended.error;
    if (served !== null) told(ended.kind === 'done' ? ended.value : null, served);
  }

  /** Scheduler's target: Lambda tries an asynchronous invocation three times. */
  timer(message: string, attempt = 0): void {
    const event: unknown = JSON.parse(message);
    this.#kernel.guard(
      // What the adapter gave to Scheduler is an object.
      this.#invoke('timer', () => handleTimerEvent(this.#plane, event as Record<string, unknown>)).then((ended) => {
        if (ended.kind !== 'done' && attempt < 2)
          this.#kernel.in(60_000 * (attempt + 1), () => this.timer(message, attempt + 1));
      }),
    );
  }

  /** A message of a queue; it is delivered again when its consumer fails, four times in all. */
  message(queue: string, body: string, attempt = 0): void {
    // The consumers read nothing else of a record.
    const event = { Records: [{ messageId: `message-${body}`, body }] } as SQSEvent;
    const { ssm } = this.#services.clients;
    const work = (): Promise<SQSBatchResponse | undefined> =>
      queue === VERNIER_QUEUE
        ? handleTimerEvent(this.#plane, event)
        : deliverWakes(this.#plane, (targets, id) => wakeNodes(ssm, ENV.wakeDocument, targets, id), event);
    this.#kernel.guard(
      this.#invoke(queue, work).then((ended) => {
        const handled = ended.kind === 'done' && (ended.value?.batchItemFailures ?? []).length === 0;
        if (!handled && attempt < 3) this.#kernel.in(30_000, () => this.message(queue, body, attempt + 1));
      }),
    );
  }

  commandEnded(nodeId: string, status: string): void {
    const id = parseNodeId(nodeId);
    if (id !== null)
      this.#kernel.guard(
        this.#invoke('status', () => noteWakeStatus(this.#plane, id, status, null)).then(() => undefined),
      );
  }

  sweep(): void {
    if (this.#faults.strikes('sweep missed')) return;
    this.#kernel.guard(
      this.#invoke('sweep', () =>
        sweep(this.#plane, { known: (ids) => Promise.resolve(this.#services.registered(ids)) }),
      ).then(() => undefined),
    );
  }

  #invoke<T>(name: string, work: (self: Invocation) => Promise<T>): Promise<Ended<T>> {
    return this.#kernel.invoke(name, this.#death(), work);
  }

  #death(): Invocation['dies'] {
    for (const side of ['before', 'after'] as const) {
      if (this.#faults.threatens(`process died ${side} a call`))
        return { atCall: 1 + Math.floor(this.#draw() * 9), side };
    }
    return null;
  }
}
