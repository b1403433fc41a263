import { expect, test } from 'vitest';
import { decideNode } from '../../core/node/decide.ts';
import type { NodeEvent } from '../../core/node/event.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { nodeDueAt } from '../../core/node/timing.ts';
import { type NodeId, parseNodeId, parseVmId } from '../../core/kit/ids.ts';
import { after, type Instant, seconds } from '../../core/kit/time.ts';
import { reportNode } from '../../functions/operations/nodes.ts';
import { sweep } from '../../functions/operations/sweep.ts';
import type { NodeRegistry } from '../../functions/ports.ts';
import { turnVm } from '../../functions/operations/vms.ts';
import { exec, HOST, Scene } from '../plane/scene.ts';

const nodeId: NodeId = parseNodeId(HOST) ?? expect.fail('a node id');
const web = parseVmId('web') ?? expect.fail('a VM id');
const report = {
  state: 'Idle',
  bootId: 'b1',
  currentVersion: '1.0',
  updateCheck: { result: 'Available', version: '1.1' },
} as const;

/** What a handler leaves behind that dies right after it has written a node. */
async function decideAndDie({ world }: Scene, event: NodeEvent, now: Instant): Promise<NodeRecord> {
  const node = (await world.store.load('node', nodeId))?.record;
  if (node === undefined) throw new Error('the node is not enrolled');
  const outcome = decideNode(node, event, { nodeId, now, group: null });
  if (outcome.kind !== 'changed') throw new Error(outcome.kind);
  await world.store.save('node', outcome.next, node.revision, 'the dead one');
  return outcome.next;
}

/** SSM knows everybody. */
const watch = { states: () => Promise.resolve(new Map()) };
const registry: NodeRegistry = { known: (ids) => Promise.resolve(new Set(ids)) };

test('a node is never in a group that no sweep finds, whenever its enrolment dies', async () => {
  const scene = new Scene();
  const { plane } = scene.world;
  const dying = { ...plane, timers: { arm: () => Promise.reject(new Error('dead')) } };
  const order: string[] = [];
  scene.world.onWritten = ({ kind }) => void order.push(kind);
  await reportNode(dying, nodeId, { ...report, group: 'rear' });
  expect(order.indexOf('group')).toBeLessThan(order.indexOf('node'));
});

test('a fence that dies before the VMs know is told by the sweep, once', async () => {
  const scene = new Scene();
  await scene.node(HOST, { state: 'Idle', updateCheck: { result: 'UpToDate' } });
  await scene.operator('PUT', '/v1/vms/web', exec('Always'));
  await scene.vm('web', { phase: 'Running' });
  await scene.to(10);
  const fenced = await decideAndDie(scene, { kind: 'fence', by: 'operator' }, scene.world.now);
  expect(nodeDueAt(fenced)).toBe(scene.world.now);
  await scene.sees('vms', 'web', { printableStatus: 'Running' });
  await sweep(scene.world.plane, { registry, watch });
  await scene.sees('vms', 'web', { printableStatus: 'Starting', restartCount: 0 });
  expect((await scene.world.store.load('node', nodeId))?.record.untold).toBeNull();
});

test('silence that dies before the VMs know is told by the sweep', async () => {
  const scene = new Scene();
  await scene.node(HOST, { state: 'Idle', updateCheck: { result: 'UpToDate' } });
  await scene.operator('PUT', '/v1/vms/web', exec('Always'));
  await scene.vm('web', { phase: 'Running' });
  await scene.to(5399);
  const due = { ...scene.world.plane, now: () => after(scene.world.now, seconds(1)) };
  await decideAndDie(scene, { kind: 'due' }, due.now());
  await sweep(due, { registry, watch });
  await scene.sees('vms', 'web', { printableStatus: 'Unknown' });
});

test('news of a fence that come late end no instance that the host has taken on since', async () => {
  const scene = new Scene();
  await scene.node(HOST, { state: 'Idle', updateCheck: { result: 'UpToDate' } });
  await scene.operator('PUT', '/v1/vms/web', exec('Always'));
  await scene.to(10);
  const { now } = scene.world;
  await scene.to(20);
  await scene.vm('web', { phase: 'Running' });
  await turnVm(scene.world.plane, web, { kind: 'hostFenced', hostId: HOST, at: now });
  await scene.sees('vms', 'web', { printableStatus: 'Running', restartCount: 0 });
});
