/**
 * A whole deployment on virtual time: the handlers' operations with the deployed adapters on virtual AWS, each
 * invocation a process of its own, which is tried again as Lambda, its queues and the bus do.
 */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { HandlerName } from '../core/contract/names.ts';
import { parseNodeId } from '../core/kit/ids.ts';
import { type Instant, instant } from '../core/kit/time.ts';
import { DynamoEventLog } from '../functions/aws/event-log.ts';
import { CloudWatchAlarms } from '../functions/aws/cloudwatch-alarms.ts';
import { ManagedNodes } from '../functions/aws/managed-nodes.ts';
import { wakeNodes } from '../functions/aws/run-command.ts';
import { createApp } from '../functions/http/app.ts';
import { noteAlarm } from '../functions/operations/alarms.ts';
import { deliverWakes } from '../functions/operations/deliver-wakes.ts';
import { handleTimerEvent } from '../functions/operations/firings.ts';
import { type MachineEvent, noteMachineEvent } from '../functions/operations/lifecycle.ts';
import { keepEntry } from '../functions/operations/log-entry.ts';
import { sweep, type SweepReport } from '../functions/operations/sweep.ts';
import { noteCommandStatus } from '../functions/operations/wake-status.ts';
import { composePlane, type PlaneProcess } from '../functions/plane.ts';
import type { ControlPlane, Ref } from '../functions/ports.ts';
import { parseFiring } from '../functions/messages.ts';
import { type Delays, type Deliveries, type Queue, Services } from './aws/services.ts';
import type { Trouble } from './aws/trouble.ts';
import { RULES, VIRTUAL_ENV } from './environment.ts';
import type { Ended, Invocation, Kernel, Kill } from './kernel.ts';
import { seededDraws } from './random.ts';
import { type Answer, type Request, type Serve, throughApp, throughRoute } from './requests.ts';

/** A call of a handler: which one, what a person calls this way through it, and whether its caller goes on until it is done. */
export type Called = {
  handler: HandlerName;
  path: string;
  certain: boolean;
  /** Of a timer: whose instant it was armed for, and what brought it. */
  firing?: { ref: Ref; wanted: Instant; by: 'scheduler' | 'vernier' };
};

/** What happens to processes, and what follows. */
export type Fate = {
  /** Where the next invocation dies; null when it lives. */
  kill: (called: Called) => Kill | null;
  /**
   * Milliseconds until what died (`error` is null) or failed is tried again, counted from 0; null when it is given up.
   * @throws where a failure is a fault of the product
   */
  again: (called: Called, attempt: number, error: { cause: unknown } | null) => number | null;
  /** Told of every invocation as it begins. */
  began: (called: Called, self: Invocation) => void;
  /** Told of every one that dies. */
  died: (called: Called, self: Invocation) => void;
  /** A timer's message that was given up is gone: what else was to bring the same does not either. */
  deadLettersAreFinal?: boolean;
};

/** Nothing dies, and what fails is a fault. */
export const UNHARMED: Fate = {
  kill: () => null,
  again: (_called, _attempt, error) => {
    if (error !== null) throw error.cause;
    return null;
  },
  began: () => undefined,
  died: () => undefined,
};

/** What the machines of this deployment do with what AWS brings them, and who watches the table. */
export type Outside = Pick<Deliveries, 'woken' | 'registered' | 'missing' | 'written'>;

export type DeploymentOptions = {
  kernel: Kernel;
  seed: number;
  outside: Outside;
  delays?: Delays;
  trouble?: Trouble;
  fate?: Fate;
  telemetry?: PlaneProcess['telemetry'];
  /** Puts a watcher around the ports of the control plane. */
  watched?: (plane: ControlPlane) => ControlPlane;
  /** Whether entries of the bus are kept in the log. */
  logs?: boolean;
  /** How the queue of wakes is consumed; as they come, one by one, unless said. */
  wakes?: WakeBatches;
};

/** So many wakes are delivered together, once the first of them has waited so long for the others. */
export type WakeBatches = { size: number; windowMs: number };

/** A `woken` command is named by the document that woke; its status is about one node. */
const statusDetail = (nodeId: string, status: string): Record<string, string> => ({
  'instance-id': nodeId,
  status,
  'document-name': VIRTUAL_ENV.wakeDocument,
});

export class Deployment {
  readonly kernel: Kernel;
  readonly services: Services;
  readonly plane: ControlPlane;
  readonly #fate: Fate;
  /** Firings that were given up. */
  readonly #deadLetters = new Set<string>();
  readonly #log: DynamoEventLog;
  readonly #registry: ManagedNodes;
  readonly #watch: CloudWatchAlarms;
  readonly #whole: Serve;
  readonly #short: Serve;
  readonly #wakes: WakeBatches;
  readonly #waitingWakes: string[] = [];

  constructor(options: DeploymentOptions) {
    const {
      kernel,
      seed,
      outside,
      delays,
      trouble,
      fate = UNHARMED,
      logs = true,
      wakes = { size: 1, windowMs: 0 },
      watched = (plane) => plane,
    } = options;
    this.kernel = kernel;
    this.#wakes = wakes;
    this.#fate = fate;
    const deliveries: Deliveries = {
      ...outside,
      scheduled: (message) => this.#firing(message, 'scheduler'),
      queued: (queue, body) => this.#message(queue, body),
      published: (detail) => (logs ? this.#logged(detail) : undefined),
      commandEnded: (nodeId, status) => this.commandEnded(nodeId, status),
    };
    this.services = new Services(kernel, deliveries, delays, trouble);
    const { clients } = this.services;
    this.plane = watched(
      composePlane(clients, VIRTUAL_ENV, {
        now: () => instant(kernel.now),
        draw: seededDraws(seed),
        pause: (ms) => kernel.pause(ms),
        telemetry: options.telemetry ?? { metric: () => undefined, warn: () => undefined },
      }),
    );
    this.#log = new DynamoEventLog(clients.dynamodb, VIRTUAL_ENV.table);
    this.#registry = new ManagedNodes(clients.ssm);
    this.#watch = new CloudWatchAlarms(clients.cloudwatch);
    this.#whole = throughApp(createApp(this.plane, this.#log, RULES));
    this.#short = throughRoute(this.plane, this.#log);
  }

  /**
   * A request to the API.
   * @param way the whole application, or the short way past HTTP
   */
  async request(
    request: Request,
    called: Called,
    way: 'whole' | 'short',
    serving: (self: Invocation) => void = () => undefined,
  ): Promise<{ answer: Answer | null; self: Invocation }> {
    const serve = way === 'whole' ? this.#whole : this.#short;
    let served: Invocation | null = null as Invocation | null; // assigned in the closure below
    const ended = await this.invoke(called, (self) => {
      served = self;
      serving(self);
      return serve(request);
    });
    if (served === null) throw new Error('a request that nobody served');
    if (ended.kind === 'failed') throw ended.error;
    return { answer: ended.kind === 'done' ? ended.value : null, self: served };
  }

  /** A timer's message arrives: Scheduler invokes the function itself, the vernier brings it in a queue. */
  async #firing(message: string, by: 'scheduler' | 'vernier'): Promise<void> {
    if (this.#deadLetters.has(message)) return;
    const { ref, at } = parseFiring(JSON.parse(message));
    // Scheduler invokes with what it was given, which is an object; a queue brings it in a record.
    const event = by === 'vernier' ? queueEvent(message) : (JSON.parse(message) as Record<string, unknown>);
    const path = `timer of a ${ref.kind} (${by === 'vernier' ? by : 'Scheduler'})`;
    const done = await this.#untilDone(
      { handler: 'timer', path, certain: false, firing: { ref, wanted: at, by } },
      () => handleTimerEvent(this.plane, event),
    );
    if (!done && this.#fate.deadLettersAreFinal === true) this.#deadLetters.add(message);
  }

  /** SSM says how a command went. */
  async commandEnded(nodeId: string, status: string): Promise<void> {
    await this.#untilDone({ handler: 'status', path: `status ${status}`, certain: false }, () =>
      noteCommandStatus(this.plane, VIRTUAL_ENV.wakeDocument, statusDetail(nodeId, status)),
    );
  }

  /** EC2 or SSM says what became of a machine. */
  async machineEvent(nodeId: string, kind: MachineEvent['kind']): Promise<void> {
    const id = parseNodeId(nodeId);
    if (id === null) throw new Error(`${nodeId} is no node id`);
    const at = instant(this.kernel.now);
    // It is delivered until it was handled, since nothing else brings that news.
    await this.#untilDone({ handler: 'lifecycle', path: `lifecycle ${kind}`, certain: true }, () =>
      noteMachineEvent(this.plane, { nodeId: id, kind, at }),
    );
  }

  /** CloudWatch says that an alarm changed its state. */
  async alarmEvent(name: string, state: 'OK' | 'ALARM'): Promise<void> {
    this.services.alarms.set(name, state);
    const at = instant(this.kernel.now);
    await this.#untilDone({ handler: 'lifecycle', path: `alarm ${state}`, certain: false }, () =>
      noteAlarm(this.plane, { name, state, at }),
    );
  }

  /** @param swept told when the sweep has been through */
  async sweep(swept: (report: SweepReport) => void = () => undefined): Promise<void> {
    await this.#untilDone({ handler: 'sweep', path: 'sweep', certain: false }, async () =>
      swept(await sweep(this.plane, { registry: this.#registry, watch: this.#watch })),
    );
  }

  /** One invocation of a handler. */
  async invoke<T>(called: Called, work: (self: Invocation) => Promise<T>): Promise<Ended<T>> {
    const { kill, began, died } = this.#fate;
    const ended = await this.kernel.invoke(called.path, kill(called), (self) => {
      began(called, self);
      return work(self);
    });
    if (ended.kind === 'died') died(called, ended.by);
    return ended;
  }

  async #message(queue: Queue, body: string): Promise<void> {
    if (queue === 'vernier') return this.#firing(body, 'vernier');
    const { size, windowMs } = this.#wakes;
    this.#waitingWakes.push(body);
    if (this.#waitingWakes.length >= size) await this.#deliverWakes();
    else if (this.#waitingWakes.length === 1) this.kernel.in(windowMs, () => this.#deliverWakes());
  }

  async #deliverWakes(): Promise<void> {
    const bodies = this.#waitingWakes.splice(0);
    if (bodies.length === 0) return;
    const { ssm } = this.services.clients;
    await this.#untilDone({ handler: 'command', path: 'command', certain: false }, () =>
      deliverWakes(
        this.plane,
        (targets, wakeId) => wakeNodes(ssm, VIRTUAL_ENV.wakeDocument, targets, wakeId),
        queueEvent(...bodies),
      ),
    );
  }

  async #logged(detail: string): Promise<void> {
    await this.#untilDone({ handler: 'log', path: 'log', certain: false }, () =>
      keepEntry(this.#log, JSON.parse(detail)),
    );
  }

  /** @returns false when it is given up */
  async #untilDone(called: Called, work: () => Promise<unknown>, attempt = 0): Promise<boolean> {
    const ended = await this.invoke(called, work);
    const failure = ended.kind === 'failed' ? { cause: ended.error } : refusedPart(ended);
    if (ended.kind === 'done' && failure === null) return true;
    const wait = this.#fate.again(called, attempt, failure);
    if (wait !== null) this.kernel.in(wait, async () => void (await this.#untilDone(called, work, attempt + 1)));
    return wait !== null;
  }
}

/** A batch of which a part is to be delivered again. */
function refusedPart(ended: Ended<unknown>): { cause: unknown } | null {
  if (ended.kind !== 'done' || typeof ended.value !== 'object' || ended.value === null) return null;
  const { batchItemFailures: failures } = ended.value as Partial<SQSBatchResponse>; // an answer to a queue has them, no other does
  return failures === undefined || failures.length === 0 ? null : { cause: new Error('a message was not handled') };
}

/** The consumers read nothing else of a record. */
const queueEvent = (...bodies: readonly string[]): SQSEvent =>
  ({ Records: bodies.map((body) => ({ messageId: `message-${body}`, body })) }) as SQSEvent;
