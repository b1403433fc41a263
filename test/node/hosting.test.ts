/** The list of a host's VMs in the answer to its report: one request for an idle host (DESIGN sections 6 and 10). */
import { describe, expect, test } from 'vitest';
import { declareVm, learnHosting, mayHostVms } from '../../core/node/hosting.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { after, days, minutes, seconds } from '../../core/kit/time.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { HOST, Scene, START } from '../plane/scene.ts';
import { there } from '../kit/there.ts';

const launch = { type: 'libvirt', domain: 'web' };
const body = { hostId: HOST, runStrategy: 'Always', launch };
const IDLE = { state: 'Idle', updateCheck: { result: 'UpToDate' } };
const named = (scene: Scene) => scene.world.instances('web').at(-1);

type Answered = { vmsTag?: string; vms?: { vmId: string; power: string; instanceId: string }[] };
/** What a report of the host is answered of its VMs. */
async function answered(scene: Scene, more: Record<string, unknown> = {}): Promise<Answered> {
  const { status, body: answer } = await scene.node(HOST, { ...IDLE, ...more });
  expect(status).toBe(200);
  return { ...(valueAt(answer, 'vmsTag') === undefined ? {} : (answer as Answered)) }; // the contract's schema checks the rest
}

describe('the answer to a report', () => {
  test('has the list and its tag, and the tag alone once the agent has sent that', async () => {
    const scene = new Scene();
    const empty = await answered(scene);
    expect(empty).toMatchObject({ vmsTag: expect.any(String), vms: [] });
    await scene.operator('PUT', '/v1/vms/web', body);
    const first = await answered(scene, { vmsTag: empty.vmsTag });
    expect(first.vms).toMatchObject([{ vmId: 'web', power: 'on', instanceId: named(scene) }]);
    expect(first.vmsTag).not.toBe(empty.vmsTag);
    const again = await answered(scene, { vmsTag: first.vmsTag });
    expect(again.vmsTag).toBe(first.vmsTag);
    expect(again).not.toHaveProperty('vms');
  });

  test('says so when a VM is stopped, and when it has moved away', async () => {
    const scene = new Scene();
    await answered(scene);
    await scene.operator('PUT', '/v1/vms/web', body);
    await scene.vm('web', { phase: 'Running', ranSeconds: 5 });
    const before = await answered(scene);
    await scene.operator('POST', '/v1/vms/web/stop', {});
    const stopped = await answered(scene, { vmsTag: before.vmsTag });
    expect(stopped.vms).toMatchObject([{ vmId: 'web', power: 'off' }]);
    await scene.vm('web', { phase: 'Succeeded', cause: 'Requested' });
    expect((await answered(scene, { vmsTag: stopped.vmsTag })).vms).toEqual([]);
  });

  test('of a host that enrols after its VM was declared has the list, too', async () => {
    const scene = new Scene();
    await scene.operator('PUT', '/v1/vms/web', body);
    expect((await answered(scene)).vms).toMatchObject([{ vmId: 'web', power: 'on' }]);
  });

  test('to an agent that knows no tag has the list each time', async () => {
    const scene = new Scene();
    await scene.operator('PUT', '/v1/vms/web', body);
    await answered(scene);
    expect((await answered(scene)).vms).toHaveLength(1);
  });

  test('is what the list of the host says', async () => {
    const scene = new Scene();
    await answered(scene);
    await scene.operator('PUT', '/v1/vms/web', { ...body, lease: '10m' });
    await scene.vm('web', { phase: 'Scheduled' });
    const list = await scene.as(HOST, 'GET', `/v1/nodes/${HOST}/vms`);
    expect((await answered(scene)).vms).toEqual(valueAt(list.body, 'items'));
  });
});

describe('whether VMs are declared on a node', () => {
  const at = START;
  // Nothing else of the node is looked at here.
  const node = (hosting?: NodeRecord['hosting']): NodeRecord =>
    ({ revision: 1, ...(hosting === undefined ? {} : { hosting }) }) as NodeRecord;
  const later = (length: Parameters<typeof after>[1]) => after(at, length);

  test('is looked at until it is known, and again after a day', () => {
    expect(mayHostVms(node(), at)).toBe(true);
    expect(mayHostVms(node(null), at)).toBe(true);
    expect(mayHostVms(node({ vms: true, at }), later(days(9)))).toBe(true);
    expect(mayHostVms(node({ vms: false, at }), later(minutes(1439)))).toBe(false);
    expect(mayHostVms(node({ vms: false, at }), later(days(1)))).toBe(true);
  });

  test.each([
    ['unknown', undefined, false, seconds(0), false],
    ['none, and one is found', { vms: false, at }, true, seconds(1), true],
    ['one that was just declared, and is not in the index yet', { vms: true, at }, false, minutes(9), true],
    ['one that has long gone', { vms: true, at }, false, minutes(10), false],
  ])('%s', (_what, hosting, found, wait, vms) => {
    expect(learnHosting(node(hosting), found, later(wait)).hosting?.vms).toBe(vms);
  });

  test('what is known is not written again each time', () => {
    const known = node({ vms: false, at });
    expect(learnHosting(known, false, later(minutes(5)))).toBe(known);
    const has = node({ vms: true, at });
    expect(learnHosting(has, true, later(days(3)))).toBe(has);
  });

  test('a declaration is noted, before its absence from the index could say something', () => {
    expect(declareVm(node({ vms: false, at }), at)).toMatchObject({ next: { hosting: { vms: true, at } } });
    expect(declareVm(node({ vms: true, at }), later(minutes(4))).kind).toBe('unchanged');
    expect(there(declareVm(node({ vms: true, at }), later(minutes(5))))).toMatchObject({
      next: { hosting: { vms: true, at: later(minutes(5)) }, revision: 2 },
    });
  });

  test('a declaration is noted also on a host that had none for days', async () => {
    const scene = new Scene();
    const { vmsTag } = await answered(scene);
    await scene.to(3600);
    await scene.operator('PUT', '/v1/vms/web', body);
    expect((await answered(scene, { vmsTag })).vms).toHaveLength(1);
  });
});
