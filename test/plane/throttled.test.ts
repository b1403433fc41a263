/** AWS that refuses for longer than a request can wait: an answer that says so, and nothing half done (G10, DESIGN section 7). */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createApp, problemOf } from '../../functions/http/app.ts';
import { OPERATOR, RULES } from '../../world/environment.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { HOST, Scene } from './scene.ts';

const named = (name: string): Error => Object.assign(new Error('slow down'), { name });
const THROTTLED = named('ProvisionedThroughputExceededException');
const OTHER = 'i-0000000000000000b';

afterEach(() => vi.restoreAllMocks());

describe('a throttle of the table', () => {
  test.each(['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'])(
    '%s is 503 Throttled, with what to do',
    (name) => {
      const warned: string[] = [];
      const telemetry = { metric: () => undefined, warn: (message: string) => void warned.push(message) };
      expect(problemOf({ telemetry }, '/v1/nodes', named(name))).toMatchObject({
        status: 503,
        code: 'Throttled',
        detail: expect.stringContaining('nothing was changed, try again'),
      });
      expect(warned).toHaveLength(1);
    },
  );

  test('at the write of a verb changes nothing, and says when to try again', async () => {
    const scene = new Scene();
    await scene.node(HOST, { state: 'Idle', updateCheck: { result: 'UpToDate' } });
    const { plane } = scene.world;
    vi.spyOn(plane.store, 'save').mockRejectedValueOnce(THROTTLED);
    const log = { append: () => Promise.resolve(), read: () => Promise.resolve({ items: [], cursor: null }) };
    const app = createApp(plane, log, RULES);
    const request = new Request(`http://127.0.0.1/v1/nodes/${HOST}/hold`, { method: 'POST' });
    const answer = await app.fetch(request, { iam: OPERATOR });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    await scene.sees('nodes', HOST, { heldBy: null });
    expect((await scene.operator('POST', `/v1/nodes/${HOST}/hold`, {})).status).toBe(202);
  });

  test('after the write of a report is no refusal of it: the sweep gives back the slot, and the next node starts', async () => {
    const scene = new Scene();
    await scene.operator('PUT', '/v1/groups/default', { maxConcurrentUpdates: 1 });
    await scene.node(HOST, { state: 'Idle' });
    await scene.node(OTHER, { state: 'Idle' });
    await scene.obey(HOST);
    await scene.obey(HOST, { state: 'ErrorReset', error: { reason: 'Broken' } });
    const { store } = scene.world.plane;
    const save = store.save.bind(store);
    const refusing = vi
      .spyOn(store, 'save')
      .mockImplementation((...args) =>
        args[0] === 'group' ? Promise.reject(THROTTLED) : Promise.resolve(Reflect.apply(save, store, args)),
      );
    const answer = await scene.obey(HOST, { state: 'Idle' });
    expect(answer.status).toBe(200);
    expect(valueAt(answer.body, 'desired.state')).toBe('Idle');
    refusing.mockRestore();
    await scene.to(600);
    expect(await scene.seen('nodes', OTHER, 'spec.state')).toBe('StagedUpdate');
  });
});
