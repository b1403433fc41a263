/** A host that falls silent and is lost, with real agents and guests on two hosts: DESIGN section 3 rule 6. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildAgent } from '../../agent/build.mjs';
import { parseNodeId } from '../../core/kit/ids.ts';
import { instant } from '../../core/kit/time.ts';
import { alive } from '../agent/scene.ts';
import { Laptop, until } from '../system/laptop.ts';
import { Images, qemu } from './fixtures.ts';
import { running, vmBody, Vms } from './vms.ts';
import { guestsOf, GuestWatch } from './watch.ts';

const A = 'i-0000000000000000a';
const B = 'i-0000000000000000b';
const laptop = new Laptop();
const images = new Images();
const image = (vmId: string): string => join(images.dir, `${vmId}.img`);
const watch = new GuestWatch(['web', 'stays', 'anew'].map(image));
const { sees } = new Vms(laptop);
const boot = (nodeId: string) =>
  laptop.machine({ nodeId, group: 'hosts', story: '', faults: {}, hostsVms: true }, images.agentEnv);
let hostA: ReturnType<typeof boot>;

beforeAll(async () => {
  if (qemu === null) return;
  await buildAgent();
  await laptop.start();
  hostA = boot(A);
  boot(B);
  await until('both hosts have enrolled', async () => ((await laptop.nodes()).length === 2 ? true : null));
}, 120_000);
afterAll(async () => {
  watch.stop();
  if (qemu !== null) await laptop.stop();
  images.remove();
}, 60_000);

/** More than 90 minutes go by in which host A says nothing, and the sweep comes. */
async function longSilence(): Promise<void> {
  await laptop.whileDown(async (store) => {
    const nodeId = parseNodeId(A);
    const node = nodeId === null ? null : await store.load('node', nodeId);
    if (node?.record.status == null) throw new Error('host A has never reported');
    const { revision, status } = node.record;
    const reportedAt = instant(Date.now() - 91 * 60_000);
    const silent = { ...node.record, revision: revision + 1, status: { ...status, reportedAt } };
    await store.save('node', silent, revision, 'a long silence');
  });
}
const fence = () => laptop.ok('POST', `/v1/nodes/${A}/fence`, {});
const starts = (nodeId: string, vmId: string): number =>
  laptop
    .agentLog(nodeId)
    .filter(({ event, instance }) => event === 'guest started' && String(instance).startsWith(`${vmId}@`)).length;

describe.skipIf(qemu === null)('a host that is lost', () => {
  test('S11: silence starts nothing; once it is fenced its VM starts on the other host, once', async () => {
    await laptop.vm('web', vmBody(A, 'Always', images.obedient('web'), { hosts: [A, B], restartElsewhere: true }));
    await laptop.vm('stays', vmBody(A, 'Always', images.obedient('stays')));
    const first = await sees('web', 'Running', running);
    await sees('stays', 'Running', running);
    const [guest = 0] = guestsOf(image('web'));

    // The agent hangs, and its guests live on.
    const agent = laptop.agentPid(A);
    process.kill(agent, 'SIGSTOP');
    await longSilence();
    const unknown = await sees('web', 'Unknown', (seen) => seen.printableStatus === 'Unknown');
    expect(unknown).toMatchObject({ hostId: A, restartCount: 0, instance: { instanceId: first.instance?.instanceId } });
    expect(alive(guest)).toBe(true);
    process.kill(agent, 'SIGCONT');
    expect(await sees('web', 'Running, as ever', running)).toMatchObject({
      hostId: A,
      restartCount: 0,
      unstableRuns: null,
      instance: { instanceId: first.instance?.instanceId },
    });

    // Now it loses its power.
    await hostA.stop();
    expect(alive(guest)).toBe(false);
    await longSilence();
    expect(await sees('web', 'Unknown', (seen) => seen.printableStatus === 'Unknown')).toMatchObject({ hostId: A });
    expect(starts(B, 'web')).toBe(0);
    await fence();
    const moved = await sees('web', 'Running on the other host', (seen) => running(seen) && seen.hostId === B);
    expect(moved).toMatchObject({
      restartCount: 1,
      startFailure: null,
      unstableRuns: null,
      lastFailure: null,
      placement: { declaredHostId: A, hosts: [A, B], restartElsewhere: true },
    });
    expect(moved.instance?.instanceId).not.toBe(first.instance?.instanceId);
    await fence();

    // It comes back: what may go nowhere else starts there again, and what went away stays away.
    boot(A);
    await sees('stays', 'Running again', running);
    expect(await sees('web', 'Running', running)).toMatchObject({ hostId: B, instance: moved.instance });
    expect([starts(A, 'web'), starts(B, 'web'), starts(A, 'stays'), starts(B, 'stays')]).toEqual([1, 1, 2, 0]);
    expect([watch.most(image('web')), watch.most(image('stays'))]).toEqual([1, 1]);
  });

  test('S15: deleted by force while its guest lives and declared anew, it has one guest at a time', async () => {
    await laptop.vm('anew', vmBody(B, 'Always', images.obedient('anew')));
    const old = await sees('anew', 'Running', running);
    await laptop.ok('DELETE', '/v1/vms/anew?force=true');
    await laptop.vm('anew', vmBody(B, 'Always', images.obedient('anew')));
    const anew = await sees('anew', 'Running anew', (seen) => running(seen) && seen.uid !== old.uid);
    expect(anew).toMatchObject({ startFailure: null, restartCount: 0 });
    expect(watch.most(image('anew'))).toBe(1);
  });
});
