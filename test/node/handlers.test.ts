import { describe, expect, test } from 'vitest';
import { valueAt } from '../../world/simulate/match.ts';
import { at, HOST, Scene } from '../plane/scene.ts';

const B = 'i-0000000000000000b';
const C = 'i-0000000000000000c';
const NEW = { bootId: 'b2', currentVersion: '1.1', updateCheck: { result: 'UpToDate' } };

/** Brings a node from nothing to the spec given, each step reported by the node. */
async function reach(scene: Scene, state: string, id = HOST): Promise<void> {
  await scene.node(id, { state: 'Idle', generation: 1 });
  for (let guard = 0; guard < 5 && (await scene.seen('nodes', id, 'spec.state')) !== state; guard += 1) {
    const now = await scene.seen('nodes', id, 'spec.state');
    await scene.obey(id, now === 'RebootedIntoUpdate' || now === 'MonitoringUpdate' ? NEW : {});
  }
  expect(await scene.seen('nodes', id, 'spec.state')).toBe(state);
}

/** On the boot that the node last reported: an older one would be out of order. */
const crash = async (scene: Scene, id = HOST, reason = 'Broken'): Promise<void> => {
  const bootId = await scene.seen('nodes', id, 'status.bootId');
  const currentVersion = await scene.seen('nodes', id, 'status.currentVersion');
  await scene.obey(id, { state: 'ErrorReset', bootId, currentVersion, error: { reason, message: 'it broke' } });
};

describe('rule 1 and the table: a node is led through an update', () => {
  test('each report of the state wanted is answered with the next one, and success is Idle with a clear record', async () => {
    const scene = new Scene();
    const states: unknown[] = [];
    const note = (answer: { body: unknown }): void => void states.push(valueAt(answer.body, 'desired.state'));
    note(await scene.node(HOST, { state: 'Idle', generation: 1 }));
    note(await scene.obey(HOST));
    note(await scene.obey(HOST));
    note(await scene.obey(HOST, NEW));
    note(await scene.obey(HOST, NEW));
    await scene.to(119);
    await scene.sees('nodes', HOST, { phase: 'Monitoring', 'spec.state': 'MonitoringUpdate' });
    await scene.to(121);
    await scene.sees('nodes', HOST, { 'spec.state': 'MonitoringUpdate', phase: 'Monitoring' });
    note(await scene.obey(HOST, NEW));
    await scene.sees('nodes', HOST, { 'spec.state': 'Idle', phase: 'Monitoring' });
    note(await scene.obey(HOST, NEW));
    expect(states).toEqual([
      'StagedUpdate',
      'PerformedUpdate',
      'RebootedIntoUpdate',
      'MonitoringUpdate',
      'MonitoringUpdate',
      'Idle',
      'Idle',
    ]);
    await scene.sees('nodes', HOST, {
      phase: 'Idle',
      'spec.generation': 6,
      'status.currentVersion': '1.1',
      'crash.count': 0,
    });
  });
});

describe('rule 2: failures', () => {
  test.each(['StagedUpdate', 'PerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate'])(
    'ErrorReset on the way to %s is one crash with all that is known of it',
    async (state) => {
      const scene = new Scene();
      await reach(scene, state);
      await crash(scene);
      await scene.sees('nodes', HOST, {
        'spec.state': 'Idle',
        phase: 'Recovering',
        'crash.count': 1,
        'crash.firstAt': at(0),
        'crash.lastAt': at(0),
        'crash.retryAfter': at(state === 'RebootedIntoUpdate' || state === 'MonitoringUpdate' ? 120 : 2),
        'crash.resetAt': at(86_400),
        'crash.lastState': state,
        'crash.lastReason': 'Broken',
        'crash.lastMessage': 'it broke',
      });
      await crash(scene);
      await scene.sees('nodes', HOST, { 'crash.count': 1 });
    },
  );

  test.each([
    ['StagedUpdate', 720],
    ['PerformedUpdate', 300],
    ['RebootedIntoUpdate', 900],
    ['MonitoringUpdate', 300],
  ])('%s not reached within %d s is a crash, and not a second earlier', async (state, deadline) => {
    const scene = new Scene();
    await reach(scene, state);
    await scene.to(deadline - 1);
    await scene.sees('nodes', HOST, { 'crash.count': 0, 'spec.state': state });
    await scene.to(deadline);
    await scene.sees('nodes', HOST, { 'crash.count': 1, 'crash.lastReason': 'DeadlinePassed', phase: 'Unreachable' });
  });

  test('a node whose deadline passed is no longer unreachable once it reports, though it names the old generation', async () => {
    const scene = new Scene();
    await reach(scene, 'StagedUpdate');
    await scene.to(720);
    await scene.node(HOST, { state: 'Idle', generation: 2 });
    await scene.sees('nodes', HOST, { phase: 'Recovering', 'crash.count': 1, 'spec.generation': 3 });
  });

  test('the Idle deadline never counts and makes no generation', async () => {
    const scene = new Scene();
    await reach(scene, 'StagedUpdate');
    await crash(scene);
    await scene.to(3000);
    await scene.sees('nodes', HOST, { 'crash.count': 1, 'spec.generation': 3, phase: 'Unreachable' });
  });

  test('a step that is not picked up is withdrawn after 35 min: nothing counted, slot freed, unreachable', async () => {
    const scene = new Scene();
    await scene.operator('POST', '/v1/groups/default/pause', {});
    await scene.node(HOST, { state: 'Idle', generation: 1 });
    await scene.operator('POST', '/v1/groups/default/resume', {});
    await scene.sees('groups', 'default', { underWay: [HOST] });
    await scene.to(2099);
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate' });
    await scene.to(2100);
    await scene.sees('nodes', HOST, { 'spec.state': 'Idle', 'crash.count': 0, phase: 'Unreachable' });
    await scene.sees('groups', 'default', { underWay: [] });
    await scene.obey(HOST);
    expect(await scene.seen('nodes', HOST, 'phase')).not.toBe('Unreachable');
  });

  test('a report without a generation neither completes nor fails a step', async () => {
    const scene = new Scene();
    await reach(scene, 'StagedUpdate');
    await scene.node(HOST, { state: 'StagedUpdate' });
    await scene.node(HOST, { state: 'ErrorReset' });
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate', 'crash.count': 0, 'status.state': 'ErrorReset' });
  });
});

describe('rule 3: waiting', () => {
  test('a crashed node tries again at firstAt + 2^count, not before, with the Scheduler a minute late', async () => {
    const scene = new Scene(60);
    await reach(scene, 'StagedUpdate');
    await crash(scene);
    await scene.obey(HOST);
    await scene.to(1.9);
    await scene.sees('nodes', HOST, { phase: 'BackingOff', 'spec.state': 'Idle' });
    await scene.to(2);
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate', 'crash.count': 1 });
  });

  test('the record is forgotten 24 h after the first crash, also when the next crash is reported before the timer', async () => {
    const scene = new Scene(60);
    await reach(scene, 'StagedUpdate');
    await crash(scene);
    await scene.obey(HOST, { updateCheck: { result: 'UpToDate' } });
    await scene.to(86_399);
    await scene.sees('nodes', HOST, { 'crash.count': 1 });
    await scene.to(86_400);
    await scene.obey(HOST, { updateCheck: { result: 'UpToDate' } });
    await scene.sees('nodes', HOST, { 'crash.count': 0, 'crash.firstAt': null, 'crash.retryAfter': null });
  });

  test('retry clears the wait and keeps the count', async () => {
    const scene = new Scene();
    await scene.operator('PUT', '/v1/groups/default', { backoff: { preset: 'brupop' } });
    await reach(scene, 'StagedUpdate');
    await crash(scene);
    await scene.obey(HOST);
    await scene.sees('nodes', HOST, { 'crash.retryAfter': at(180), phase: 'BackingOff' });
    expect((await scene.operator('POST', `/v1/nodes/${HOST}/retry`, {})).status).toBe(202);
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate', 'crash.count': 1 });
  });
});

describe('rule 4: slots', () => {
  const limit = (scene: Scene, maxConcurrentUpdates: unknown, group = 'default') =>
    scene.operator('PUT', `/v1/groups/${group}`, { maxConcurrentUpdates });
  const started = async (scene: Scene, ids: readonly string[]): Promise<number> => {
    let count = 0;
    for (const id of ids) if ((await scene.seen('nodes', id, 'spec.state')) === 'StagedUpdate') count += 1;
    return count;
  };

  test('one at a time, lowest crash count first, then the longest waiting', async () => {
    const scene = new Scene();
    for (const id of [C, HOST, B]) {
      await scene.node(id, { state: 'Idle', generation: 1 });
      await scene.to((scene.world.now - Date.parse(at(0))) / 1000 + 1);
    }
    expect(await scene.seen('nodes', C, 'spec.state')).toBe('StagedUpdate');
    await crash(scene, C);
    await scene.obey(C);
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate' });
    await scene.sees('nodes', B, { phase: 'Queued' });
  });

  test('a node that does not come back keeps its slot; one whose drain is blocked gives it up', async () => {
    const scene = new Scene();
    await reach(scene, 'StagedUpdate');
    await scene.node(B, { state: 'Idle', generation: 1 });
    await crash(scene, HOST);
    await scene.to(4000);
    await scene.sees('nodes', B, { phase: 'Queued' });
    const blocked = new Scene();
    await reach(blocked, 'RebootedIntoUpdate');
    await blocked.node(B, { state: 'Idle', generation: 1 });
    await crash(blocked, HOST, 'DrainBlocked');
    await blocked.sees('nodes', B, { 'spec.state': 'StagedUpdate' });
    await blocked.sees('nodes', HOST, { 'crash.count': 1 });
  });

  test('a percentage is of the members the sweep counted, rounded down, at least 1', async () => {
    const scene = new Scene();
    await limit(scene, '70%');
    for (const id of [HOST, B, C]) await scene.node(id, { state: 'Idle', generation: 1 });
    expect(await started(scene, [HOST, B, C])).toBe(1);
    await scene.to(600);
    await scene.sees('groups', 'default', { limit: 2, memberCount: 3 });
    expect(await started(scene, [HOST, B, C])).toBe(2);
  });

  test.each([
    ['put over unlimited', 'default', async (scene: Scene) => limit(scene, 1)],
    ['of default, over its unlimited, for an undeclared group', 'edge', async (scene: Scene) => limit(scene, 1)],
    ['put on an undeclared group while default is unlimited', 'edge', async (scene: Scene) => limit(scene, 1, 'edge')],
  ])('a limit %s counts the nodes under way before one more starts', async (_what, group, restrict) => {
    const scene = new Scene();
    await limit(scene, 'unlimited');
    for (const id of [HOST, B]) await scene.node(id, { state: 'Idle', generation: 1, group });
    expect(await started(scene, [HOST, B])).toBe(2);
    await restrict(scene);
    await scene.node(C, { state: 'Idle', generation: 1, group });
    await scene.to(400);
    expect(await started(scene, [C])).toBe(0);
    for (const id of [HOST, B]) await scene.obey(id, { state: 'ErrorReset', error: { reason: 'Broken' } });
    for (const id of [HOST, B]) await scene.obey(id, { updateCheck: { result: 'UpToDate' } });
    await scene.to(1200);
    expect(await started(scene, [C])).toBe(1);
  });

  test('a group whose policy is deleted while default has no limit goes on without one, and nothing of it stays due', async () => {
    const scene = new Scene();
    await limit(scene, 'unlimited');
    await limit(scene, 'unlimited', 'edge');
    await scene.node(HOST, { state: 'Idle', generation: 1, group: 'edge' });
    await scene.operator('DELETE', '/v1/groups/edge');
    await scene.to(400);
    expect(await scene.world.plane.store.overdue(scene.world.plane.now(), 10)).toEqual([]);
    for (const id of [B, C]) await scene.node(id, { state: 'Idle', generation: 1, group: 'edge' });
    expect(await started(scene, [HOST, B, C])).toBe(3);
  });
});

describe('rules 5 and 6: rollback, hold and pause', () => {
  test('a new boot with the old version is RolledBack, and that version is not tried again', async () => {
    const scene = new Scene();
    await reach(scene, 'RebootedIntoUpdate');
    await scene.obey(HOST);
    await scene.sees('nodes', HOST, { 'spec.state': 'RebootedIntoUpdate', 'crash.count': 0 });
    await scene.obey(HOST, { bootId: 'b2' });
    await scene.sees('nodes', HOST, {
      'crash.lastReason': 'RolledBack',
      blockedVersions: ['1.1'],
      'spec.state': 'Idle',
    });
    await scene.obey(HOST, { bootId: 'b2' });
    await scene.to(3600);
    await scene.sees('nodes', HOST, { 'spec.state': 'Idle', phase: 'Idle' });
    await scene.obey(HOST, { bootId: 'b2', updateCheck: { result: 'Available', version: '1.2' } });
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate', 'spec.version': '1.2' });
  });

  const STOPS = [
    ['a held node', `/v1/nodes/${HOST}/hold`, `/v1/nodes/${HOST}/release`, 'Held', []],
    ['a node of a paused group', '/v1/groups/default/pause', '/v1/groups/default/resume', 'Paused', [HOST]],
  ] as const;
  test.each(STOPS)('%s waits staged without a deadline, and goes on when let', async (_what, stop, go, code, slots) => {
    const scene = new Scene();
    await reach(scene, 'StagedUpdate');
    await scene.operator('POST', stop, {});
    await scene.obey(HOST);
    await scene.to(3000);
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate', 'waitingFor.code': code, 'crash.count': 0 });
    await scene.sees('groups', 'default', { underWay: slots });
    await scene.operator('POST', go, {});
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate', waitingFor: null });
    await scene.sees('groups', 'default', { underWay: [HOST] });
    await scene.obey(HOST);
    await scene.sees('nodes', HOST, { 'spec.state': 'PerformedUpdate' });
  });

  test.each(STOPS)('%s that is activated is withdrawn, uncounted', async (_what, stop) => {
    const scene = new Scene();
    await reach(scene, 'PerformedUpdate');
    await scene.operator('POST', stop, {});
    await scene.to(200);
    await scene.sees('nodes', HOST, { 'spec.state': 'Idle', 'crash.count': 0 });
    await scene.sees('groups', 'default', { underWay: [HOST] });
    await scene.obey(HOST);
    await scene.sees('groups', 'default', { underWay: [] });
  });

  test('a failed refresh is an update check that failed, not up to date', async () => {
    const scene = new Scene();
    await scene.node(HOST, { state: 'Idle', generation: 1, updateCheck: { result: 'Failed', message: 'no route' } });
    expect(await scene.seen('nodes', HOST, 'explanation')).toMatch(/^Update check failed: no route/);
  });
});

describe('section 6: tombstones', () => {
  test('an older report does not revive a deleted node; a newer one does, and its generation goes on', async () => {
    const scene = new Scene();
    await reach(scene, 'PerformedUpdate');
    expect((await scene.operator('DELETE', `/v1/nodes/${HOST}`)).status).toBe(202);
    await scene.node(HOST, { state: 'Idle', uptime: 1 });
    expect((await scene.operator('GET', `/v1/nodes/${HOST}`)).status).toBe(404);
    await scene.node(HOST, { state: 'Idle', bootId: 'b2', uptime: 9, updateCheck: { result: 'UpToDate' } });
    await scene.sees('nodes', HOST, { 'spec.generation': 4, 'crash.count': 0 });
    await scene.node(HOST, { state: 'ErrorReset', generation: 4, bootId: 'b1', uptime: 5000 });
    await scene.sees('nodes', HOST, { 'status.bootId': 'b2', 'status.state': 'Idle' });
  });
});
