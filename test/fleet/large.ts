/** A deployment of any size on the virtual AWS, filled without a call, whose requests are counted. */
import { expect } from 'vitest';
import { newGroup } from '../../core/group/record.ts';
import { DEFAULT_GROUP, parseNodeId, parseVmId } from '../../core/kit/ids.ts';
import { instant } from '../../core/kit/time.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import type { VmRecord } from '../../core/vm/record.ts';
import { itemKey, writeOf } from '../../functions/aws/item.ts';
import type { AggregateKind, Records } from '../../functions/ports.ts';
import type { SweepReport } from '../../functions/operations/sweep.ts';
import { Deployment } from '../../world/deployment.ts';
import { OPERATOR } from '../../world/environment.ts';
import { Kernel } from '../../world/kernel.ts';
import { at, NodeLife, START } from '../node/life.ts';
import { running } from '../vm/scene.ts';

const life = new NodeLife();
life.report({ state: 'Idle', updateCheck: { result: 'UpToDate' } });

export const nodeId = (index: number) =>
  parseNodeId(`i-${String(index).padStart(17, '0')}`) ?? expect.fail('a node id');
export const vmId = (index: number) => parseVmId(`vm-${index}`) ?? expect.fail('a VM id');

export const oneNode = (index: number, more: Partial<NodeRecord> = {}): NodeRecord => ({
  ...life.node,
  nodeId: nodeId(index),
  revision: 1,
  events: [],
  ...more,
});
const calm = running('Always').vm;
export const oneVm = (index: number, more: Partial<VmRecord> = {}): VmRecord => ({
  ...calm,
  vmId: vmId(index),
  revision: 1,
  events: [],
  ...more,
});

/** A VM that failed three times for one reason. */
export const loopingVm = (index: number): VmRecord => {
  const { instance } = calm;
  return oneVm(index, {
    startFailure: {
      consecutiveFailCount: 3,
      lastFailedInstanceId: instance?.instanceId ?? expect.fail('it has an instance'),
      retryAfter: at(9e6),
      reason: 'LaunchFailed',
      message: 'disk full',
    },
    lastFailure: { reason: 'LaunchFailed', message: 'disk full', console: null, at: at(0) },
  });
};

export class LargeFleet {
  readonly kernel = new Kernel(START);
  readonly metrics: [string, number][] = [];
  /** Requests made before each metric. */
  readonly callsAt = new Map<string, number>();
  readonly warnings: string[] = [];
  readonly deployment: Deployment;

  constructor(index: () => number = () => 0) {
    this.deployment = new Deployment({
      kernel: this.kernel,
      seed: 1,
      logs: false,
      delays: { scheduler: () => 0, queue: () => 0, bus: () => 0, command: () => 0, index },
      outside: { woken: () => true, registered: () => true, written: () => undefined },
      telemetry: {
        metric: (name, value) => {
          this.metrics.push([name, value]);
          if (!this.callsAt.has(name)) this.callsAt.set(name, this.calls);
        },
        warn: (message) => void this.warnings.push(message),
      },
    });
    this.put({ ...newGroup(DEFAULT_GROUP), revision: 1, home: 'holdoff' });
  }

  get calls(): number {
    return this.deployment.services.calls;
  }

  put(record: Records[AggregateKind]): void {
    const id = record.kind === 'node' ? record.nodeId : record.kind === 'vm' ? record.vmId : record.group;
    const write = writeOf(record, 'w', 60, instant(this.kernel.now));
    this.update(record.kind, id, write);
  }

  /** Marks an item as written in the format of a release to come. */
  breakItem(kind: AggregateKind, id: string, format = '99'): void {
    const write = {
      UpdateExpression: 'SET #a0 = :v0',
      ExpressionAttributeNames: { '#a0': 'format', '#revision': 'revision' },
      ExpressionAttributeValues: { ':v0': { N: format }, ':expected': { N: '1' } },
      ConditionExpression: '#revision = :expected',
    };
    this.deployment.services.table.update({ TableName: 't', Key: itemKey(kind, id), ...write }, this.kernel.now);
  }

  update(kind: AggregateKind, id: string, write: ReturnType<typeof writeOf>): void {
    const condition = { ConditionExpression: 'attribute_not_exists(#key)' };
    const input = { TableName: 't', Key: itemKey(kind, id), ...write, ...condition };
    this.deployment.services.table.update(input, this.kernel.now);
  }

  async sweep(): Promise<SweepReport> {
    const reports: SweepReport[] = [];
    await this.deployment.sweep((report) => reports.push(report));
    return reports[0] ?? expect.fail('the sweep has not been through');
  }

  /** @returns the body, and how many requests it took */
  async get(path: string, method = 'GET', body?: unknown): Promise<{ body: unknown; calls: number; status: number }> {
    const before = this.calls;
    const request = { method, path, body, iam: OPERATOR };
    const called = { handler: 'api', path, certain: false } as const;
    const { answer } = await this.deployment.request(request, called, 'short');
    if (answer === null) throw new Error('nothing dies here');
    return { body: answer.body, calls: this.calls - before, status: answer.status };
  }
}
