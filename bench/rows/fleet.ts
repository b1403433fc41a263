/**
 * A deployment on the virtual AWS whose requests and DynamoDB units are counted. One node and one VM enrol as agents and
 * people have them do; the rest of a fleet are copies of their items, put into the table without a call.
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type NodeId, parseNodeId, parseVmId, type VmId } from '../../core/kit/ids.ts';
import { TABLE } from '../../core/contract/table.ts';
import {
  byIdPartition,
  duePartition,
  listPartition,
  memberPartition,
  readItem,
  SHARDS,
  shardOf,
  vmPartition,
} from '../../functions/aws/item.ts';
import type { VmRecord } from '../../core/vm/record.ts';
import { sizeOf } from '../../world/aws/limits.ts';
import type { Item } from '../../world/aws/table.ts';
import { Deployment, type DeploymentOptions } from '../../world/deployment.ts';
import { type Identity, nodeIdentity, OPERATOR } from '../../world/environment.ts';
import { AT_ONCE, Kernel, type Network } from '../../world/kernel.ts';

export const START = Date.parse('2026-01-05T00:00:00Z');
const READ_UNIT = 4_096;
const WRITE_UNIT = 1_024;

/** Seventeen hexadecimal digits, as EC2 gives them. */
export function nodeIdAt(index: number): NodeId {
  const id = parseNodeId(`i-${index.toString(16).padStart(17, '0')}`);
  if (id === null) throw new Error(`${index} makes no node id`);
  return id;
}

export function vmIdAt(index: number): VmId {
  const id = parseVmId(`vm-${index}`);
  if (id === null) throw new Error(`${index} makes no VM id`);
  return id;
}

export type Cost = { status: number; requests: number; dynamodb: number; reads: number; writes: number };

type Command = { input: { TableName?: string; Key?: Item; IndexName?: string } };
type Answer = { Item?: Item; Items?: Item[] };

export class Fleet {
  readonly kernel: Kernel;
  readonly deployment: Deployment;
  readonly metrics: { name: string; value: number; at: number }[] = [];
  #dynamodb = 0;
  #reads = 0;
  #writes = 0;

  constructor(options: Partial<DeploymentOptions> = {}, network: Network = AT_ONCE) {
    this.kernel = new Kernel(START, network);
    this.deployment = new Deployment({
      kernel: this.kernel,
      seed: 1,
      logs: false,
      outside: { woken: () => true, registered: () => true, written: () => undefined },
      telemetry: {
        metric: (name, value) => void this.metrics.push({ name, value, at: this.kernel.now }),
        warn: () => undefined,
      },
      ...options,
    });
    this.#count();
  }

  /** Makes a request and says what it cost. */
  async call(method: string, path: string, iam: Identity, body?: unknown): Promise<Cost & { body: unknown }> {
    const [dynamodb, reads, writes] = [this.#dynamodb, this.#reads, this.#writes];
    const called = { handler: 'api', path, certain: false } as const;
    const { answer, self } = await this.deployment.request({ method, path, body, iam }, called, 'whole');
    return {
      status: answer?.status ?? 0,
      body: answer?.body,
      requests: self.calls.length,
      dynamodb: this.#dynamodb - dynamodb,
      reads: this.#reads - reads,
      writes: this.#writes - writes,
    };
  }

  operate(method: string, path: string, body?: unknown): Promise<Cost & { body: unknown }> {
    return this.call(method, path, OPERATOR, body);
  }

  report(nodeId: string, body: Readonly<Record<string, unknown>>): Promise<Cost & { body: unknown }> {
    const usual = { bootId: 'b1', currentVersion: '1.0', updateCheck: { result: 'UpToDate' } };
    return this.call('POST', `/v1/nodes/${nodeId}/reports`, nodeIdentity(nodeId), { ...usual, ...body });
  }

  /** What one sweep costs, as everything is now. */
  async sweepCost(): Promise<Omit<Cost, 'status'>> {
    const [dynamodb, reads, writes] = [this.#dynamodb, this.#reads, this.#writes];
    await Promise.all([this.deployment.sweep(), this.settle(1_000)]);
    const requests = this.#dynamodb - dynamodb;
    return { requests, dynamodb: requests, reads: this.#reads - reads, writes: this.#writes - writes };
  }

  /** The units that were counted so far. */
  units(): { reads: number; writes: number } {
    return { reads: this.#reads, writes: this.#writes };
  }

  /** A VM as it is stored, seen without a call. */
  peekVm(id: VmId): VmRecord | null {
    const { Item: item } = this.deployment.services.table.get({ Key: { pk: { S: `vm#${id}` }, sk: { S: 'A' } } });
    return item === undefined ? null : readItem('vm', item).record;
  }

  /** What an item takes in the table. */
  bytesOf(kind: 'node' | 'vm' | 'group', id: string): number {
    return sizeOf(this.stored(kind, id));
  }

  /** Lets pass what was begun: the index, the bus, timers that are due. */
  async settle(ms = 60_000): Promise<void> {
    await this.kernel.runTo(this.kernel.now + ms);
  }

  /** Copies of a stored node, each with an id of its own. */
  copyNodes(of: NodeId, from: number, to: number, change: (item: Item) => void = () => undefined): void {
    const item = this.stored('node', of);
    const group = 'default';
    for (let index = from; index < to; index += 1) {
      const id = nodeIdAt(index);
      this.#copy(item, 'node', of, id, change, (copy) => {
        set(copy, TABLE.indexes.list.partition, listPartition('node', shardOf(id, SHARDS.list)));
        set(copy, TABLE.indexes.members.partition, memberPartition(group, shardOf(id, SHARDS.members)));
        set(copy, TABLE.indexes.host.partition, byIdPartition(group, shardOf(id, SHARDS.members)));
        set(copy, TABLE.indexes.due.partition, duePartition(shardOf(id, SHARDS.due)));
      });
    }
  }

  /** Copies of a stored VM, on hosts of the caller's choice. */
  copyVms(of: VmId, from: number, to: number, hostAt: (index: number) => NodeId): void {
    const item = this.stored('vm', of);
    for (let index = from; index < to; index += 1) {
      const id = vmIdAt(index);
      const host = hostAt(index);
      const change = (copy: Item): void => {
        const record = copy['record']?.M ?? {};
        const body = { ...record['body']?.M, hostId: { S: host } };
        copy['record'] = { M: { ...record, body: { M: body } } };
      };
      this.#copy(item, 'vm', of, id, change, (copy) => {
        set(copy, TABLE.indexes.list.partition, listPartition('vm', shardOf(id, SHARDS.list)));
        const { partition, sort } = TABLE.indexes.members;
        const line = copy[sort]?.S ?? '';
        set(copy, partition, vmPartition(host));
        set(copy, sort, `${host}${line.slice(line.indexOf('|'))}`);
        copy[TABLE.indexes.host.partition] = { S: host };
      });
    }
  }

  stored(kind: 'node' | 'vm' | 'group', id: string): Item {
    const { Item: item } = this.deployment.services.table.get({ Key: { pk: { S: `${kind}#${id}` }, sk: { S: 'A' } } });
    if (item === undefined) throw new Error(`${kind} ${id} is not stored`);
    return item;
  }

  #copy(
    item: Item,
    kind: 'node' | 'vm',
    of: string,
    id: string,
    change: (copy: Item) => void,
    place: (copy: Item) => void,
  ): void {
    const named = kind === 'node' ? 'nodeId' : 'vmId';
    const copy: Item = { ...item, record: { M: { ...item['record']?.M, [named]: { S: id } } } };
    for (const name of KEY_NAMES) {
      const text = copy[name]?.S;
      if (text?.includes(of) === true) copy[name] = { S: text.replace(of, id) };
    }
    place(copy);
    change(copy);
    this.deployment.services.table.put(
      { TableName: 't', Item: copy, ConditionExpression: 'attribute_not_exists(#p)' },
      this.kernel.now,
    );
  }

  /** Every call of DynamoDB passes here, with the units that AWS would count for it. */
  #count(): void {
    const { dynamodb } = this.deployment.services.clients;
    const { table } = this.deployment.services;
    // The virtual client has one function of its own, and the SDK declares it with a form for each command.
    const client = dynamodb as unknown as { send: (command: Command) => Promise<Answer> };
    const send = client.send.bind(client);
    client.send = async (command) => {
      this.#dynamodb += 1;
      const { Key } = command.input;
      const update = command.constructor.name === 'UpdateItemCommand';
      const before = update ? table.get({ Key }).Item : undefined;
      const answer = await send(command);
      if (update) this.#writes += writeUnits(before, table.get({ Key }).Item ?? {});
      else if (answer.Items !== undefined)
        // An index is read eventually consistent, which is half the price.
        this.#reads += Math.max(0.5, Math.ceil(sum(answer.Items.map(sizeOf)) / READ_UNIT) / 2);
      else this.#reads += Math.max(1, Math.ceil(sizeOf(answer.Item ?? {}) / READ_UNIT));
      return answer;
    };
  }
}

const set = (item: Item, name: string, partition: string): void => {
  if (item[name] !== undefined) item[name] = { S: partition };
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const KEY_NAMES = [TABLE.key, ...Object.values(TABLE.indexes)].flatMap(({ partition, sort }) => [partition, sort]);

const textOf = (value: AttributeValue | undefined): string => value?.S ?? '';

/** The item itself by the larger of its sizes, and each index that its keys entered, left or moved in. */
function writeUnits(before: Item | undefined, after: Item): number {
  const own = Math.max(1, Math.ceil(Math.max(sizeOf(before ?? {}), sizeOf(after)) / WRITE_UNIT));
  return Object.values(TABLE.indexes).reduce((units, { partition, sort }) => {
    const was = `${textOf(before?.[partition])}|${textOf(before?.[sort])}`;
    const is = `${textOf(after[partition])}|${textOf(after[sort])}`;
    if (was === is) return units;
    return units + (was === '|' || is === '|' ? 1 : 2);
  }, own);
}
