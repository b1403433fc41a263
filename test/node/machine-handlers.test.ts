import { describe, expect, test } from 'vitest';
import { parseNodeId } from '../../core/kit/ids.ts';
import { after, type Instant, seconds } from '../../core/kit/time.ts';
import { type MachineEvent, noteMachineEvent } from '../../functions/operations/lifecycle.ts';
import { exec, HOST, Scene, START } from '../plane/scene.ts';

const B = 'i-0000000000000000b';
const UP_TO_DATE = { state: 'Idle', generation: 1, updateCheck: { result: 'UpToDate' } };

const second = (at: number): Instant => after(START, seconds(at));

/** An event of EC2 or SSM about a machine, `at` seconds from the start, delivered now. */
async function machine(scene: Scene, kind: MachineEvent['kind'], at: number, id = HOST): Promise<void> {
  const nodeId = parseNodeId(id);
  if (nodeId === null) throw new Error('not a node id');
  await noteMachineEvent(scene.world.plane, {
    nodeId,
    kind,
    at: second(at),
  });
  await scene.world.runTo(scene.world.now);
}

/** A host at rest with one Running VM of strategy Always. */
async function hosting(): Promise<Scene> {
  const scene = new Scene();
  await scene.node(HOST, UP_TO_DATE);
  await scene.operator('PUT', '/v1/vms/web', exec('Always'));
  await scene.vm('web', { phase: 'Running' });
  return scene;
}
const lives = (scene: Scene): number => scene.world.instances('web').length;
const gone = async (scene: Scene, id = HOST): Promise<boolean> =>
  (await scene.operator('GET', `/v1/nodes/${id}`)).status === 404;

describe('rule 9: EC2 stopped the machine', () => {
  test('its instances have ended, uncounted; it stays enrolled and is neither silent nor unreachable however long', async () => {
    const scene = await hosting();
    await scene.to(100);
    await machine(scene, 'stopped', 100);
    await scene.sees('vms', 'web', { 'instance.phase': 'Failed', startFailure: null, unstableRuns: null });
    // Nothing is started on a host that is off (section 3 rule 6).
    expect(lives(scene)).toBe(1);
    await scene.to(200_000);
    await scene.sees('nodes', HOST, { phase: 'Idle', 'crash.count': 0 });
    expect(await scene.seen('nodes', HOST, 'explanation')).toMatch(
      /^Stopped by EC2 at .*nothing counts until it reports/,
    );
    expect(lives(scene)).toBe(1);
    await scene.node(HOST, { ...UP_TO_DATE, bootId: 'b2' });
    expect(lives(scene)).toBe(2);
  });

  test.each(['StagedUpdate', 'RebootedIntoUpdate'])(
    '%s under way is withdrawn: no crash, and the slot goes to the next',
    async (state) => {
      const scene = new Scene();
      await scene.node(HOST, { state: 'Idle', generation: 1 });
      for (let guard = 0; (await scene.seen('nodes', HOST, 'spec.state')) !== state && guard < 4; guard += 1)
        await scene.obey(HOST);
      await scene.node(B, { state: 'Idle', generation: 1 });
      await scene.sees('nodes', B, { phase: 'Queued' });
      await scene.to(60);
      await machine(scene, 'stopped', 60);
      await scene.sees('nodes', HOST, { 'spec.state': 'Idle', 'crash.count': 0, phase: 'Idle' });
      await scene.sees('nodes', B, { 'spec.state': 'StagedUpdate' });
      await scene.to(7200);
      await scene.sees('nodes', HOST, { 'crash.count': 0 });
      await scene.obey(HOST, { bootId: 'b2' });
      await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate', 'crash.count': 0, 'status.bootId': 'b2' });
    },
  );

  test('its crash record and its wait stay as they were', async () => {
    const scene = new Scene();
    await scene.node(HOST, { state: 'Idle', generation: 1 });
    await scene.obey(HOST, { state: 'ErrorReset', error: { reason: 'Broken' } });
    const before = await scene.seen('nodes', HOST, 'crash');
    await scene.to(30);
    await machine(scene, 'stopped', 30);
    expect(await scene.seen('nodes', HOST, 'crash')).toEqual(before);
    await scene.to(3600);
    await scene.sees('nodes', HOST, { 'spec.state': 'Idle', 'crash.count': 1 });
  });

  test('an event that a report has overtaken changes nothing', async () => {
    const scene = await hosting();
    await scene.to(200);
    await scene.node(HOST, { ...UP_TO_DATE, bootId: 'b2' });
    // The boot that reports has ended what the one before it ran.
    expect(lives(scene)).toBe(2);
    await machine(scene, 'stopped', 100);
    await scene.sees('vms', 'web', { printableStatus: 'Starting' });
    expect(lives(scene)).toBe(2);
    expect(await scene.seen('nodes', HOST, 'explanation')).not.toMatch(/Stopped/);
  });

  test('a stop that arrives after the start that followed it changes nothing', async () => {
    const scene = await hosting();
    await scene.to(300);
    await machine(scene, 'running', 200);
    await machine(scene, 'stopped', 100);
    expect(await scene.seen('nodes', HOST, 'explanation')).not.toMatch(/Stopped/);
    expect(lives(scene)).toBe(1);
  });

  test('a report that was on its way when it stopped does not bring it back; a new boot does', async () => {
    const scene = await hosting();
    await scene.to(100);
    await machine(scene, 'stopped', 100);
    await scene.to(110);
    await scene.node(HOST, UP_TO_DATE);
    expect(await scene.seen('nodes', HOST, 'explanation')).toMatch(/^Stopped/);
    await scene.to(130);
    await scene.node(HOST, { ...UP_TO_DATE, bootId: 'b2' });
    expect(await scene.seen('nodes', HOST, 'explanation')).not.toMatch(/Stopped/);
  });

  test('delivered again it fences again, but not what the host has taken on since', async () => {
    const scene = await hosting();
    await scene.to(100);
    await machine(scene, 'stopped', 100);
    await machine(scene, 'stopped', 100);
    expect(lives(scene)).toBe(1);
    await scene.to(160);
    await scene.node(HOST, { ...UP_TO_DATE, bootId: 'b2' });
    await scene.vm('web', { phase: 'Scheduled' });
    await scene.vm('web', { phase: 'Running' });
    await machine(scene, 'stopped', 100);
    await scene.sees('vms', 'web', { printableStatus: 'Running' });
    expect(lives(scene)).toBe(2);
  });

  test('started again and not heard of for 90 min it is silent', async () => {
    const scene = await hosting();
    await scene.to(100);
    await machine(scene, 'stopped', 100);
    await scene.to(50_000);
    await machine(scene, 'running', 50_000);
    await scene.to(50_000 + 5300);
    expect(scene.world.happenings.some(({ text }) => text.startsWith('Node Silent'))).toBe(false);
    await scene.to(50_000 + 5500);
    expect(scene.world.happenings.some(({ text }) => text.startsWith('Node Silent'))).toBe(true);
  });

  test('about a node that never enrolled nothing is kept', async () => {
    const scene = new Scene();
    for (const kind of ['stopped', 'running', 'terminated', 'deregistered'] as const) await machine(scene, kind, 0, B);
    expect(await gone(scene, B)).toBe(true);
    expect(scene.world.table.writes).toBe(0);
  });
});

describe('rule 9: the machine is gone', () => {
  test.each(['terminated', 'deregistered'] as const)(
    '%s: a tombstone, its slot free, no crash, its instances HostLost',
    async (kind) => {
      const scene = await hosting();
      await scene.node(HOST, { ...UP_TO_DATE, updateCheck: { result: 'Available', version: '1.1' } });
      await scene.node(B, { state: 'Idle', generation: 1 });
      await scene.sees('groups', 'default', { underWay: [HOST] });
      await scene.to(60);
      await machine(scene, kind, 60);
      await machine(scene, kind, 60);
      expect(await gone(scene)).toBe(true);
      await scene.sees('groups', 'default', { underWay: [B] });
      expect(lives(scene)).toBe(1);
      await scene.sees('vms', 'web', { 'instance.cause': 'HostLost', startFailure: null, unstableRuns: null });
      expect(scene.world.metrics.get('NodeCrash')).toBe(0);
      await scene.node(HOST, { ...UP_TO_DATE, uptime: 1 });
      expect(await gone(scene)).toBe(true);
      await scene.node(HOST, { ...UP_TO_DATE, bootId: 'b2' });
      await scene.sees('nodes', HOST, { 'spec.generation': 3 });
      // The host is there again, and what is to run there starts.
      expect(lives(scene)).toBe(2);
    },
  );

  test('no report of the boot that EC2 terminated enrols it again', async () => {
    const scene = await hosting();
    await scene.to(60);
    await machine(scene, 'terminated', 60);
    await scene.node(HOST, { ...UP_TO_DATE, uptime: 9999 });
    expect(await gone(scene)).toBe(true);
  });

  test('a node that was deleted and then terminated gives up its instances too', async () => {
    const scene = await hosting();
    await scene.operator('DELETE', `/v1/nodes/${HOST}`);
    await scene.sees('vms', 'web', { printableStatus: 'Running' });
    await scene.to(60);
    await machine(scene, 'terminated', 60);
    await scene.sees('vms', 'web', { 'instance.cause': 'HostLost' });
  });

  test('a deregistration that a later report has overtaken changes nothing', async () => {
    const scene = await hosting();
    await scene.to(200);
    await scene.node(HOST, { ...UP_TO_DATE, bootId: 'b2' });
    await machine(scene, 'deregistered', 100);
    expect(await gone(scene)).toBe(false);
  });

  test('silent for 24 h and unknown to SSM: a tombstone; known to SSM: only silent', async () => {
    const scene = await hosting();
    await scene.node(B, UP_TO_DATE);
    scene.world.deregistered.add(HOST);
    await scene.to(86_390);
    expect(await gone(scene)).toBe(false);
    await scene.operator('POST', `/v1/nodes/${B}/hold`, {});
    await scene.to(87_000);
    expect(await gone(scene)).toBe(true);
    expect(await gone(scene, B)).toBe(false);
    expect(lives(scene)).toBe(1);
    await scene.sees('vms', 'web', { 'instance.cause': 'HostLost', startFailure: null, unstableRuns: null });
  });
});
