/** DESIGN sections 6 and 10: a sweep says first what is the matter, ends in time, and comes to everything within two. */
import { describe, expect, test } from 'vitest';
import { parseNodeId } from '../../core/kit/ids.ts';
import { after, minutes, seconds } from '../../core/kit/time.ts';
import { describeVm } from '../../core/vm/describe.ts';
import { type ControlPlane } from '../../functions/ports.ts';
import { sweep } from '../../functions/operations/sweep.ts';
import { peek } from '../../world/records.ts';
import { at } from '../node/life.ts';
import { LargeFleet, nodeId, oneNode, oneVm, vmId } from './large.ts';

const nobody = {
  registry: { known: () => Promise.resolve(new Set<never>()) },
  watch: { states: () => Promise.resolve(new Map()) },
};

/** So long does the answer of a request take. */
const LATENCY = 8;

/** A plane on which each request takes its time, told by how many are under way at once. */
function slow(fleet: LargeFleet): { plane: ControlPlane; most: () => number } {
  let underWay = 0;
  let most = 0;
  const { store } = fleet.deployment.plane;
  const slowStore = new Proxy(store, {
    get: (target, name) => {
      const call: unknown = Reflect.get(target, name);
      if (typeof call !== 'function') return call;
      return async (...given: unknown[]): Promise<unknown> => {
        underWay += 1;
        most = Math.max(most, underWay);
        fleet.kernel.now += LATENCY / underWay;
        try {
          await Promise.resolve();
          return await (Reflect.apply(call, target, given) as Promise<unknown>);
        } finally {
          underWay -= 1;
        }
      };
    },
  });
  return { plane: { ...fleet.deployment.plane, store: slowStore }, most: () => most };
}

describe('100 hosts with 20 VMs each fall silent at once', () => {
  const fleet = new LargeFleet();
  for (let host = 0; host < 100; host += 1) {
    fleet.put(oneNode(host));
    for (let guest = 0; guest < 20; guest += 1) {
      const own = oneVm(host * 20 + guest);
      fleet.put({ ...own, body: { ...own.body, hostId: nodeId(host) } });
    }
  }

  test('within two sweeps all 2,000 VMs say so, and each counts before it handles anything', async () => {
    fleet.kernel.now = at(2 * 3600);
    for (const round of [1, 2]) {
      const { plane, most } = slow(fleet);
      const begun = fleet.kernel.now;
      const report = await sweep(plane, nobody, after(at((begun - at(0)) / 1000), seconds(160)));
      expect(most(), `sweep ${round}`).toBeLessThanOrEqual(50);
      expect(fleet.kernel.now - begun).toBeLessThan(180_000);
      expect(report.failed).toBe(0);
      fleet.kernel.now = begun + minutes(3);
    }
    const { table } = fleet.deployment.services;
    const statuses = Array.from({ length: 2000 }, (_, index) => peek(table, 'vm', vmId(index)));
    expect(new Set(statuses.map((vm) => (vm === null ? 'gone' : describeVm(vm, at(0)).printableStatus)))).toEqual(
      new Set(['Unknown']),
    );
    expect(fleet.metrics.filter(([name]) => name === 'NodesSilent')).toEqual([
      ['NodesSilent', 0],
      ['NodesSilent', 100],
    ]);
  });

  test('and are one line for each host', async () => {
    await fleet.sweep();
    const { body } = await fleet.get('/v1/summary');
    expect(body).toMatchObject({ vms: { byStatus: { Unknown: 2000 } } });
    expect((body as { attention: unknown[] }).attention[0]).toMatchObject({ kind: 'node', code: 'Silent', count: 100 });
    expect((body as { attention: unknown[] }).attention[1]).toMatchObject({ kind: 'vm', code: 'Unknown', count: 20 });
  });
});

test('a sweep whose time is up begins nothing more; what it left is still due', async () => {
  const fleet = new LargeFleet();
  for (let index = 0; index < 100; index += 1) fleet.put(oneNode(index));
  fleet.kernel.now = at(2 * 3600);
  const first = await sweep(fleet.deployment.plane, nobody, at(2 * 3600));
  expect(first).toMatchObject({ overdue: 0, groups: 0, unfinished: true });
  expect(fleet.metrics).toContainEqual(['NodesSilent', 0]);
  expect(fleet.metrics).toContainEqual(['SweepCompleted', 1]);
  expect(await fleet.sweep()).toMatchObject({ overdue: 100, unfinished: false });
});

test('what the release before wrote last is written anew, so that it is counted', async () => {
  const fleet = new LargeFleet();
  const { table } = fleet.deployment.services;
  for (let index = 0; index < 3; index += 1) {
    fleet.put(oneNode(index));
    fleet.put(oneVm(index));
  }
  for (const [id, column] of [
    [`node#${nodeId(0)}`, 'hpk'],
    [`vm#${vmId(0)}`, 'gpk'],
  ] as const) {
    const write = {
      UpdateExpression: 'SET #a0 = :v0',
      ExpressionAttributeNames: { '#a0': column, '#revision': 'revision' },
      ExpressionAttributeValues: { ':v0': { S: 'elsewhere' }, ':expected': { N: '1' } },
      ConditionExpression: '#revision = :expected',
    };
    table.update({ TableName: 't', Key: { pk: { S: id }, sk: { S: 'A' } }, ...write }, fleet.kernel.now);
  }
  await fleet.sweep();
  expect(peek(table, 'vm', vmId(0))?.revision).toBe(2);
  expect(peek(table, 'vm', vmId(1))?.revision).toBe(1);
  expect(parseNodeId(nodeId(0))).not.toBeNull();
});
