/**
 * AWS as the control plane meets it: the real adapters call real SDK clients, whose calls end here instead of on the
 * wire. Each call is one external call of the invocation that makes it.
 */
import {
  DynamoDBClient,
  type GetItemCommandInput,
  type PutItemCommandInput,
  type QueryCommandInput,
  ThrottlingException as DynamoThrottling,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { CloudWatchClient, type DescribeAlarmsCommandInput } from '@aws-sdk/client-cloudwatch';
import { EventBridgeClient, type PutEventsCommandInput } from '@aws-sdk/client-eventbridge';
import {
  ConflictException,
  type CreateScheduleCommandInput,
  SchedulerClient,
  ThrottlingException,
  ValidationException,
} from '@aws-sdk/client-scheduler';
import { SQSClient, type SendMessageCommandInput } from '@aws-sdk/client-sqs';
import {
  type DescribeInstanceInformationCommandInput,
  InvalidInstanceId,
  type SendCommandCommandInput,
  SSMClient,
} from '@aws-sdk/client-ssm';
import type { Invocation, Kernel } from '../kernel.ts';
import { type Access, sizeOf } from './limits.ts';
import { type Item, VirtualTable } from './table.ts';
import { NO_TROUBLE, type Trouble } from './trouble.ts';

export type Queue = 'vernier' | 'commands';
export const QUEUES: Readonly<Record<Queue, string>> = { vernier: 'vernier', commands: 'commands' };

/** Where what the services deliver ends up. */
export type Deliveries = {
  /** Scheduler invokes the timer handler. */
  scheduled: (message: string) => void | Promise<void>;
  /** A message of a queue became visible. */
  queued: (queue: Queue, body: string) => void | Promise<void>;
  /** An entry of the bus; each goes to the log's handler. */
  published: (detail: string) => void | Promise<void>;
  /** A wake reached a node; false when nothing listens there. */
  woken: (nodeId: string) => boolean;
  /** SSM's word about a wake. */
  commandEnded: (nodeId: string, status: string) => void | Promise<void>;
  /** Whether SSM has a node on its list. */
  registered: (nodeId: string) => boolean;
  /** SSM said that it does not have a node that it was asked about. */
  missing?: (nodeId: string) => void;
  /** An item was written; `by` is null where no handler did it. */
  written: (after: Item, by: Invocation | null) => void;
};

/** What the services take, in milliseconds. */
export type Delays = {
  /** How late Scheduler is with a firing, beyond what is wrong with it. */
  scheduler: () => number;
  /** From a message's visibility to its consumer. */
  queue: (queue: Queue) => number;
  /** From an entry to its rule's target. */
  bus: () => number;
  /** From SendCommand to the node. */
  command: () => number;
  /** How long an index lags. */
  index: () => number;
};

export const NO_DELAY: Delays = {
  scheduler: () => 0,
  queue: () => 0,
  bus: () => 0,
  command: () => 0,
  index: () => 0,
};

export type Clients = {
  dynamodb: DynamoDBClient;
  scheduler: SchedulerClient;
  sqs: SQSClient;
  ssm: SSMClient;
  events: EventBridgeClient;
  cloudwatch: CloudWatchClient;
};

/** A lagging index shows what was true up to so long ago. */
const STALE = 20_000;
/** A command that nobody takes ends so long after it was sent (functions/aws/run-command.ts asks for 30 s). */
const UNDELIVERED = 31_000;
const SQS_DELAY_MAX = 900;
const SCHEDULER_AHEAD = 90_000;
const SDK_ATTEMPTS = 3;
const SDK_PAUSE_MS = 100;

type Call = { name: string; writes: boolean; serve: (self: Invocation | null) => unknown };

export class Services {
  readonly table = new VirtualTable();
  readonly clients: Clients;
  /** CloudWatch alarms that there are. */
  readonly alarms = new Map<string, 'OK' | 'ALARM'>();
  calls = 0;
  readonly #kernel: Kernel;
  readonly #deliveries: Deliveries;
  readonly #trouble: Trouble;
  readonly #delays: Delays;
  readonly #schedules = new Set<string>();

  constructor(kernel: Kernel, deliveries: Deliveries, delays: Delays = NO_DELAY, trouble: Trouble = NO_TROUBLE) {
    this.#kernel = kernel;
    this.#deliveries = deliveries;
    this.#delays = delays;
    this.#trouble = trouble;
    const send = (command: { input: unknown }): Promise<unknown> => {
      this.calls += 1;
      const { name, writes, serve } = this.#callOf(command.constructor.name, command.input);
      return trouble.limits === undefined
        ? kernel.external(name, writes, serve)
        : this.#withRetries(() => kernel.external(name, writes, serve));
    };
    this.clients = {
      dynamodb: answering(DynamoDBClient, send),
      scheduler: answering(SchedulerClient, send),
      sqs: answering(SQSClient, send),
      ssm: answering(SSMClient, send),
      events: answering(EventBridgeClient, send),
      cloudwatch: answering(CloudWatchClient, send),
    };
  }

  /** As the SDK does by default: three attempts, with a growing pause after a throttle. */
  async #withRetries(attempt: () => Promise<unknown>): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof DynamoThrottling) || tries === SDK_ATTEMPTS) throw error;
        this.calls += 1;
        await this.#kernel.pause(Math.ceil(this.#trouble.draw() * SDK_PAUSE_MS * 2 ** (tries - 1)));
      }
    }
  }

  /** @throws when the key has had its share of this second */
  #meter(access: Access, key: Item | undefined, item: Item | undefined): void {
    const { limits } = this.#trouble;
    if (limits === undefined || key === undefined) return;
    if (!limits.allows(access, key['pk']?.S ?? '', sizeOf(item ?? key), this.#kernel.now)) throw throttled();
  }

  /** Each command's input has the type that its own class declares for it: the adapters built it. */
  #callOf(command: string, input: unknown): Call {
    switch (command) {
      case 'GetItemCommand':
        return this.#get(input as GetItemCommandInput);
      case 'UpdateItemCommand':
        return this.#update(input as UpdateItemCommandInput);
      case 'PutItemCommand':
        return this.#put(input as PutItemCommandInput);
      case 'QueryCommand':
        return this.#query(input as QueryCommandInput);
      case 'CreateScheduleCommand': {
        const serve = (): unknown => this.#createSchedule(input as CreateScheduleCommandInput);
        return { name: 'Scheduler CreateSchedule', writes: true, serve };
      }
      case 'SendMessageCommand':
        return this.#sendMessage(input as SendMessageCommandInput);
      case 'SendCommandCommand': {
        const serve = (): unknown => this.#sendCommand(input as SendCommandCommandInput);
        return { name: 'SSM SendCommand', writes: true, serve };
      }
      case 'DescribeInstanceInformationCommand': {
        const serve = (): unknown => this.#describe(input as DescribeInstanceInformationCommandInput);
        return { name: 'SSM DescribeInstanceInformation', writes: false, serve };
      }
      case 'DescribeAlarmsCommand': {
        const serve = (): unknown => this.#describeAlarms(input as DescribeAlarmsCommandInput);
        return { name: 'CloudWatch DescribeAlarms', writes: false, serve };
      }
      case 'PutEventsCommand': {
        const serve = (): unknown => this.#putEvents(input as PutEventsCommandInput);
        return { name: 'EventBridge PutEvents', writes: true, serve };
      }
      default:
        throw new Error(`a call that is not known: ${command}`);
    }
  }

  #describeAlarms({ AlarmNames = [] }: DescribeAlarmsCommandInput): unknown {
    const MetricAlarms = AlarmNames.flatMap((AlarmName) => {
      const StateValue = this.alarms.get(AlarmName);
      return StateValue === undefined ? [] : [{ AlarmName, StateValue }];
    });
    return { MetricAlarms, CompositeAlarms: [] };
  }

  #get(input: GetItemCommandInput): Call {
    const serve = (): unknown => {
      if (this.#trouble.strikes('dynamodb throttled')) throw throttled();
      if (input.ConsistentRead !== true) throw new Error('a read that is not consistent');
      const answer = this.table.get(input);
      this.#meter('read', input.Key, answer.Item);
      return answer;
    };
    return { name: `DynamoDB GetItem (${kindOf(input.Key)})`, writes: false, serve };
  }

  #update(input: UpdateItemCommandInput): Call {
    const serve = (self: Invocation | null): unknown => {
      const { strikes, draw } = this.#trouble;
      if (strikes('dynamodb throttled')) throw throttled();
      this.#meter('write', input.Key, this.table.get(input).Item);
      const lag = strikes('dynamodb index stale') ? draw() * STALE : this.#delays.index();
      this.#deliveries.written(this.table.update(input, this.#kernel.now + lag), self);
      // The SDK sends a write again whose answer it did not get, and the condition fails on its own write.
      if (strikes('dynamodb retried its own write')) this.table.update(input, this.#kernel.now);
      if (strikes('dynamodb timed out after the write')) throw timedOut('socket hang up');
      return {};
    };
    return { name: `DynamoDB UpdateItem (${kindOf(input.Key)})`, writes: true, serve };
  }

  /** Schedules that have not fired yet; the stale ones, which will change nothing, among them. */
  get schedules(): number {
    return this.#schedules.size;
  }

  #put(input: PutItemCommandInput): Call {
    const serve = (): unknown => {
      if (this.#trouble.strikes('dynamodb throttled')) throw throttled();
      this.table.put(input, this.#kernel.now);
      return {};
    };
    return { name: `DynamoDB PutItem (${kindOf(input.Item)})`, writes: true, serve };
  }

  #query(input: QueryCommandInput): Call {
    const serve = (): unknown => {
      if (this.#trouble.strikes('dynamodb throttled')) throw throttled();
      return this.table.query(input, this.#kernel.now);
    };
    return { name: `DynamoDB Query (${input.IndexName ?? 'log'})`, writes: false, serve };
  }

  #createSchedule({ Name: name = '', ScheduleExpression, Target }: CreateScheduleCommandInput): unknown {
    const { strikes, draw } = this.#trouble;
    if (strikes('scheduler refused'))
      throw new ThrottlingException({ message: 'Rate exceeded', Message: 'Rate exceeded', $metadata: {} });
    const [, expression = ''] = /^at\((.+)\)$/.exec(ScheduleExpression ?? '') ?? [];
    const at = Date.parse(`${expression}Z`);
    if (this.#schedules.has(name)) throw new ConflictException({ message: 'exists', Message: 'exists', $metadata: {} });
    const ahead = strikes('scheduler clock ahead') ? SCHEDULER_AHEAD : 0;
    if (!(at > this.#kernel.now + ahead))
      throw new ValidationException({ message: 'is in the past', Message: 'is in the past', $metadata: {} });
    this.#schedules.add(name);
    if (strikes('scheduler lost')) return { ScheduleArn: name };
    const late = this.#delays.scheduler() * (strikes('scheduler minutes late') ? 10 : 1);
    const fire = (extra: number): void =>
      this.#kernel.in(at - this.#kernel.now + late + extra, () => {
        this.#schedules.delete(name);
        return this.#deliveries.scheduled(Target?.Input ?? '');
      });
    fire(0);
    if (strikes('scheduler twice')) fire(draw() * 30_000);
    return { ScheduleArn: name };
  }

  #sendMessage({ QueueUrl, MessageBody = '', DelaySeconds = 0 }: SendMessageCommandInput): Call {
    const queue = QueueUrl === QUEUES.vernier ? 'vernier' : 'commands';
    const serve = (): unknown => {
      const { strikes, draw } = this.#trouble;
      const vernier = queue === 'vernier';
      if (DelaySeconds > SQS_DELAY_MAX) throw new Error(`SQS takes no delay above ${SQS_DELAY_MAX} s`);
      if (strikes(vernier ? 'vernier refused' : 'command queue refused')) throw new Error('ServiceUnavailable');
      if (vernier && strikes('vernier lost')) return { MessageId: 'lost' };
      // SQS may show a message a moment before its time (docs/facts/aws-services.md section 3).
      const early = vernier && DelaySeconds > 0 && strikes('vernier early') ? -50 : 0;
      const late = vernier && strikes('vernier late') ? draw() * 1500 : this.#delays.queue(queue);
      const wait = DelaySeconds * 1000 + early + late;
      const show = (): void | Promise<void> => this.#deliveries.queued(queue, MessageBody);
      this.#kernel.in(wait, show);
      if (vernier && strikes('vernier twice')) this.#kernel.in(wait + draw() * 3000, show);
      return { MessageId: 'sent' };
    };
    return { name: `SQS SendMessage (${queue})`, writes: true, serve };
  }

  #sendCommand({ InstanceIds = [] }: SendCommandCommandInput): unknown {
    const { strikes } = this.#trouble;
    if (strikes('ssm refused')) throw Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
    const unknown = InstanceIds.filter((id) => !this.#deliveries.registered(id));
    if (unknown.length > 0) throw new InvalidInstanceId({ message: unknown.join(','), $metadata: {} });
    for (const nodeId of InstanceIds) {
      const times = strikes('ssm lost') ? 0 : strikes('ssm twice') ? 2 : 1;
      const lied = strikes('ssm said it failed');
      const wait = this.#delays.command();
      const wake = (): void => {
        const heard = this.#deliveries.woken(nodeId);
        if (!heard || lied) this.#kernel.in(UNDELIVERED, () => this.#deliveries.commandEnded(nodeId, 'Undeliverable'));
      };
      for (let time = 1; time <= times; time += 1) this.#kernel.in(wait * time, wake);
    }
    if (strikes('ssm timed out')) throw timedOut('timed out');
    return { Command: { CommandId: 'command' } };
  }

  #describe({ Filters = [] }: DescribeInstanceInformationCommandInput): unknown {
    const asked = Filters.flatMap(({ Values = [] }) => Values);
    const known = asked.filter((nodeId) => this.#deliveries.registered(nodeId));
    for (const nodeId of asked) if (!known.includes(nodeId)) this.#deliveries.missing?.(nodeId);
    return { InstanceInformationList: known.map((InstanceId) => ({ InstanceId })) };
  }

  #putEvents({ Entries = [] }: PutEventsCommandInput): unknown {
    if (this.#trouble.strikes('bus refused')) throw new Error('ServiceUnavailable');
    for (const { Detail = '' } of Entries)
      this.#kernel.in(this.#delays.bus(), () => this.#deliveries.published(Detail));
    return { FailedEntryCount: 0, Entries: [] };
  }
}

/** A client of which nothing but `send` is ever used: no configuration, no connection. */
function answering<C extends object>(
  kind: { prototype: C },
  send: (command: { input: unknown }) => Promise<unknown>,
): C {
  // An object made from a prototype is of that kind; its own `send` stands before the prototype's.
  return Object.assign(Object.create(kind.prototype) as C, { send });
}

const throttled = (): Error =>
  new DynamoThrottling({ message: 'Throughput exceeds the current capacity', $metadata: {} });
const timedOut = (message: string): Error => Object.assign(new Error(message), { name: 'TimeoutError' });

/** `node`, `vm`, `group`, `events`: what kind of item a key is of. */
const kindOf = (key: Item | undefined): string => (key?.['pk']?.S ?? '').split('#')[0] ?? '';
