/** What an agent says of its progress is words for a person: whatever shape it has, it is cut and never breaks a report. */
import { expect, test } from 'vitest';
import { HOST, Scene } from '../plane/scene.ts';

const nested = (deep: number): unknown =>
  Array.from({ length: deep }).reduce<unknown>((inner) => ({ a: inner }), 'the end');

test.each([
  ['an object', { step: 2, of: 5 }],
  ['an object 60 levels deep', nested(58)],
  ['a text of 100,000 characters', 'x'.repeat(100_000)],
])('%s is cut to what a person reads', async (_what, progress) => {
  const scene = new Scene();
  expect((await scene.node(HOST, { state: 'Idle', progress })).status).toBe(200);
  expect(String(await scene.seen('nodes', HOST, 'status.progress')).length).toBeLessThanOrEqual(1100);
});

test.each([4000, 60, 61, 62, 63, 64, 65])(
  'nested %d deep it is cut, and the crash that it came with is counted',
  async (deep) => {
    const scene = new Scene();
    await scene.node(HOST, { state: 'Idle' });
    const generation = await scene.seen('nodes', HOST, 'spec.generation');
    const error = { reason: 'PrepareFailed', message: 'a bracket [ in a text {' };
    const answer = await scene.node(HOST, { state: 'ErrorReset', generation, progress: nested(deep), error });
    expect(answer.status).toBe(200);
    await scene.sees('nodes', HOST, { 'crash.count': 1, 'crash.lastMessage': error.message });
  },
);

test('an operator is told that a body is nested too deep, and nothing is changed', async () => {
  const scene = new Scene();
  const answer = await scene.operator('PUT', '/v1/groups/web', { monitor: nested(4000) });
  expect(answer).toMatchObject({ status: 400, body: { code: 'InvalidJson' } });
});
