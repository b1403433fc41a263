/** What operators ask of a rollout (DESIGN section 2b): order of groups, windows, expedited versions, the breaker. */
import { nodeIdentity, OPERATOR } from '../../world/environment.ts';
import { describe, expect, test } from 'vitest';
import { HOST, Scene } from '../plane/scene.ts';

const put = (scene: Scene, group: string, body: object) => scene.operator('PUT', `/v1/groups/${group}`, body);
const NEWER = { result: 'Available', version: '1.1' } as const;
const after = (group: string) => ({ after: { group, soak: '1h' } });
const other = (n: number): string => `i-${n.toString(16).padStart(17, '0')}`;

describe('groups that come after each other', () => {
  test('are refused in a circle, by name', async () => {
    const scene = new Scene();
    await put(scene, 'a', {});
    await put(scene, 'b', after('a'));
    await put(scene, 'c', after('b'));
    expect(await put(scene, 'a', after('c'))).toMatchObject({
      status: 409,
      body: { code: 'AfterCycle', detail: 'groups would wait for each other: a after c after b after a' },
    });
    expect(await put(scene, 'a', after('a'))).toMatchObject({ status: 409, body: { code: 'AfterCycle' } });
    expect(await scene.seen('groups', 'a', 'policy.after')).toBeNull();
  });

  test('are refused after one that nobody has named, and kept from losing the one they name', async () => {
    const scene = new Scene();
    expect(await put(scene, 'b', after('a'))).toMatchObject({ status: 404, body: { code: 'GroupNotFound' } });
    await put(scene, 'a', {});
    expect((await put(scene, 'b', after('a'))).status).toBe(201);
    expect(await scene.operator('DELETE', '/v1/groups/a')).toMatchObject({ status: 409, body: { code: 'GroupNamed' } });
    await put(scene, 'b', {});
    expect((await scene.operator('DELETE', '/v1/groups/a')).status).toBe(202);
  });

  test('say what is missing there, node by node', async () => {
    const scene = new Scene();
    await put(scene, 'canary', {});
    await put(scene, 'default', after('canary'));
    for (const n of [1, 2, 3, 4]) await scene.node(other(n), { state: 'Idle', group: 'canary' });
    await scene.node(HOST, { state: 'Idle' });
    await scene.to(200);
    expect(await scene.seen('nodes', HOST, 'explanation')).toMatch(
      /^Waits until group canary has settled on 1\.1 for 1h: i-0{16}1 runs 1\.0, i-0{16}2 runs 1\.0, i-0{16}3 runs 1\.0 and 1 more/,
    );
  });
});

describe('a window that a person opens', () => {
  const NIGHT = { windows: [{ cron: '0 2 * * *', duration: '1h' }] };

  test('lets the group begin, and closes when its time is over', async () => {
    const scene = new Scene();
    await put(scene, 'default', NIGHT);
    await scene.node(HOST, { state: 'Idle' });
    await scene.sees('nodes', HOST, { phase: 'WaitingForWindow', 'spec.state': 'Idle' });
    expect(await scene.operator('POST', '/v1/groups/default/openWindow', { for: '30m' })).toMatchObject({
      status: 202,
      body: { window: { open: true, closesAt: '2026-01-01T00:30:00.000Z' } },
    });
    await scene.sees('nodes', HOST, { phase: 'Updating', 'spec.state': 'StagedUpdate' });
    await scene.to(1801);
    await scene.sees('groups', 'default', { 'window.open': false, 'window.opensAt': '2026-01-01T02:00:00.000Z' });
  });

  test('is closed early by a person, and is then over', async () => {
    const scene = new Scene();
    await put(scene, 'default', NIGHT);
    await scene.operator('POST', '/v1/groups/default/openWindow', { for: '30m' });
    expect((await scene.operator('POST', '/v1/groups/default/closeWindow', {})).status).toBe(202);
    await scene.node(HOST, { state: 'Idle' });
    await scene.sees('nodes', HOST, { phase: 'WaitingForWindow' });
  });

  test.each([[{}], [{ for: '9m' }], [{ for: '8d' }], [{ for: '1h', now: true }]])('%j is refused', async (body) => {
    const scene = new Scene();
    expect(await scene.operator('POST', '/v1/groups/default/openWindow', body)).toMatchObject({
      status: 400,
      body: { code: 'InvalidBody' },
    });
  });
});

describe('a gate that shuts', () => {
  test('between the claim and the answer starts nobody: the claim is given back', async () => {
    const scene = new Scene();
    await put(scene, 'default', { maxConcurrentUpdates: 1 });
    await scene.operator('POST', '/v1/groups/default/pause', {});
    await scene.node(HOST, { state: 'Idle' });
    await put(scene, 'default', { maxConcurrentUpdates: 1, version: { skip: ['1.1'] } });
    await scene.operator('POST', '/v1/groups/default/resume', {});
    await scene.sees('nodes', HOST, { 'spec.state': 'Idle', 'waitingFor.code': 'VersionNotAllowed' });
    await scene.sees('groups', 'default', { underWay: [] });
  });

  test('while the update is being staged ends it when it is staged, and it is not tried again before the gate opens', async () => {
    const scene = new Scene();
    await scene.node(HOST, { state: 'Idle' });
    await put(scene, 'default', { version: { skip: ['1.1'] } });
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate' });
    await scene.obey(HOST);
    await scene.sees('nodes', HOST, { 'spec.state': 'Idle', 'crash.count': 0 });
    await scene.obey(HOST);
    await scene.sees('nodes', HOST, { 'waitingFor.code': 'VersionNotAllowed', phase: 'Idle' });
    await put(scene, 'default', {});
    // The group was filled a moment ago: the next filler comes a second later.
    await scene.to(2);
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate' });
  });

  test('when the update is activated withdraws it: nobody stays armed', async () => {
    const scene = new Scene();
    await scene.node(HOST, { state: 'Idle' });
    await scene.obey(HOST);
    await scene.sees('nodes', HOST, { 'spec.state': 'PerformedUpdate' });
    await put(scene, 'default', { version: { pin: '1.0' } });
    await scene.sees('nodes', HOST, { 'spec.state': 'Idle', 'crash.count': 0 });
  });

  test('after the reboot was decided changes nothing: it finishes', async () => {
    const scene = new Scene();
    await scene.node(HOST, { state: 'Idle' });
    await scene.obey(HOST);
    await scene.obey(HOST);
    await put(scene, 'default', { version: { pin: '1.0' } });
    await scene.to(200);
    await scene.sees('nodes', HOST, { 'spec.state': 'RebootedIntoUpdate' });
  });
});

describe('the reboot', () => {
  test('is begun only until the window closes: the answer says so', async () => {
    const scene = new Scene();
    await put(scene, 'default', { windows: [{ cron: '0 0 * * *', duration: '10m' }] });
    await scene.to(500);
    await scene.node(HOST, { state: 'Idle' });
    await scene.obey(HOST);
    await scene.to(540);
    const told = await scene.obey(HOST);
    expect(told.body).toMatchObject({ desired: { state: 'RebootedIntoUpdate', beginWithinSeconds: 60 } });
    await scene.to(610);
    const late = await scene.node(HOST, {
      state: 'PerformedUpdate',
      generation: await scene.seen('nodes', HOST, 'spec.generation'),
      notBegun: true,
    });
    expect(late.body).toMatchObject({ desired: { state: 'Idle' } });
    await scene.sees('nodes', HOST, { 'crash.count': 0 });
  });
});

describe('a pin', () => {
  test('is told to each node of the group with its answer, and taken back when it goes', async () => {
    const scene = new Scene();
    await scene.node(HOST, { state: 'Idle', updateCheck: { result: 'UpToDate' } });
    await put(scene, 'default', { version: { pin: '1.2' } });
    await scene.to(200);
    const pinned = await scene.node(HOST, { state: 'Idle', updateCheck: { result: 'UpToDate' } });
    expect(pinned.body).toMatchObject({ desired: { state: 'Idle', pin: '1.2' } });
    await put(scene, 'default', {});
    await scene.to(400);
    const free = await scene.node(HOST, { state: 'Idle', updateCheck: { result: 'UpToDate' } });
    expect(free.body).not.toHaveProperty('desired.pin');
  });

  test('is told at once to a node that enrols', async () => {
    const scene = new Scene();
    await put(scene, 'default', { version: { pin: '1.2' } });
    const first = await scene.node(HOST, { state: 'Idle' });
    expect(first.body).toMatchObject({ desired: { pin: '1.2' } });
    await scene.sees('nodes', HOST, { 'waitingFor.code': 'VersionNotAllowed' });
  });
});

describe('nobody is hidden', () => {
  test('behind many that are offered a stopped version', async () => {
    const scene = new Scene();
    await put(scene, 'default', { version: { skip: ['1.1'] } });
    for (let n = 1; n <= 60; n += 1) await scene.node(other(n), { state: 'Idle' });
    await scene.operator('POST', '/v1/groups/default/pause', {});
    await scene.node(HOST.replace('a', 'f'), { state: 'Idle', updateCheck: { result: 'Available', version: '1.2' } });
    await scene.operator('POST', '/v1/groups/default/resume', {});
    await scene.sees('nodes', HOST.replace('a', 'f'), { 'spec.state': 'StagedUpdate' });
  });
});

test('a node that reports while the fill of a policy that was just put is on its way starts with its answer', async () => {
  const { world } = new Scene();
  // What is queued is not run between these calls: the fill that the policy asks for is still to come.
  await world.call('PUT', '/v1/groups/default', { maxConcurrentUpdates: 2 }, OPERATOR);
  const states = [];
  for (const n of [1, 2, 3]) {
    const report = { state: 'Idle', bootId: 'b1', currentVersion: '1.0', uptime: 1, updateCheck: NEWER };
    const { body } = await world.call('POST', `/v1/nodes/${other(n)}/reports`, report, nodeIdentity(other(n)));
    states.push(body);
  }
  expect(states).toMatchObject([
    { desired: { state: 'StagedUpdate' } },
    { desired: { state: 'StagedUpdate' } },
    { desired: { state: 'Idle' } },
  ]);
});
