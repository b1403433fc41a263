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

test('nested 4,000 deep it is refused as every body that deep, and nothing is lost: the next report is taken', async () => {
  const scene = new Scene();
  const refused = await scene.node(HOST, { state: 'Idle', progress: nested(4000) });
  expect(refused).toMatchObject({ status: 400, body: { code: 'InvalidJson' } });
  expect((await scene.node(HOST, { state: 'Idle' })).status).toBe(200);
});
