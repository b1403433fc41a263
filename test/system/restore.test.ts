/**
 * A restore from an older copy, on dynalite with the real store: a copy is made, life goes on, the copy is put into
 * another table, `recover` is run, and the agents report what is really there.
 */
import { CreateTableCommand, PutItemCommand, ScanCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { describe, expect, test, vi } from 'vitest';
import { after, minutes, seconds } from '../../core/kit/time.ts';
import { Home } from '../../functions/operations/home.ts';
import { recover } from '../../functions/operations/recover.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { nodeIdentity } from '../../world/environment.ts';
import { tableInput } from '../../local/table-input.ts';
import { START } from '../plane/scene.ts';
import { embeddedTable } from './embedded-table.ts';
import { type Json, Plane } from './restored-plane.ts';

const A = 'i-0000000000000000a';
const B = 'i-0000000000000000b';
const C = 'i-0000000000000000c';
const database = embeddedTable('restore');
let tables = 0;

const vm = (hostId: string, runStrategy = 'Always') => ({
  hostId,
  runStrategy,
  launch: { type: 'libvirt', domain: 'd' },
});

async function newTable(): Promise<string> {
  tables += 1;
  const TableName = `life-${tables}`;
  await database().send(new CreateTableCommand({ ...tableInput(), TableName }));
  await waitUntilTableExists({ client: database(), maxWaitTime: 60, minDelay: 1, maxDelay: 1 }, { TableName });
  return TableName;
}

/** A point-in-time copy under another name. */
async function copyOf(table: string): Promise<string> {
  const copy = await newTable();
  const { Items = [] } = await database().send(new ScanCommand({ TableName: table, ConsistentRead: true }));
  for (const Item of Items) await database().send(new PutItemCommand({ TableName: copy, Item }));
  return copy;
}

/** A deployment with hosts A and B at rest. */
async function life(): Promise<Plane> {
  const plane = new Plane(database(), await newTable(), { now: START });
  expect(await plane.home.isOpen()).toBe(true);
  for (const id of [A, B]) await plane.node(id, { state: 'Idle', generation: 1 });
  return plane;
}
async function declare(plane: Plane, id: string, body: Json, runs = true): Promise<string> {
  expect((await plane.operator('PUT', `/v1/vms/${id}`, body)).status).toBe(201);
  const instanceId = await plane.instance(id);
  if (runs) await plane.vm(id, String(body['hostId']), { instanceId, uid: await uidOf(plane, id), phase: 'Running' });
  return instanceId;
}
const uidOf = async (plane: Plane, id: string): Promise<string> => String((await plane.see('vms', id))['uid']);

describe('a table restored from an older copy', { timeout: 120_000 }, () => {
  test('nothing is done with it before it was recovered: agents are told to try again, looking is allowed', async () => {
    const before = await life();
    const web = await declare(before, 'web', vm(A));
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    expect(await copy.home.isOpen()).toBe(false);
    expect(await copy.node(A, { state: 'Idle', generation: 1 })).toMatchObject({
      status: 503,
      body: { code: 'NotRecovered' },
    });
    expect(await copy.vm('web', A, { instanceId: web, phase: 'Failed' })).toMatchObject({ status: 503 });
    expect(await copy.operator('POST', '/v1/vms/web/stop')).toMatchObject({ status: 503 });
    expect((await copy.operator('GET', '/v1/vms/web')).status).toBe(200);
    await copy.recover();
    expect(await copy.home.isOpen()).toBe(true);
    expect(await before.operator('POST', '/v1/recover')).toMatchObject({ status: 409, body: { code: 'NotRestored' } });
  });

  test('what was never restored is not recovered; once done, asking again changes nothing', async () => {
    const before = await life();
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    await copy.recover();
    const node = await copy.see('nodes', A);
    await copy.recover();
    expect(await copy.see('nodes', A)).toEqual(node);
  });

  test('every group is paused, also one that the copy does not know; nothing updates until it is resumed', async () => {
    const before = await life();
    await before.operator('PUT', '/v1/groups/edge', { maxConcurrentUpdates: 5 });
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    await copy.recover();
    const offered = { state: 'Idle', updateCheck: { result: 'Available', version: '2.0' } };
    await copy.node(C, { ...offered, generation: 40, group: 'later' });
    for (const group of ['default', 'edge', 'later'])
      expect(await copy.see('groups', group)).toMatchObject({ paused: true });
    const generation = Number(valueAt((await copy.node(C, offered)).body, 'desired.generation'));
    await copy.node(C, { ...offered, generation });
    await copy.pass(9);
    expect(await copy.see('nodes', C)).toMatchObject({
      phase: 'Queued',
      waitingFor: { code: 'Paused' },
      spec: { state: 'Idle' },
    });
    await copy.operator('POST', '/v1/groups/later/resume');
    // What the resume asks for is brought by a message, and here by the sweep.
    await copy.pass(0);
    expect(await copy.see('nodes', C)).toMatchObject({ spec: { state: 'StagedUpdate' } });
  });

  test('a node far ahead in the lost history comes back to Idle, its crash record of the copy is kept, and new crashes count', async () => {
    const before = await life();
    const offered = { updateCheck: { result: 'Available', version: '2.0' } };
    await before.node(A, { state: 'Idle', generation: 1, ...offered });
    await before.node(A, { state: 'ErrorReset', generation: 2, error: { reason: 'Broken' }, ...offered });
    expect(await before.see('nodes', A)).toMatchObject({ crash: { count: 1 } });
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    // Lost: three more attempts, a new version, generation 17.
    before.clock.now = after(before.clock.now, minutes(90));
    await copy.recover();
    const told = await copy.node(A, { state: 'MonitoringUpdate', generation: 17, bootId: 'b3', currentVersion: '2.0' });
    expect(told.status).toBe(200);
    const generation = Number(valueAt(told.body, 'desired.generation'));
    expect(generation).toBeGreaterThan(1_000_000);
    expect(valueAt(told.body, 'desired.state')).toBe('Idle');
    const newer = { updateCheck: { result: 'Available', version: '3.0' }, bootId: 'b3', currentVersion: '2.0' };
    await copy.node(A, { state: 'Idle', generation, ...newer });
    expect(await copy.see('nodes', A)).toMatchObject({ crash: { count: 1 }, waitingFor: { code: 'Paused' } });
    expect(await copy.see('groups', 'default')).toMatchObject({ underWay: [] });
    await copy.operator('POST', '/v1/groups/default/resume');
    // What the resume asks for is brought by a message, and here by the sweep.
    await copy.pass(0);
    expect(await copy.see('nodes', A)).toMatchObject({ spec: { state: 'StagedUpdate', generation: generation + 1 } });
    await copy.node(A, { state: 'ErrorReset', generation: generation + 1, error: { reason: 'Broken' }, ...newer });
    expect(await copy.see('nodes', A)).toMatchObject({ crash: { count: 2 } });
    expect((await copy.node(A, { state: 'Idle', generation: generation + 9 })).status).toBe(409);
  });

  test('an instance begun in the lost history is adopted; the one in the copy is not started again', async () => {
    const before = await life();
    const first = await declare(before, 'web', vm(A));
    const uid = await uidOf(before, 'web');
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    await before.vm('web', A, { instanceId: first, uid, phase: 'Failed', cause: 'GuestPanic' });
    await before.operator('POST', '/v1/vms/web/start');
    const second = await before.instance('web');
    expect(second).not.toBe(first);
    before.clock.now = after(before.clock.now, minutes(200));
    await copy.recover();
    expect(await copy.see('vms', 'web')).toMatchObject({ printableStatus: 'Unknown' });
    expect(await copy.listed(A)).toEqual([]);
    expect(await copy.call('GET', `/v1/vms/web/launch?instanceId=${first}`, undefined, nodeIdentity(A))).toMatchObject({
      status: 409,
    });
    await copy.pass(60);
    expect(copy.starts).toEqual([]);
    await copy.node(A, { state: 'Idle', generation: 1 });
    const told = await copy.vm('web', A, { instanceId: second, uid, phase: 'Running' });
    expect(told.body['desired']).toEqual({ power: 'on', instanceId: second });
    expect(await copy.see('vms', 'web')).toMatchObject({
      printableStatus: 'Running',
      instance: { instanceId: second },
    });
    await copy.pass(120);
    expect(copy.starts).toEqual([]);
    // From here on it is as any other: its end is counted, once.
    for (let twice = 0; twice < 2; twice += 1)
      await copy.vm('web', A, { instanceId: second, uid, phase: 'Failed', cause: 'GuestPanic' });
    await copy.pass(3);
    expect(copy.starts).toEqual(['web']);
  });

  test('an instance that runs on another host than the copy says is adopted there, and none is started on the old one', async () => {
    const before = await life();
    await declare(before, 'web', vm(A, 'Manual'), false);
    const uid = await uidOf(before, 'web');
    await before.operator('PUT', '/v1/vms/web', vm(A));
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    await copy.recover();
    await copy.node(A, { state: 'Idle', generation: 1 });
    await copy.pass(15);
    await copy.node(B, { state: 'Idle', generation: 1 });
    expect((await copy.vm('web', B, { instanceId: 'moved-1', uid, phase: 'Running' })).body['desired']).toMatchObject({
      power: 'on',
    });
    expect(await copy.see('vms', 'web')).toMatchObject({ hostId: B, printableStatus: 'Running' });
    // Who does not know the uid cannot claim the VM.
    expect((await copy.vm('web', C, { instanceId: 'stolen-1', phase: 'Running' })).status).toBe(403);
    await copy.pass(120);
    expect(copy.starts).toEqual([]);
  });

  test('what the copy takes for running and no host names has ended, uncounted, and is started again; not before', async () => {
    const before = await life();
    await declare(before, 'web', vm(A));
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    before.clock.now = after(before.clock.now, minutes(200));
    await copy.recover();
    await copy.pass(300);
    expect(copy.starts).toEqual([]);
    await copy.node(A, { state: 'Idle', generation: 1 });
    await copy.pass(3);
    expect(copy.starts).toEqual([]);
    await copy.pass(9);
    expect(copy.starts).toEqual(['web']);
    expect(await copy.see('vms', 'web')).toMatchObject({
      startFailure: null,
      unstableRuns: null,
      printableStatus: 'Starting',
    });
  });

  test('a VM that waited in the copy is started once its host was heard and had time, and not on one that is fenced', async () => {
    const before = await life();
    for (const [id, host] of [
      ['web', A],
      ['db', B],
    ] as const) {
      const instanceId = await declare(before, id, vm(host), false);
      await before.vm(id, host, { instanceId, phase: 'Failed', cause: 'LaunchFailed' });
    }
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    await copy.recover();
    await copy.node(A, { state: 'Idle', generation: 1 });
    await copy.pass(30);
    expect(copy.starts).toEqual([]);
    expect(await copy.see('vms', 'web')).toMatchObject({ startFailure: { consecutiveFailCount: 1 } });
    await copy.pass(18);
    expect(copy.starts).toEqual(['web']);
    await copy.operator('POST', `/v1/nodes/${B}/fence`);
    await copy.pass(3);
    // Another host may yet name what began there after the copy was made.
    expect(copy.starts).toEqual(['web']);
    await copy.pass(60);
    // Nothing is started on a fenced host: that ends with its first report under another boot.
    expect(copy.starts).toEqual(['web']);
    const told = await copy.node(B, { state: 'Idle', generation: 1, bootId: 'b2' });
    const generation = valueAt(told.body, 'desired.generation');
    await copy.node(B, { state: 'Idle', generation, bootId: 'b2' });
    await copy.pass(3);
    expect(copy.starts.toSorted()).toEqual(['db', 'web']);
  });

  test('a crash that the host tells of only now is counted once', async () => {
    const before = await life();
    const first = await declare(before, 'web', vm(A));
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    await copy.recover();
    for (let twice = 0; twice < 2; twice += 1)
      await copy.vm('web', A, {
        instanceId: first,
        uid: await uidOf(copy, 'web'),
        phase: 'Failed',
        cause: 'GuestPanic',
      });
    expect(await copy.see('vms', 'web')).toMatchObject({ unstableRuns: { count: 1 } });
    await copy.pass(60);
    expect(copy.starts).toEqual([]);
  });

  test('a stop given after the restore wins over an instance that is found later', async () => {
    const before = await life();
    await declare(before, 'web', vm(A));
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    await copy.recover();
    await copy.operator('POST', '/v1/vms/web/stop');
    const uid = await uidOf(copy, 'web');
    const told = await copy.vm('web', A, { instanceId: 'later-1', uid, phase: 'Running' });
    expect(told.body['desired']).toMatchObject({ power: 'off' });
    await copy.vm('web', A, { instanceId: 'later-1', uid, phase: 'Succeeded' });
    await copy.pass(120);
    expect(copy.starts).toEqual([]);
    expect(await copy.see('vms', 'web')).toMatchObject({ printableStatus: 'Stopped' });
  });

  test('what runs of a VM that the copy does not know is left alone', async () => {
    const before = await life();
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    await copy.recover();
    expect(await copy.vm('ghost', A, { instanceId: 'g-1', uid: 'u-1', phase: 'Running' })).toMatchObject({
      status: 404,
    });
  });

  test('died after any page it goes on when asked again, without its cursor; until then nothing is let through', async () => {
    const before = await life();
    await declare(before, 'web', vm(A));
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    const open: boolean[] = [];
    for (let pages = 1; pages <= 3; pages += 1) {
      let cursor: string | null = null;
      for (let page = 0; page < pages; page += 1) {
        const done = await recover(copy.plane, 'operator', false, cursor);
        if ('refusal' in done) throw new Error(done.refusal.detail);
        ({ cursor } = done);
      }
      open.push(await new Home(copy.plane).isOpen());
    }
    expect(open).toEqual([false, false, true]);
    const generation = valueAt(await copy.see('nodes', A), 'spec.generation');
    await copy.recover();
    expect(valueAt(await copy.see('nodes', A), 'spec.generation')).toBe(generation);
  });

  test('a host whose VM was not told that it was heard is found by the VM itself', async () => {
    const before = await life();
    await declare(before, 'web', vm(A));
    const copy = new Plane(database(), await copyOf(before.table), before.clock);
    await copy.recover();
    // The handler died between the node's write and its VM's.
    const cut = vi.spyOn(copy.plane.store, 'vmsOfHost').mockResolvedValue([]);
    await copy.node(A, { state: 'Idle', generation: 1 });
    cut.mockRestore();
    copy.clock.now = after(copy.clock.now, seconds(1));
    await copy.pass(45);
    expect(copy.starts).toEqual([]);
    await copy.pass(15);
    expect(copy.starts).toEqual(['web']);
  });
});
