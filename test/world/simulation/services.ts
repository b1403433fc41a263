/** AWS as the control plane meets it: the real adapters call real SDK clients, whose calls end here instead of on the wire. */
import {
  DynamoDBClient,
  type GetItemCommandInput,
  type QueryCommandInput,
  ThrottlingException as DynamoThrottling,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import {
  ConflictException,
  type CreateScheduleCommandInput,
  SchedulerClient,
  ThrottlingException,
  ValidationException,
} from '@aws-sdk/client-scheduler';
import { SQSClient, type SendMessageCommandInput } from '@aws-sdk/client-sqs';
import { InvalidInstanceId, type SendCommandCommandInput, SSMClient } from '@aws-sdk/client-ssm';
import type { NodeId } from '../../../core/kit/ids.ts';
import { type Item, SimulatedTable } from './dynamodb.ts';
import type { Faults } from './faults.ts';
import type { Invocation, Kernel } from './kernel.ts';

/** Where what the services deliver ends up. */
export type Deliveries = {
  /** Scheduler invokes the timer handler. */
  scheduled: (message: string) => void;
  /** A message of a queue became visible. */
  queued: (queue: string, body: string) => void;
  /** A wake reached a node; false when nothing listens there. */
  woken: (nodeId: string) => boolean;
  /** SSM's word about a wake. */
  commandEnded: (nodeId: string, status: string) => void;
  registered: (nodeId: string) => boolean;
  /** The control plane was told that SSM does not know it. */
  knownOff: (nodeId: string) => void;
  written: (after: Item, by: Invocation) => void;
};

export const VERNIER_QUEUE = 'vernier';
export const COMMAND_QUEUE = 'commands';

type Serve = (input: unknown, self: Invocation) => unknown;

export class Services {
  readonly table = new SimulatedTable();
  readonly clients: {
    dynamodb: DynamoDBClient;
    scheduler: SchedulerClient;
    sqs: SQSClient;
    ssm: SSMClient;
    events: EventBridgeClient;
  };
  calls = 0;
  readonly #kernel: Kernel;
  readonly #faults: Faults;
  readonly #draw: () => number;
  readonly #deliveries: Deliveries;
  readonly #schedules = new Set<string>();

  constructor(kernel: Kernel, faults: Faults, draw: () => number, deliveries: Deliveries) {
    this.#kernel = kernel;
    this.#faults = faults;
    this.#draw = draw;
    this.#deliveries = deliveries;
    const at = { region: 'eu-west-1', credentials: { accessKeyId: 'simulated', secretAccessKey: 'simulated' } };
    this.clients = {
      dynamodb: new DynamoDBClient(at),
      scheduler: new SchedulerClient(at),
      sqs: new SQSClient(at),
      ssm: new SSMClient(at),
      events: new EventBridgeClient(at),
    };
    // Each command's input has the type that its own class declares for it: the adapters built it.
    const serve: Record<string, Serve> = {
      GetItemCommand: (input) => this.#get(input as GetItemCommandInput),
      UpdateItemCommand: (input, self) => this.#update(input as UpdateItemCommandInput, self),
      QueryCommand: (input) => this.#query(input as QueryCommandInput),
      CreateScheduleCommand: (input) => this.#createSchedule(input as CreateScheduleCommandInput),
      SendMessageCommand: (input) => this.#sendMessage(input as SendMessageCommandInput),
      SendCommandCommand: (input) => this.#sendCommand(input as SendCommandCommandInput),
      PutEventsCommand: () => this.#putEvents(),
    };
    const send = (command: { input: unknown }): Promise<unknown> => {
      const answer = serve[command.constructor.name];
      if (answer === undefined) throw new Error(`a call that is not known: ${command.constructor.name}`);
      return this.#external((self) => answer(command.input, self));
    };
    for (const client of Object.values(this.clients)) Object.assign(client, { send });
  }

  /** One external call of the running invocation, which may die before or after it takes effect. */
  #external<T>(apply: (self: Invocation) => T): Promise<T> {
    const self = this.#kernel.current;
    self.calls += 1;
    this.calls += 1;
    const number = self.calls;
    const latency = this.#faults.strikes('dynamodb slow') ? 50 + this.#draw() * 2000 : 1 + this.#draw() * 12;
    self.pending += 1;
    return new Promise((resolve, reject) => {
      if (self.dies?.atCall === number && self.dies.side === 'before') {
        this.#faults.count('process died before a call');
        self.die();
        return;
      }
      this.#kernel.in(latency, () => {
        // What was on its way when the process died may still take effect.
        if (self.state === 'dead' && this.#draw() < 0.5) return;
        let outcome: { value: T } | { error: unknown };
        try {
          outcome = { value: apply(self) };
        } catch (error) {
          outcome = { error };
        }
        if (self.state === 'running' && self.dies?.atCall === number && self.dies.side === 'after') {
          this.#faults.count('process died after a call');
          self.die();
        }
        if (self.state === 'dead') return;
        self.pending -= 1;
        this.#kernel.resume(self);
        if ('value' in outcome) resolve(outcome.value);
        else reject(outcome.error as Error);
      });
    });
  }

  #get(input: GetItemCommandInput): unknown {
    if (this.#faults.strikes('dynamodb throttled')) throw throttled();
    if (input.ConsistentRead !== true) throw new Error('a read that is not consistent');
    return this.table.get(input);
  }

  #update(input: UpdateItemCommandInput, self: Invocation): unknown {
    if (this.#faults.strikes('dynamodb throttled')) throw throttled();
    const lag = this.#faults.strikes('dynamodb index stale') ? this.#draw() * 20_000 : this.#draw() * 100;
    const after = this.table.update(input, this.#kernel.now + lag);
    self.writes.push(after['pk']?.S ?? '');
    this.#deliveries.written(after, self);
    // The SDK sends a write again whose answer it did not get, and the condition fails on its own write.
    if (this.#faults.strikes('dynamodb retried its own write')) this.table.update(input, this.#kernel.now);
    if (this.#faults.strikes('dynamodb timed out after the write'))
      throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
    return {};
  }

  #query(input: QueryCommandInput): unknown {
    if (this.#faults.strikes('dynamodb throttled')) throw throttled();
    return this.table.query(input, this.#kernel.now);
  }

  #createSchedule(input: CreateScheduleCommandInput): unknown {
    const faults = this.#faults;
    if (faults.strikes('scheduler refused'))
      throw new ThrottlingException({ message: 'Rate exceeded', Message: 'Rate exceeded', $metadata: {} });
    const name = input.Name ?? '';
    const [, expression = ''] = /^at\((.+)\)$/.exec(input.ScheduleExpression ?? '') ?? [];
    const at = Date.parse(`${expression}Z`);
    if (this.#schedules.has(name)) throw new ConflictException({ message: 'exists', Message: 'exists', $metadata: {} });
    const ahead = faults.strikes('scheduler clock ahead') ? 90_000 : 0;
    if (!(at > this.#kernel.now + ahead))
      throw new ValidationException({ message: 'is in the past', Message: 'is in the past', $metadata: {} });
    this.#schedules.add(name);
    if (faults.strikes('scheduler lost')) return { ScheduleArn: name };
    // A minute late is how Scheduler is (facts/aws-services.md section 1).
    const late = this.#draw() * (faults.strikes('scheduler minutes late') ? 600_000 : 60_000);
    const fire = (extra: number): void =>
      this.#kernel.in(at - this.#kernel.now + late + extra, () => {
        this.#schedules.delete(name);
        this.#deliveries.scheduled(input.Target?.Input ?? '');
      });
    fire(0);
    if (faults.strikes('scheduler twice')) fire(this.#draw() * 30_000);
    return { ScheduleArn: name };
  }

  #sendMessage({ QueueUrl = '', MessageBody = '', DelaySeconds = 0 }: SendMessageCommandInput): unknown {
    const faults = this.#faults;
    if (DelaySeconds > 900) throw new Error('SQS takes no delay above 900 s');
    const vernier = QueueUrl === VERNIER_QUEUE;
    if (faults.strikes(vernier ? 'vernier refused' : 'command queue refused')) throw new Error('ServiceUnavailable');
    if (vernier && faults.strikes('vernier lost')) return { MessageId: 'lost' };
    const early = vernier && DelaySeconds > 0 && faults.strikes('vernier early') ? -50 : 0;
    const late = vernier && faults.strikes('vernier late') ? this.#draw() * 1500 : this.#draw() * 20;
    const wait = DelaySeconds * 1000 + early + late;
    this.#kernel.in(wait, () => this.#deliveries.queued(QueueUrl, MessageBody));
    if (vernier && faults.strikes('vernier twice'))
      this.#kernel.in(wait + this.#draw() * 3000, () => this.#deliveries.queued(QueueUrl, MessageBody));
    return { MessageId: 'sent' };
  }

  /** Those of the nodes that SSM knows. */
  registered(nodeIds: readonly NodeId[]): ReadonlySet<NodeId> {
    const known = new Set(nodeIds.filter((nodeId) => this.#deliveries.registered(nodeId)));
    for (const nodeId of nodeIds) if (!known.has(nodeId)) this.#deliveries.knownOff(nodeId);
    return known;
  }

  #sendCommand({ InstanceIds = [] }: SendCommandCommandInput): unknown {
    const faults = this.#faults;
    if (faults.strikes('ssm refused')) throw Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
    const unknown = InstanceIds.filter((id) => !this.#deliveries.registered(id));
    if (unknown.length > 0) throw new InvalidInstanceId({ message: unknown.join(','), $metadata: {} });
    for (const nodeId of InstanceIds) {
      const times = faults.strikes('ssm lost') ? 0 : faults.strikes('ssm twice') ? 2 : 1;
      const lied = faults.strikes('ssm said it failed');
      const wait = 300 + this.#draw() * 4000;
      for (let time = 0; time < times; time += 1) {
        this.#kernel.in(wait * (time + 1), () => {
          const heard = this.#deliveries.woken(nodeId);
          if (!heard || lied) this.#kernel.in(31_000, () => this.#deliveries.commandEnded(nodeId, 'Undeliverable'));
        });
      }
    }
    if (faults.strikes('ssm timed out')) throw Object.assign(new Error('timed out'), { name: 'TimeoutError' });
    return { Command: { CommandId: 'command' } };
  }

  #putEvents(): unknown {
    if (this.#faults.strikes('bus refused')) throw new Error('ServiceUnavailable');
    return { FailedEntryCount: 0, Entries: [] };
  }
}

const throttled = (): Error =>
  new DynamoThrottling({ message: 'Throughput exceeds the current capacity', $metadata: {} });
