/**
 * What SSM says of a wake, and what it does not say (scenario 21, DESIGN section 5): only a report or a deadline decides
 * about a step. A negative end is shown and brings the next wake forward; anything else, or nothing, leaves it where it is.
 */
import { describe, expect, test } from 'vitest';
import { after, between, seconds } from '../../core/kit/time.ts';
import { noteCommandStatus } from '../../functions/operations/wake-status.ts';
import { HOST, Scene } from '../plane/scene.ts';

const NEW = { bootId: 'b2', currentVersion: '1.1' };
const DOCUMENT = 'wake';

/** The node has been woken now, and has not said a word since. */
const SITUATIONS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'a step that begins': async (scene) => {
    await scene.operator('POST', '/v1/groups/default/pause', {});
    await scene.node(HOST, { state: 'Idle', generation: 1 });
    await scene.operator('POST', '/v1/groups/default/resume', {});
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate' });
  },
  'a staged update that may go on': async (scene) => {
    await scene.node(HOST, { state: 'Idle', generation: 1 });
    await scene.operator('POST', `/v1/nodes/${HOST}/hold`, {});
    await scene.obey(HOST);
    await scene.operator('POST', `/v1/nodes/${HOST}/release`, {});
    await scene.sees('nodes', HOST, { 'spec.state': 'StagedUpdate', waitingFor: null });
  },
  'an update that was withdrawn': async (scene) => {
    await scene.node(HOST, { state: 'Idle', generation: 1 });
    await scene.obey(HOST);
    await scene.operator('POST', `/v1/nodes/${HOST}/hold`, {});
    await scene.sees('nodes', HOST, { 'spec.state': 'Idle', phase: 'Recovering' });
  },
  'a recovery': async (scene) => {
    await scene.node(HOST, { state: 'Idle', generation: 1 });
    await scene.to(720);
    await scene.sees('nodes', HOST, { 'spec.state': 'Idle', 'crash.lastReason': 'DeadlinePassed' });
  },
};

/** Each as SSM puts it into `status` and `status-details`. */
const NEGATIVE: readonly (readonly [string, string | undefined])[] = [
  ['Failed', undefined],
  ['Failed', 'Failed'],
  ['Failed', 'Undeliverable'],
  ['Failed', 'Terminated'],
  ['TimedOut', 'Delivery Timed Out'],
  ['TimedOut', 'Execution Timed Out'],
  ['Cancelled', 'Cancelled'],
];
const NOTHING_NEW: readonly (readonly [string, string | undefined])[] = [
  ['Pending', 'Pending'],
  ['Delayed', 'Delayed'],
  ['InProgress', 'In Progress'],
  ['Success', 'Success'],
  ['Vanished', 'A Word Of Next Year'],
];
const detail = (status: string, details: string | undefined) => ({
  'instance-id': HOST,
  'document-name': DOCUMENT,
  status,
  ...(details === undefined ? {} : { 'status-details': details }),
});

/** Tells of the wake 10 s after it, and watches for a minute from the wake on. */
async function told(situation: string, event: unknown) {
  const scene = new Scene();
  await SITUATIONS[situation]?.(scene);
  const { world } = scene;
  const woken = world.now;
  const decided = async () => ({
    spec: await scene.seen('nodes', HOST, 'spec'),
    status: await scene.seen('nodes', HOST, 'status'),
    crash: await scene.seen('nodes', HOST, 'crash'),
  });
  const before = await decided();
  await world.runTo(after(woken, seconds(10)));
  if (event !== null) await noteCommandStatus(world.plane, DOCUMENT, event);
  const explanation = String(await scene.seen('nodes', HOST, 'explanation'));
  await world.runTo(after(woken, seconds(60)));
  expect(await decided()).toEqual(before);
  const wakes = world.happenings.flatMap(({ kind, at }) =>
    kind === 'wake' && at > woken ? [between(woken, at) / 1000] : [],
  );
  return { wakes, explanation, scene };
}

describe.each(Object.keys(SITUATIONS))('%s', (situation) => {
  test.each(NEGATIVE)('a wake that ended %s (%s) is repeated after 30 s, and nothing else', async (status, details) => {
    const { wakes, explanation } = await told(situation, detail(status, details));
    expect(wakes).toEqual([40]);
    expect(explanation).toContain(`The last wake ended ${status === 'Failed' ? (details ?? status) : status}`);
  });

  test.each(NOTHING_NEW)('a wake that is %s (%s) is repeated after its minute', async (status, details) => {
    const { wakes, explanation } = await told(situation, detail(status, details));
    expect(wakes).toEqual([60]);
    expect(explanation).not.toContain('The last wake ended');
  });

  test.each([
    ['nothing at all', null],
    ['nothing that can be read', { 'instance-id': HOST }],
    ['the end of another command', { ...detail('Failed', undefined), 'document-name': 'AWS-RunPatchBaseline' }],
    ['a node that is no node', { ...detail('Failed', undefined), 'instance-id': 'web-1' }],
  ])('told %s it is repeated after its minute', async (_what, event) => {
    expect((await told(situation, event)).wakes).toEqual([60]);
  });

  test('the node that reports at last goes on as if nothing had been said', async () => {
    const { scene } = await told(situation, detail('Failed', 'Undeliverable'));
    const state = await scene.seen('nodes', HOST, 'spec.state');
    const crashes = await scene.seen('nodes', HOST, 'crash.count');
    const { status } = await scene.obey(HOST, state === 'StagedUpdate' ? {} : NEW);
    expect(status).toBe(200);
    const left = state === 'Idle' ? 'Idle' : state === 'StagedUpdate' ? 'PerformedUpdate' : 'MonitoringUpdate';
    await scene.sees('nodes', HOST, { 'spec.state': left, 'crash.count': crashes, 'status.state': state });
    expect(await scene.seen('nodes', HOST, 'explanation')).not.toContain('The last wake ended');
  });
});

test('once a step has been acknowledged the end of a wake is no news: only a report or a deadline decides', async () => {
  const scene = new Scene();
  await scene.node(HOST, { state: 'Idle', generation: 1 });
  const before = await scene.seen('nodes', HOST, 'explanation');
  await noteCommandStatus(scene.world.plane, DOCUMENT, detail('Failed', 'Undeliverable'));
  expect(await scene.seen('nodes', HOST, 'explanation')).toBe(before);
  expect(before).not.toContain('The last wake ended');
});
