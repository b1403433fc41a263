import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_GROUP, type NodeId, parseNodeId } from '../../core/kit/ids.ts';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { limitOf } from '../../core/policy/limit.ts';
import { after, instant, seconds } from '../../core/kit/time.ts';
import { nodeIdentity, OPERATOR } from '../../world/environment.ts';
import { World } from '../../world/simulate/world.ts';

const NODES: readonly NodeId[] = ['a', 'b', 'c', 'd', 'e'].map(
  (letter) => parseNodeId(`i-0000000000000000${letter}`) ?? expect.fail('a node id'),
);

const action = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      node: fc.nat(4),
      fails: fc.constantFrom(false, false, true),
      blocked: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('limit' as const), limit: fc.constantFrom(1, 2, 3, '60%', 'unlimited') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('verb' as const), verb: fc.constantFrom('pause', 'resume') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 40, 200, 1000) }) },
);

/** Nodes under way that count: those that gave up their slot, their drain being blocked, do not. */
async function underWay(world: World): Promise<number> {
  const nodes = await Promise.all(NODES.map((id) => world.store.load('node', id)));
  return nodes.filter((node) => {
    const attempt = node?.record.attempt ?? null;
    return attempt !== null && (attempt.claimId !== null || attempt.unlimited);
  }).length;
}

test('G4: no start makes more nodes under way than the limit that holds', async () => {
  let starts = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 50 }), async (actions) => {
      const start = instant(1_800_000_000_000);
      const world = new World({ start, seed: 1, timerLateness: 0 });
      let uptime = 0;
      const boots = new Map<NodeId, number>();
      const report = async (id: NodeId, fails: boolean, blocked: boolean): Promise<void> => {
        uptime += 1;
        const spec = (await world.store.load('node', id))?.record.spec;
        const reboots = spec?.state === 'RebootedIntoUpdate' && spec.reachedAt === null && !fails;
        const boot = (boots.get(id) ?? 0) + (reboots ? 1 : 0);
        boots.set(id, boot);
        const failing = fails && spec !== undefined && spec.state !== 'Idle';
        const body = {
          state: failing ? 'ErrorReset' : (spec?.state ?? 'Idle'),
          generation: spec?.generation ?? 1,
          bootId: `boot-${boot}`,
          currentVersion: `1.${boot}`,
          updateCheck: { result: 'Available', version: `2.${uptime}` },
          error: { reason: blocked ? 'DrainBlocked' : 'Broken' },
        };
        const answer = await world.call('POST', `/v1/nodes/${id}/reports`, body, nodeIdentity(id));
        expect(answer.status).toBe(200);
      };
      let before = 0;
      for (const one of actions) {
        if (one.do === 'report') await report(NODES[one.node] ?? expect.fail('a node'), one.fails, one.blocked);
        if (one.do === 'limit')
          await world.call('PUT', '/v1/groups/default', { maxConcurrentUpdates: one.limit }, OPERATOR);
        if (one.do === 'verb') await world.call('POST', `/v1/groups/default/${one.verb}`, {}, OPERATOR);
        if (one.do === 'wait') await world.runTo(after(world.now, seconds(one.seconds)));
        // What was asked of the group's filler is done by a message.
        await world.runTo(world.now);
        const group = (await world.store.load('group', DEFAULT_GROUP))?.record;
        const limit = limitOf(groupPolicyOf(group?.body ?? {}).concurrency, group?.memberCount ?? null);
        const now = await underWay(world);
        starts += now > before ? 1 : 0;
        if (limit !== null) expect(now).toBeLessThanOrEqual(Math.max(limit, before));
        before = now;
      }
    }),
    { numRuns: 120 },
  );
  expect(starts).toBeGreaterThan(50);
});
