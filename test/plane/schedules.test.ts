/**
 * A schedule is never deleted, because that would be a request for each event: it fires, changes nothing and is gone. So
 * what is left behind must not pile up (DESIGN section 4). Counted at its worst: what fails always, and who never rests.
 */
import { expect, test } from 'vitest';
import { Fleet, nodeIdAt, vmIdAt } from '../../bench/rows/fleet.ts';
import { nodeIdentity } from '../../world/environment.ts';
import { valueAt } from '../../world/simulate/match.ts';

const NODE = nodeIdAt(1);
const HOST = nodeIdAt(2);
const VM = vmIdAt(1);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const UPDATE = { result: 'Available', version: '1.1' };

/** The most schedules that were there at once, looked at every minute. */
async function mostAtOnce(fleet: Fleet, minutes: number, act: (minute: number) => Promise<void>): Promise<number> {
  let most = 0;
  for (let minute = 0; minute < minutes; minute += 1) {
    await act(minute);
    await fleet.settle(MINUTE);
    most = Math.max(most, fleet.deployment.services.schedules);
  }
  return most;
}

/** Does what it is told, and fails at it. */
async function fails(fleet: Fleet): Promise<void> {
  const { body } = await fleet.report(NODE, { state: 'Idle', updateCheck: UPDATE });
  const [state, generation] = [valueAt(body, 'desired.state'), valueAt(body, 'desired.generation')];
  if (state === 'Idle') return;
  const error = { reason: 'PrepareFailed' };
  await fleet.report(NODE, { state: 'ErrorReset', generation, updateCheck: UPDATE, error });
}

test('a node that fails each of its updates for three hours has a few schedules, not one for each attempt', async () => {
  const fleet = new Fleet();
  const backoff = { unit: '1m', from: 'lastCrash', cap: '5m', resetAfter: 'none' };
  expect((await fleet.operate('PUT', '/v1/groups/default', { backoff })).status).toBeLessThan(300);
  expect(await mostAtOnce(fleet, 3 * 60, () => fails(fleet))).toBeLessThanOrEqual(10);
  const { body } = await fleet.operate('GET', `/v1/nodes/${NODE}`);
  expect(Number(valueAt(body, 'crash.count'))).toBeGreaterThan(20);
});

test('a node at rest has none, however often it reports', async () => {
  const fleet = new Fleet();
  let uptime = 0;
  const rests = async (): Promise<void> => {
    uptime += 60;
    await fleet.report(NODE, { state: 'Idle', generation: 1, uptime });
  };
  await mostAtOnce(fleet, 10, rests);
  expect(await mostAtOnce(fleet, 60, rests)).toBe(0);
});

test('a VM in a crash loop, and one that a person starts and stops every minute, leave a few behind', async () => {
  const fleet = new Fleet();
  await fleet.report(HOST, { state: 'Idle' });
  const body = { hostId: HOST, runStrategy: 'Always', launch: { type: 'libvirt', domain: 'web' } };
  expect((await fleet.operate('PUT', `/v1/vms/${VM}`, body)).status).toBeLessThan(300);
  const dies = async (): Promise<void> => {
    const instanceId = fleet.peekVm(VM)?.instance?.instanceId;
    if (instanceId === undefined) return;
    const report = (more: object): Promise<unknown> =>
      fleet.call('POST', `/v1/vms/${VM}/reports`, nodeIdentity(HOST), { instanceId, ...more });
    await report({ phase: 'Running', ranSeconds: 1 });
    await report({ phase: 'Failed', ranSeconds: 5, exitCode: 1 });
  };
  expect(await mostAtOnce(fleet, 2 * 60, dies)).toBeLessThanOrEqual(10);
  const starts = async (minute: number): Promise<void> => {
    await fleet.operate('POST', `/v1/vms/${VM}/${minute % 2 === 0 ? 'stop' : 'start'}`, {});
  };
  expect(await mostAtOnce(fleet, 60, starts)).toBeLessThanOrEqual(10);
});

test('verbs on a node that waits for a day leave no schedule each', async () => {
  const fleet = new Fleet();
  await fails(fleet);
  await fleet.settle(HOUR);
  const toggles = async (minute: number): Promise<void> => {
    await fleet.operate('POST', `/v1/nodes/${NODE}/${minute % 2 === 0 ? 'hold' : 'release'}`, {});
  };
  expect(await mostAtOnce(fleet, 60, toggles)).toBeLessThanOrEqual(10);
});
