/**
 * The rollout of `npm start`, as it really happens: its story is true only if the canary settles, the breaker opens, and
 * closing it lets all of them through. Most of its time it waits.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildAgent } from '../../agent/build.mjs';
import type { GroupJson } from '../../core/contract/answers.ts';
import { items } from '../../local/demo/client.ts';
import { NEW_VERSION } from '../../local/demo/fleet.ts';
import { FOLLOWER, ROLLOUT } from '../../local/demo/rollout.ts';
import { Laptop, until } from './laptop.ts';

const laptop = new Laptop();
const followers = ROLLOUT.nodes.filter(({ group }) => group === FOLLOWER).map(({ nodeId }) => nodeId);

beforeAll(async () => {
  await buildAgent();
  await laptop.start();
}, 120_000);
afterAll(() => laptop.stop(), 60_000);

test(
  'the shop follows its canary, trips its breaker, and is done once somebody has closed it',
  { timeout: 400_000 },
  async () => {
    for (const [name, body] of Object.entries(ROLLOUT.groups)) await laptop.group(name, body);
    for (const node of ROLLOUT.nodes) laptop.machine(node);
    const shop = async (): Promise<GroupJson | undefined> =>
      (await items<GroupJson>(laptop.connection, '/v1/groups?limit=200')).find(({ group }) => group === FOLLOWER);

    const breaker = await until('the breaker of the shop opens', async () => (await shop())?.breakers[0] ?? null);
    expect(breaker.version).toBe(NEW_VERSION);
    expect(breaker.nodes).toEqual(expect.arrayContaining(followers.slice(0, 2)));
    await until('who is not done waits for the breaker', async () => {
      const behind = (await laptop.nodes()).filter(({ nodeId, status }) => {
        const done = status?.currentVersion === NEW_VERSION;
        return followers.includes(nodeId) && !done;
      });
      return behind.length >= 2 && behind.every(({ waitingFor }) => waitingFor?.code === 'BreakerOpen') ? true : null;
    });

    await until('every node of the rollout is done, once somebody closes the breaker', async () => {
      // On a machine that is too slow for the demo's deadlines it opens again.
      if (((await shop())?.breakers.length ?? 0) > 0)
        await laptop.ok('POST', `/v1/groups/${FOLLOWER}/closeBreaker`, {});
      const nodes = await laptop.nodes();
      return nodes.length === ROLLOUT.nodes.length &&
        nodes.every(({ status, phase }) => status?.currentVersion === NEW_VERSION && phase === 'Idle')
        ? true
        : null;
    });
  },
);
