/**
 * DESIGN section 10: what happens most costs so many requests, and no more with more stored. Counted, not timed: the
 * figures are the same on any machine. `npm run bench -- requests` measures the same up to a million nodes.
 */
import { expect, test } from 'vitest';
import { Deployment } from '../../world/deployment.ts';
import { nodeIdentity, OPERATOR } from '../../world/environment.ts';
import { Kernel } from '../../world/kernel.ts';
import { START } from '../node/life.ts';

const NODE = 'i-0000000000000000a';
const AVAILABLE = { result: 'Available', version: '1.1' };

function world() {
  const kernel = new Kernel(START);
  const outside = { woken: () => true, registered: () => true, written: () => undefined };
  const deployment = new Deployment({ kernel, seed: 1, logs: false, outside });
  /** The names of the requests that a call takes, and its answer. */
  const call = async (method: string, path: string, iam: { userArn: string }, body: unknown) => {
    const called = { handler: 'api', path, certain: false } as const;
    const { answer, self } = await deployment.request({ method, path, body, iam }, called, 'short');
    return { body: answer?.body as { desired: { generation: number } }, calls: self.calls.map(({ name }) => name) };
  };
  return {
    kernel,
    call,
    put: (body: unknown) => call('PUT', '/v1/groups/web', OPERATOR, body),
    report: (more: Record<string, unknown>) =>
      call('POST', `/v1/nodes/${NODE}/reports`, nodeIdentity(NODE), {
        group: 'web',
        bootId: 'b1',
        currentVersion: '1.0',
        updateCheck: AVAILABLE,
        ...more,
      }),
  };
}

async function crashIn(policy: unknown): Promise<string[]> {
  const { kernel, put, report } = world();
  await put(policy);
  const { generation } = (await report({ state: 'Idle' })).body.desired;
  await kernel.runTo(kernel.now + 60_000);
  return (await report({ state: 'ErrorReset', generation, error: { reason: 'PrepareFailed' } })).calls;
}

const ofDynamo = (calls: readonly string[]): string[] => calls.filter((name) => name.startsWith('DynamoDB'));

test('a report that changes nothing takes one consistent read', async () => {
  const { report } = world();
  const upToDate = { state: 'Idle', updateCheck: { result: 'UpToDate' } };
  await report(upToDate);
  expect((await report({ ...upToDate, generation: 1, uptime: 5 })).calls).toEqual(['DynamoDB GetItem (node)']);
});

test('with VMs on the host it takes one query more, and reads none of them', async () => {
  const { put, call, report, kernel } = world();
  await put({});
  const idle = { state: 'Idle', updateCheck: { result: 'UpToDate' } };
  await report(idle);
  const instances: unknown[] = [];
  for (const vmId of ['web', 'db', 'mail']) {
    const launch = { type: 'libvirt', domain: vmId };
    await call('PUT', `/v1/vms/${vmId}`, OPERATOR, { hostId: NODE, runStrategy: 'Always', launch });
    const seen = await call('GET', `/v1/vms/${vmId}`, OPERATOR, undefined);
    const { instanceId } = (seen.body as unknown as { instance: { instanceId: string } }).instance;
    const running = { instanceId, phase: 'Running', ranSeconds: 1 };
    await call('POST', `/v1/vms/${vmId}/reports`, nodeIdentity(NODE), running);
    instances.push({ vmId, instanceId, phase: 'Running', ranSeconds: 700 });
  }
  await kernel.runTo(kernel.now + 60_000);
  await report({ ...idle, generation: 1, uptime: 100, instances });
  await kernel.runTo(kernel.now + 60_000);
  const again = { ...idle, generation: 1, uptime: 200, instances };
  expect((await report(again)).calls).toEqual(['DynamoDB GetItem (node)', 'DynamoDB Query (members)']);
});

test('a crash takes six requests at most, two of them to DynamoDB', async () => {
  const calls = await crashIn({ maxConcurrentUpdates: 5 });
  expect(calls.length).toBeLessThanOrEqual(6);
  expect(ofDynamo(calls)).toHaveLength(2);
});

test('one that counts for a breaker takes seven at most: its group is read once and written once', async () => {
  const calls = await crashIn({ maxConcurrentUpdates: 5, breaker: { failures: 3, within: '1h' } });
  expect(calls.length).toBeLessThanOrEqual(7);
  expect(ofDynamo(calls).slice(2)).toEqual(['DynamoDB GetItem (group)', 'DynamoDB UpdateItem (group)']);
});
