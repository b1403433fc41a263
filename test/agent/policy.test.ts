/** The group's `drain` and `monitor` through the real control plane: put as an operator, carried out by the real agent. */
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MARK } from '../../agent/drain/kubernetes.ts';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import { KubernetesDouble } from './kubernetes-double.ts';
import { eventually, NEW, OLD, Site, type SiteNode } from './site.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

const site = new Site();
beforeAll(() => site.start());
afterAll(() => site.close());

const HOOK_CHECK = { name: 'replication', type: 'exec', hook: 'healthy' } as const;
const DRAIN: NonNullable<GroupBody['drain']> = {
  steps: [{ type: 'exec', hook: 'drain', undo: 'undrain' }],
  timeout: '60s',
};

describe.concurrent('draining a Kubernetes node', () => {
  const KEYS = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };
  const KUBERNETES: GroupBody = {
    drain: { steps: [{ type: 'kubernetes' }], timeout: '20s' },
    deadlines: { RebootedIntoUpdate: '40s' },
  };
  /** The node signs for its cluster with the same role as for the API; the double believes the site's keys. */
  async function clusterNode(
    before: (cluster: KubernetesDouble) => void,
    faults = {},
  ): Promise<{ cluster: KubernetesDouble; node: SiteNode }> {
    const cluster = new KubernetesDouble(KEYS);
    await cluster.listen();
    before(cluster);
    const node = await site.heldNode(await site.group(KUBERNETES), faults, {
      settings: { kubernetes: cluster.settings() },
    });
    cluster.keys = node.keys;
    await node.verb('release');
    return { cluster, node };
  }

  test('cordoned, emptied, rebooted and uncordoned', async () => {
    const { cluster, node } = await clusterNode((each) => {
      each.pods = [
        { name: 'web', uid: 'u-1', node: each.nodeName },
        { name: 'logs', uid: 'u-2', node: each.nodeName, owner: 'DaemonSet' },
      ];
    });
    expect((await node.updated()).crash.count).toBe(0);
    expect(cluster.pods.map(({ name }) => name)).toEqual(['logs']);
    expect(cluster.node).toMatchObject({ unschedulable: false, annotations: {} });
    expect(cluster.refused).toEqual([]);
    await cluster.close();
  });

  test('blocked by a disruption budget: DrainBlocked names the pod, and the node is uncordoned', async () => {
    const { cluster, node } = await clusterNode((each) => {
      each.pods = [{ name: 'db', uid: 'u-1', node: each.nodeName, budget: true }];
    });
    const { crash } = await node.crashed(1);
    expect(crash).toMatchObject({
      lastReason: 'DrainBlocked',
      lastMessage: 'not drained in 20 s: blocked by default/db (its disruption budget)',
    });
    expect(cluster.node).toMatchObject({ unschedulable: false, annotations: {} });
    expect(node.acts()).toEqual(['prepare', 'activate', 'deactivate']);
    await cluster.close();
  });

  test('cordoned by an administrator before: updated, and still cordoned', async () => {
    const { cluster, node } = await clusterNode((each) => {
      each.node.unschedulable = true;
    });
    await node.updated();
    expect(cluster.node.unschedulable).toBe(true);
    await cluster.close();
  });

  test('the record is lost while the node is drained: the mark gives it back (BU#691)', async () => {
    const { cluster, node } = await clusterNode((each) => {
      each.pods = [{ name: 'db', uid: 'u-1', node: each.nodeName, stuck: true }];
    });
    await eventually('cordoned', () => cluster.node.annotations[MARK] === node.nodeId);
    await node.machine.stopAgent();
    writeFileSync(node.file('state/node.json'), '{"format":2,"gene');
    node.machine.startAgent();
    await eventually('uncordoned', () => !cluster.node.unschedulable);
    await eventually('not left activated', () => !node.machine.state().disk.nextBootInactive);
    await cluster.close();
  });
});

describe('health checks', () => {
  let service: Server;
  let port = 0;
  /** The node whose version decides whether the service is well. */
  let watched: SiteNode | null = null;
  beforeAll(async () => {
    service = createServer((_request, response) => {
      response.writeHead(watched?.machine.state().version === NEW ? 503 : 200);
      response.end();
    });
    await new Promise<void>((done) => {
      service.listen(0, '127.0.0.1', done);
    });
    const address = service.address();
    port = address === null || typeof address === 'string' ? 0 : address.port;
  });
  afterAll(() => service.close());

  test('all pass: MonitoringUpdate is reached, watched through the soak time, and left', async () => {
    const node = await site.node(await site.group({ monitor: { checks: [HOOK_CHECK], soak: '1s' } }));
    expect((await node.updated()).crash.count).toBe(0);
  });

  test('one never passes: back to the old version, drained both times, the lock given back, the crash kept', async () => {
    const checks = [HOOK_CHECK, { name: 'web', type: 'http', port, path: '/health' } as const];
    const node = await site.heldNode(
      await site.group({ drain: DRAIN, monitor: { checks }, deadlines: { MonitoringUpdate: '20s' } }),
    );
    watched = node;
    await node.verb('release');
    const after = await node.crashed(1);
    expect(after).toMatchObject({
      crash: { lastReason: 'HealthCheckFailed', lastState: 'MonitoringUpdate' },
      blockedVersions: [NEW],
      status: { currentVersion: OLD, progress: `back on ${OLD}` },
    });
    expect(after.crash.lastMessage).toMatch(
      /check web failed: http port \d+ \/health(?: answered 503|: The operation was aborted)/,
    );
    expect(after.crash.lastMessage).not.toMatch(/replication/);
    expect(node.acts()).toEqual(['prepare', 'activate', 'reboot', 'prepare', 'activate', 'reboot']);
    expect(node.machine.state()).toMatchObject({ boots: 3, disk: { versionLock: 'latest', nextBootInactive: false } });
    expect(node.hooks()).toEqual(['drain', 'undrain', 'drain', 'undrain']);
    watched = null;
  });

  test('the group allows less than the agent would take: the node still names the check and goes back', async () => {
    const monitor: GroupBody['monitor'] = { checks: [{ name: 'web', type: 'http', port }] };
    const node = await site.heldNode(await site.group({ monitor, deadlines: { MonitoringUpdate: '10s' } }));
    watched = node;
    await node.verb('release');
    const after = await node.crashed(1);
    expect(after).toMatchObject({
      crash: { lastReason: 'HealthCheckFailed', lastState: 'MonitoringUpdate' },
      status: { currentVersion: OLD, progress: `back on ${OLD}` },
    });
    expect(after.crash.lastMessage).toMatch(/^MonitoringUpdate was not reached in \d+ s: check web failed/);
    watched = null;
  });

  test('one fails during the soak time: ErrorReset names it, and the node goes back', async () => {
    const node = await site.node(await site.group({ monitor: { checks: [HOOK_CHECK], soak: '10m' } }));
    await node.becomes(
      'watched',
      ({ spec, status }) => spec.state === 'MonitoringUpdate' && status?.state === 'MonitoringUpdate',
    );
    writeFileSync(node.file('sick'), '');
    const after = await node.crashed(1);
    expect(after.crash.lastMessage).toBe('check replication failed: hook healthy ended with 1: replica lag 900 s');
    expect(after.status?.currentVersion).toBe(OLD);
    rmSync(node.file('sick'));
  });

  test('onFailure report: the crash is counted, and the node stays on the new version', async () => {
    const monitor: GroupBody['monitor'] = { checks: [HOOK_CHECK], soak: '10m', onFailure: 'report' };
    const node = await site.node(await site.group({ monitor }));
    await node.becomes(
      'watched',
      ({ spec, status }) => spec.state === 'MonitoringUpdate' && status?.state === 'MonitoringUpdate',
    );
    writeFileSync(node.file('sick'), '');
    const after = await node.crashed(1);
    expect(after).toMatchObject({ status: { currentVersion: NEW }, blockedVersions: [], crash: { count: 1 } });
    expect(node.machine.state().boots).toBe(2);
  });

  test('the old version is offered no more: it stays on the new one, says so, and leaves no lock', async () => {
    const node = await site.node(await site.group({ monitor: { checks: [HOOK_CHECK], soak: '10m' } }), {
      withdrawn: [OLD],
    });
    await node.becomes(
      'watched',
      ({ spec, status }) => spec.state === 'MonitoringUpdate' && status?.state === 'MonitoringUpdate',
    );
    writeFileSync(node.file('sick'), '');
    const after = await node.crashed(1);
    expect(after.status).toMatchObject({
      currentVersion: NEW,
      progress: `${OLD} is not offered any more: the node stays on ${NEW}`,
    });
    expect(node.machine.state()).toMatchObject({ boots: 2, disk: { versionLock: 'latest' } });
  });
});
