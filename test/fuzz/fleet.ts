/** What is there before the fuzzer begins, under the ids that hooks.py knows: calls should meet things, not only 404. */

const NODES = ['i-00000000000000000', 'i-00000000000000001', 'i-00000000000000002', 'i-00000000000000003'];
const VMS = ['web', 'db', 'cache-1', 'a.b_c'];

/** @param url of the signing proxy */
export async function declareFleet(url: string): Promise<void> {
  const call = async (method: string, path: string, body: unknown): Promise<void> => {
    const answer = await fetch(`${url}${path}`, { method, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  };
  for (const [index, nodeId] of NODES.entries()) {
    await call('POST', `/v1/nodes/${nodeId}/reports`, {
      state: 'Idle',
      bootId: 'boot-1',
      currentVersion: '1.0.0',
      updateCheck: { result: index % 2 === 0 ? 'Available' : 'UpToDate', version: '1.1.0' },
      group: index === 0 ? 'default' : 'web',
    });
  }
  for (const [index, vmId] of VMS.entries()) {
    const launch = { type: 'exec', command: ['true'] };
    await call('PUT', `/v1/vms/${vmId}`, { hostId: NODES[index], runStrategy: 'Always', launch });
  }
  await call('PUT', '/v1/groups/canary', { maxConcurrentUpdates: '10%' });
}
