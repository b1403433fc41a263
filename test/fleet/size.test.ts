/** DESIGN section 10: the summary, a group's nodes, its JSON and first pages cost the same whatever the size of the fleet. */
import { describe, expect, test } from 'vitest';
import { loopingVm, LargeFleet, nodeId, oneNode, oneVm } from './large.ts';

const SIZES = [1_000, 10_000] as const;

async function fleetOf(size: number): Promise<LargeFleet> {
  const fleet = new LargeFleet();
  for (let index = 0; index < size; index += 1) {
    fleet.put(oneNode(index));
    fleet.put(index < 300 ? loopingVm(index) : oneVm(index));
  }
  await fleet.sweep();
  return fleet;
}

describe('at a thousand and at ten thousand nodes and VMs', () => {
  test.each(['/v1/summary', '/v1/nodes', '/v1/nodes?group=default', '/v1/vms', '/v1/groups', '/v1/groups/default'])(
    '%s takes the same requests',
    async (path) => {
      const [few, many] = await Promise.all(fleets);
      const asked = await few.get(path);
      expect(asked.status).toBe(200);
      expect((await many.get(path)).calls).toBe(asked.calls);
    },
  );

  test('the summary says whose count it is, and what stands for many is one line', async () => {
    const [, many] = await Promise.all(fleets);
    const { body } = await many.get('/v1/summary');
    expect(body).toMatchObject({
      nodes: { total: 10_000, byPhase: { Idle: 10_000 } },
      vms: { total: 10_000, byStatus: { Running: 10_000 } },
      at: '2026-01-05T00:00:00.000Z',
      attention: [
        { kind: 'vm', code: 'CrashLoop', count: 300, why: expect.stringMatching(/^300 VMs of host .*disk full$/) },
      ],
    });
  });
});
const fleets = [fleetOf(SIZES[0]), fleetOf(SIZES[1])] as const;

test("a group's nodes come page by page, each once, and no other group's", async () => {
  const fleet = new LargeFleet();
  for (let index = 0; index < 25; index += 1) fleet.put(oneNode(index));
  const found: string[] = [];
  let cursor = '';
  do {
    const { body } = await fleet.get(`/v1/nodes?group=default&limit=10${cursor}`);
    const page = body as { items: { nodeId: string }[]; cursor?: string };
    found.push(...page.items.map((node) => node.nodeId));
    cursor = page.cursor === undefined ? '' : `&cursor=${page.cursor}`;
  } while (cursor !== '');
  expect(found).toEqual(Array.from({ length: 25 }, (_, index) => nodeId(index)));
  expect((await fleet.get('/v1/nodes?group=web')).body).toMatchObject({ items: [] });
});

test('a small fleet is looked at itself: what was changed a moment ago is in the summary', async () => {
  const fleet = new LargeFleet();
  for (let index = 0; index < 3; index += 1) fleet.put(oneNode(index));
  await fleet.sweep();
  await fleet.get(`/v1/nodes/${nodeId(1)}/hold`, 'POST', {});
  const { body } = await fleet.get('/v1/summary');
  expect(body).toMatchObject({
    nodes: { total: 3, byPhase: { Idle: 2, Held: 1 } },
    attention: [{ kind: 'node', id: nodeId(1), code: 'Held', why: expect.stringContaining('Held') }],
  });
  expect(body).not.toHaveProperty('at');
});

test('before any sweep a large fleet says that it is not all there is', async () => {
  const fleet = new LargeFleet();
  for (let index = 0; index < 300; index += 1) fleet.put(oneNode(index));
  expect((await fleet.get('/v1/summary')).body).toMatchObject({ nodes: { total: 200 }, partly: true });
});

test('what got well since the sweep is left out', async () => {
  const fleet = new LargeFleet();
  for (let index = 0; index < 300; index += 1) fleet.put(oneNode(index, index === 7 ? { heldBy: 'alice' } : {}));
  await fleet.sweep();
  expect((await fleet.get('/v1/summary')).body).toMatchObject({ attention: [{ id: nodeId(7), count: 1 }] });
  await fleet.get(`/v1/nodes/${nodeId(7)}/release`, 'POST', {});
  expect((await fleet.get('/v1/summary')).body).toMatchObject({ attention: [] });
});
