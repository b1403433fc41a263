import { describe, expect, test } from 'vitest';
import { nodeIdentity } from '../../world/environment.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { exec, HOST, Scene } from '../plane/scene.ts';

const OTHER = 'i-0000000000000000b';

async function declared(runStrategy: string, more: Record<string, unknown> = {}, lateness = 0): Promise<Scene> {
  const scene = new Scene(lateness);
  const answer = await scene.operator('PUT', '/v1/vms/web', { ...exec(runStrategy), ...more });
  expect(answer.status).toBe(201);
  return scene;
}
const put = (scene: Scene, body: Record<string, unknown>) => scene.operator('PUT', '/v1/vms/web', body);
const verb = async (scene: Scene, name: string, body: unknown = {}): Promise<number> =>
  (await scene.operator('POST', `/v1/vms/web/${name}`, body)).status;
const fails = (scene: Scene, message = 'exit 1') =>
  scene.vm('web', { phase: 'Failed', cause: 'LaunchFailed', message });
const lives = (scene: Scene): number => scene.world.instances('web').length;
const status = (scene: Scene) => scene.seen('vms', 'web', 'printableStatus');

describe('the table of run strategies', () => {
  test.each([
    ['Always', 1, 'Starting'],
    ['RerunOnFailure', 1, 'Starting'],
    ['Once', 1, 'Starting'],
    ['Manual', 0, 'Stopped'],
    ['Halted', 0, 'Stopped'],
  ])('%s, when created, has %d instances and is %s', async (strategy, count, shown) => {
    const scene = await declared(strategy);
    expect(lives(scene)).toBe(count);
    expect(await status(scene)).toBe(shown);
  });

  test.each([
    ['Always', 'Failed', 'CrashLoopBackOff'],
    ['Always', 'Succeeded', 'CrashLoopBackOff'],
    ['RerunOnFailure', 'Failed', 'CrashLoopBackOff'],
    ['RerunOnFailure', 'Succeeded', 'Stopped'],
    ['Manual', 'Failed', 'Stopped'],
    ['Manual', 'Succeeded', 'Stopped'],
    ['Once', 'Failed', 'Failed'],
    ['Once', 'Succeeded', 'Completed'],
  ])('%s, when its instance ends %s, is %s', async (strategy, phase, shown) => {
    const scene = await declared(strategy);
    if (strategy === 'Manual') await verb(scene, 'start');
    await scene.vm('web', { phase });
    expect(await status(scene)).toBe(shown);
    const counted = shown === 'CrashLoopBackOff' ? 1 : null;
    expect(await scene.seen('vms', 'web', 'startFailure.consecutiveFailCount')).toBe(counted);
    await scene.to(3600);
    expect(lives(scene)).toBe(shown === 'CrashLoopBackOff' ? 2 : 1);
  });

  test.each([
    ['Always', 202, 202, 202],
    ['RerunOnFailure', 202, 202, 202],
    ['Manual', 202, 202, 202],
    ['Once', 202, 202, 409],
    ['Halted', 409, 202, 409],
  ])('%s answers start %d, stop %d and restart %d', async (strategy, start, stop, restart) => {
    const scene = await declared(strategy);
    expect(await verb(scene, 'start')).toBe(start);
    expect(await verb(scene, 'restart')).toBe(restart);
    expect(await verb(scene, 'stop')).toBe(stop);
    expect(await verb(scene, 'stop')).toBe(stop);
    await scene.sees('vms', 'web', { runStrategy: strategy, 'power.on': false });
  });

  test('Once is started again only after an explicit stop', async () => {
    const scene = await declared('Once');
    await fails(scene);
    expect(await verb(scene, 'start')).toBe(409);
    expect(await verb(scene, 'stop')).toBe(202);
    expect(await verb(scene, 'start')).toBe(202);
    expect(lives(scene)).toBe(2);
  });
});

describe('rules 1 and 2: counting and delays', () => {
  test('a start failure is counted once per instance, delayed, and retried within 2 s of retryAfter, a minute-late Scheduler or not', async () => {
    const scene = await declared('Always', { backoff: { base: '10s', factor: 2, cap: '300s', jitter: 0 } }, 60);
    await fails(scene);
    await fails(scene);
    await scene.sees('vms', 'web', {
      'startFailure.consecutiveFailCount': 1,
      'startFailure.message': 'exit 1',
      printableStatus: 'CrashLoopBackOff',
    });
    await scene.to(9.9);
    expect(lives(scene)).toBe(1);
    await scene.to(10);
    expect(lives(scene)).toBe(2);
    await fails(scene);
    await scene.to(29.9);
    expect(lives(scene)).toBe(2);
    await scene.to(30);
    expect(lives(scene)).toBe(3);
  });

  test.each([
    ['the seed’s', undefined, [10, 20, 40, 80, 160, 200, 200], [15, 30, 60, 120, 240, 300, 300]],
    ['kubevirt’s', { preset: 'kubevirt' }, [10, 40, 90, 160, 250, 200], [15, 60, 135, 240, 300, 300]],
  ])('%s delays stay within their bounds, spread at the cap too', async (_what, backoff, least, most) => {
    const scene = await declared('Always', backoff === undefined ? {} : { backoff });
    for (const [index, min] of least.entries()) {
      const now = scene.world.now;
      await fails(scene);
      const retryAfter = Date.parse(String(await scene.seen('vms', 'web', 'startFailure.retryAfter')));
      expect((retryAfter - now) / 1000).toBeGreaterThanOrEqual(min);
      expect((retryAfter - now) / 1000).toBeLessThanOrEqual(most[index] ?? 0);
      await scene.to((retryAfter - Date.parse('2026-01-01T00:00:00Z')) / 1000 + 2);
    }
  });

  test.each(['start', 'stop', 'restart'])('%s clears the record and keeps the evidence', async (name) => {
    const scene = await declared('Always');
    await fails(scene);
    await verb(scene, name);
    await scene.sees('vms', 'web', {
      startFailure: null,
      'lastFailure.reason': 'LaunchFailed',
      'lastFailure.message': 'exit 1',
    });
  });

  test('Running clears start failures; a run shorter than stableFor is an unstable run; a stable one restarts at once', async () => {
    const scene = await declared('Always');
    await fails(scene);
    await scene.to(20);
    await scene.vm('web', { phase: 'Running' });
    await scene.sees('vms', 'web', { startFailure: null, printableStatus: 'Running' });
    await scene.vm('web', { phase: 'Failed', cause: 'GuestPanic' });
    await scene.sees('vms', 'web', {
      'unstableRuns.count': 1,
      startFailure: null,
      printableStatus: 'CrashLoopBackOff',
    });
    await scene.to(40);
    await scene.vm('web', { phase: 'Running' });
    await scene.to(639);
    await scene.sees('vms', 'web', { 'unstableRuns.count': 1 });
    await scene.to(641);
    await scene.sees('vms', 'web', { unstableRuns: null });
    await scene.vm('web', { phase: 'Failed', cause: 'GuestPanic' });
    await scene.sees('vms', 'web', { printableStatus: 'Starting', unstableRuns: null, startFailure: null });
    expect(lives(scene)).toBe(4);
  });
});

describe('rules 4 and 6: stop, fence', () => {
  test('a stopped instance is Stopping until its end is reported, then Stopped, and never counts', async () => {
    const scene = await declared('Always');
    await scene.vm('web', { phase: 'Running' });
    await verb(scene, 'stop', { gracePeriod: '5s' });
    expect(await status(scene)).toBe('Stopping');
    const told = await scene.vm('web', { phase: 'Running' });
    expect(valueAt(told.body, 'desired')).toMatchObject({ power: 'off', graceSeconds: 5 });
    await scene.vm('web', { phase: 'Failed', cause: 'Killed' });
    await scene.sees('vms', 'web', {
      printableStatus: 'Stopped',
      startFailure: null,
      unstableRuns: null,
      'instance.cause': 'Requested',
    });
    await scene.to(7200);
    expect(lives(scene)).toBe(1);
  });

  test('start during back-off tries now, and two callers make one instance; restart then stop ends Stopped', async () => {
    const scene = await declared('Always');
    await fails(scene);
    await Promise.all([verb(scene, 'start'), verb(scene, 'start')]);
    expect(lives(scene)).toBe(2);
    await verb(scene, 'restart');
    await verb(scene, 'stop');
    await scene.vm('web', { phase: 'Succeeded' });
    await scene.to(600);
    expect(await status(scene)).toBe('Stopped');
    expect(lives(scene)).toBe(2);
  });

  test('a silent host makes the instance Unknown; it is replaced only after a fence, once the host is back, and nothing counts', async () => {
    const scene = await declared('Always');
    await scene.node(HOST, { state: 'Idle', generation: 1, updateCheck: { result: 'UpToDate' } });
    await scene.vm('web', { phase: 'Running' });
    await scene.to(5500);
    await scene.sees('vms', 'web', { printableStatus: 'Unknown', 'instance.phase': 'Unknown' });
    await scene.to(90_000);
    expect(lives(scene)).toBe(1);
    await scene.operator('POST', `/v1/nodes/${HOST}/fence`, {});
    expect(lives(scene)).toBe(1);
    await scene.node(HOST, { state: 'Idle', generation: 1, bootId: 'another', updateCheck: { result: 'UpToDate' } });
    expect(lives(scene)).toBe(2);
    await scene.sees('vms', 'web', { startFailure: null, unstableRuns: null });
  });

  test('the host that was fenced and left is told to end what it still runs', async () => {
    const scene = await declared('Manual');
    await verb(scene, 'start');
    await scene.vm('web', { phase: 'Running' });
    const [instanceId] = scene.world.instances('web');
    await scene.node(HOST, { state: 'Idle', generation: 1, updateCheck: { result: 'UpToDate' } });
    await scene.operator('POST', `/v1/nodes/${HOST}/fence`, {});
    expect((await put(scene, { ...exec('Manual'), hostId: OTHER })).status).toBe(200);
    const told = await scene.vm('web', { instanceId, phase: 'Running' });
    expect(told).toMatchObject({ status: 200, body: { desired: { power: 'off', instanceId } } });
  });
});

describe('rule 5: the start deadline', () => {
  test('nothing counts until the host took the instance on; then LaunchTimeout counts at once, and is replaced only when its end is known', async () => {
    const scene = await declared('Always');
    await scene.to(7200);
    await scene.sees('vms', 'web', { startFailure: null, 'instance.phase': 'Pending', printableStatus: 'Starting' });
    await scene.vm('web', { phase: 'Scheduled' });
    await scene.to(7200 + 239);
    await scene.sees('vms', 'web', { startFailure: null });
    await scene.to(7200 + 361);
    await scene.sees('vms', 'web', {
      'startFailure.consecutiveFailCount': 1,
      'startFailure.reason': 'LaunchTimeout',
      printableStatus: 'CrashLoopBackOff',
    });
    expect(scene.world.commands('vm/web', 'StopInstance')).toBe(1);
    const late = await scene.vm('web', { phase: 'Running' });
    expect(valueAt(late.body, 'desired.power')).toBe('off');
    await scene.to(20_000);
    expect(lives(scene)).toBe(1);
    await scene.sees('vms', 'web', { printableStatus: 'CrashLoopBackOff', 'startFailure.consecutiveFailCount': 1 });
    await scene.vm('web', { phase: 'Failed', cause: 'Killed' });
    expect(lives(scene)).toBe(2);
    await scene.sees('vms', 'web', { 'startFailure.consecutiveFailCount': 1, printableStatus: 'Starting' });
  });

  test('fetching the launch definition takes the instance on; without a deadline nothing ever counts', async () => {
    const scene = await declared('Always', { startDeadline: 'none' });
    const [instanceId] = scene.world.instances('web');
    const path = `/v1/vms/web/launch?instanceId=${instanceId}`;
    const answer = await scene.world.call('GET', path, undefined, nodeIdentity(HOST));
    expect(answer).toMatchObject({
      status: 200,
      body: { startDeadlineSeconds: null, launch: { type: 'libvirt', domain: 'web' } },
    });
    await scene.to(90_000);
    await scene.sees('vms', 'web', { startFailure: null, 'instance.phase': 'Scheduled' });
  });
});

describe('rule 7: changes', () => {
  test.each([
    ['Always', 'RerunOnFailure', true],
    ['RerunOnFailure', 'Always', true],
    ['Always', 'Manual', false],
    ['Always', 'Halted', false],
  ])('%s → %s during back-off: planned retry kept is %s', async (from, to, kept) => {
    const scene = await declared(from);
    await fails(scene);
    await put(scene, exec(to));
    expect(await status(scene)).toBe(kept ? 'CrashLoopBackOff' : 'Stopped');
    expect(await scene.seen('vms', 'web', 'startFailure.consecutiveFailCount')).toBe(kept ? 1 : null);
    await scene.to(3600);
    expect(lives(scene)).toBe(kept ? 2 : 1);
  });

  test('a new launch definition during back-off tries now and keeps the record', async () => {
    const scene = await declared('Always');
    await fails(scene);
    await put(scene, { ...exec('Always'), launch: { type: 'libvirt', domain: 'other' } });
    expect(lives(scene)).toBe(2);
    await scene.sees('vms', 'web', { 'startFailure.consecutiveFailCount': 1 });
  });

  test('Halted stops a live instance, uncounted; a strategy changed after a stop starts nothing', async () => {
    const scene = await declared('Always');
    await scene.vm('web', { phase: 'Running' });
    await put(scene, exec('Halted'));
    expect(await status(scene)).toBe('Stopping');
    await scene.vm('web', { phase: 'Failed' });
    await scene.sees('vms', 'web', { printableStatus: 'Stopped', unstableRuns: null });
    await verb(scene, 'stop');
    await put(scene, exec('Always'));
    await scene.to(600);
    expect(lives(scene)).toBe(1);
  });

  test('the host cannot change while an instance is not known ended', async () => {
    const scene = await declared('Always');
    await scene.vm('web', { phase: 'Scheduled' });
    const refused = await put(scene, { ...exec('Always'), hostId: OTHER });
    expect(refused).toMatchObject({ status: 409, body: { code: 'InstanceNotEnded' } });
    await scene.sees('vms', 'web', { hostId: HOST });
  });
});

describe('rule 8: delete and adoption', () => {
  test('a VM without an instance goes at once; one with an instance when its end is reported', async () => {
    const off = await declared('Manual');
    expect((await off.operator('DELETE', '/v1/vms/web')).status).toBe(202);
    expect((await off.operator('GET', '/v1/vms/web')).status).toBe(404);
    const scene = await declared('Always');
    await scene.vm('web', { phase: 'Scheduled' });
    await scene.operator('DELETE', '/v1/vms/web');
    expect(await status(scene)).toBe('Terminating');
    expect(await verb(scene, 'start')).toBe(409);
    await scene.to(600);
    expect(await scene.seen('vms', 'web', 'explanation')).toMatch(/blocked by host/);
    await scene.vm('web', { phase: 'Failed' });
    expect((await scene.operator('GET', '/v1/vms/web')).status).toBe(404);
  });

  test('after a forced delete a late report revives nothing, is told to end, and is no life of a new declaration', async () => {
    const scene = await declared('Always');
    const [instanceId] = scene.world.instances('web');
    await scene.vm('web', { phase: 'Running' });
    await scene.operator('DELETE', '/v1/vms/web?force=true');
    const late = await scene.vm('web', { phase: 'Running' });
    expect(late).toMatchObject({ status: 200, body: { desired: { power: 'off' } } });
    expect((await scene.operator('GET', '/v1/vms/web')).status).toBe(404);
    expect((await put(scene, exec('Manual'))).status).toBe(201);
    const later = await scene.vm('web', { instanceId, phase: 'Running' });
    expect(later).toMatchObject({ status: 200, body: { desired: { power: 'off' } } });
    await scene.sees('vms', 'web', { instance: null, printableStatus: 'Stopped' });
  });

  test('an instance that already runs for a VM declared later is adopted, not started a second time', async () => {
    const scene = await declared('Always');
    const [ours] = scene.world.instances('web');
    const told = await scene.vm('web', { instanceId: 'found-1', phase: 'Running' });
    expect(valueAt(told.body, 'desired')).toMatchObject({ power: 'on', instanceId: 'found-1' });
    await scene.sees('vms', 'web', { 'instance.instanceId': 'found-1', printableStatus: 'Running' });
    const launch = await scene.as(HOST, 'GET', `/v1/vms/web/launch?instanceId=${ours}`);
    expect(launch).toMatchObject({ status: 409, body: { code: 'InstanceNotWanted' } });
  });
});
