import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDrainer, type Drainer } from '../../agent/drain/drainer.ts';
import { MARK } from '../../agent/drain/kubernetes.ts';
import { KubernetesDouble, type PodRow } from './kubernetes-double.ts';

const KEYS = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };
const NODE_ID = 'i-0123456789abcdef0';
const STEP = { type: 'kubernetes' } as const;

let cluster: KubernetesDouble;
let drainer: Drainer;
const newDrainer = (keys = KEYS): Drainer =>
  createDrainer({
    nodeId: NODE_ID,
    region: 'eu-west-1',
    identity: () => Promise.resolve(keys),
    env: {},
    requestTimeoutMs: 10_000,
    ecsIntrospection: 'http://127.0.0.1:9',
    kubernetesNode: '',
    settings: () => Promise.resolve({ kubernetes: cluster.settings(), motd: 'hi' }),
    proxies: () => null,
    wallMs: Date.now,
    endHook: () => Promise.resolve(),
    runHook: () => Promise.resolve({ known: false, failure: 'no hooks here' }),
  });
beforeEach(async () => {
  cluster = new KubernetesDouble(KEYS);
  await cluster.listen();
  drainer = newDrainer();
});
afterEach(() => cluster.close());

const pod = (name: string, row: Partial<PodRow> = {}): PodRow => ({
  name,
  uid: `uid-${name}`,
  node: cluster.nodeName,
  ...row,
});

/** Drains as the worker does, at most so often. */
async function drain(rounds = 6): Promise<{ mine: string[]; outcomes: string[]; blockedBy: string[] }> {
  const survey = await drainer('survey', STEP, null);
  if (survey.kind !== 'surveyed') throw new Error(JSON.stringify(survey));
  const outcomes: string[] = [];
  let blockedBy: string[] = [];
  for (let round = 0; round < rounds && outcomes.at(-1) !== 'done'; round += 1) {
    const outcome = await drainer('drain', STEP, survey.mine);
    outcomes.push(outcome.kind);
    blockedBy = outcome.kind === 'waiting' ? outcome.blockedBy : [];
  }
  return { mine: survey.mine, outcomes, blockedBy };
}

describe('draining a Kubernetes node by its own identity', () => {
  test('cordons, evicts what is to go, waits until it has gone, and uncordons', async () => {
    cluster.pods = [
      pod('web-1'),
      pod('web-2'),
      pod('logs', { owner: 'DaemonSet' }),
      pod('proxy', { mirror: true }),
      pod('job', { phase: 'Succeeded' }),
      pod('elsewhere', { node: 'other' }),
    ];
    const { mine, outcomes } = await drain();
    expect(mine).toEqual(['cordon']);
    expect(outcomes.at(-1)).toBe('done');
    expect(cluster.node).toMatchObject({ unschedulable: true, annotations: { [MARK]: NODE_ID } });
    expect(cluster.pods.map(({ name }) => name)).toEqual(['logs', 'proxy', 'job', 'elsewhere']);
    expect(cluster.refused).toEqual([]);
    expect(await drainer('undo', STEP, mine)).toEqual({ kind: 'done' });
    expect(cluster.node).toMatchObject({ unschedulable: false, annotations: {} });
  });

  test('a disruption budget blocks, and is named', async () => {
    cluster.pods = [pod('db', { budget: true }), pod('web')];
    const { outcomes, blockedBy } = await drain(4);
    expect(outcomes).toEqual(['waiting', 'waiting', 'waiting', 'waiting']);
    expect(blockedBy).toEqual(['default/db (its disruption budget)']);
  });

  test('an administrator’s cordon is never taken away', async () => {
    cluster.node.unschedulable = true;
    const { mine, outcomes } = await drain();
    expect([mine, outcomes]).toEqual([[], ['done']]);
    expect(await drainer('undo', STEP, mine)).toEqual({ kind: 'done' });
    expect(await drainer('undo', STEP, null)).toEqual({ kind: 'done' });
    expect(cluster.node.unschedulable).toBe(true);
  });

  test('with the record lost the mark proves what is ours', async () => {
    await drain();
    drainer = newDrainer();
    expect(await drainer('undo', STEP, null)).toEqual({ kind: 'done' });
    expect(cluster.node).toMatchObject({ unschedulable: false, annotations: {} });
  });

  test('a cordon on record that was never made undoes nothing', async () => {
    cluster.node.unschedulable = true;
    expect(await drainer('undo', STEP, ['cordon'])).toEqual({ kind: 'done' });
    expect(cluster.node.unschedulable).toBe(true);
  });

  test('a pod that comes back under the same name on another node is no obstacle (BU#168)', async () => {
    cluster.pods = [pod('stateful-0')];
    await drainer('survey', STEP, null);
    await drainer('drain', STEP, ['cordon']);
    cluster.pods = [pod('stateful-0', { uid: 'uid-new', node: 'other' })];
    expect(await drainer('drain', STEP, ['cordon'])).toEqual({ kind: 'done' });
  });

  test('a pod that tolerates the cordon and comes later is not waited for', async () => {
    cluster.pods = [pod('web')];
    await drainer('survey', STEP, null);
    await drainer('drain', STEP, ['cordon']);
    cluster.pods.push(pod('late'));
    await drainer('drain', STEP, ['cordon']);
    expect(await drainer('drain', STEP, ['cordon'])).toEqual({ kind: 'done' });
    expect(cluster.pods.map(({ name }) => name)).toContain('late');
  });

  test('a pod that cannot be evicted and is still listed is not gone: it blocks (BU#74)', async () => {
    cluster.pods = [pod('web', { forbidden: true })];
    const { outcomes, blockedBy } = await drain(3);
    expect(outcomes).toEqual(['waiting', 'waiting', 'waiting']);
    // Only a list without it proves that it has gone: 403 is also what a missing right looks like.
    expect(blockedBy).toEqual([expect.stringMatching(/^default\/web \(POST .*\/eviction: 403 node can only evict/)]);
  });

  test('a pod without a controller is named before anything is touched, and nothing is', async () => {
    cluster.pods = [pod('web'), pod('debug', { owner: null })];
    expect(await drainer('survey', STEP, null)).toEqual({
      kind: 'blocked',
      mine: ['cordon'],
      blockedBy: [
        expect.stringMatching(/^default\/debug \(no controller starts it again elsewhere.*unmanaged: "evict"/),
      ],
    });
    expect(cluster.node.unschedulable).toBe(false);
    expect(cluster.pods).toHaveLength(2);
  });

  test('one that comes between that look and the cordon blocks, is named, and is not evicted', async () => {
    cluster.pods = [pod('web')];
    await drainer('survey', STEP, null);
    cluster.pods.push(pod('debug', { owner: null }));
    for (let round = 0; round < 2; round += 1) await drainer('drain', STEP, ['cordon']);
    expect(await drainer('drain', STEP, ['cordon'])).toMatchObject({
      kind: 'waiting',
      left: ['default/debug'],
      blockedBy: [expect.stringContaining('default/debug (no controller')],
    });
  });

  test('and is evicted where its group says so', async () => {
    const step = { ...STEP, unmanaged: 'evict' } as const;
    cluster.pods = [pod('debug', { owner: null })];
    expect(await drainer('survey', step, null)).toEqual({ kind: 'surveyed', mine: ['cordon'] });
    await drainer('drain', step, ['cordon']);
    await drainer('drain', step, ['cordon']);
    expect(await drainer('drain', step, ['cordon'])).toEqual({ kind: 'done' });
    expect(cluster.pods).toEqual([]);
  });

  test('somebody else writes the node at the same moment: looked at again', async () => {
    cluster.overtaken = true;
    const { outcomes } = await drain();
    expect(outcomes).toEqual(['waiting', 'done']);
    expect(cluster.node).toMatchObject({ unschedulable: true, annotations: { [MARK]: NODE_ID } });
  });

  test.each([
    ['a token for another role', () => newDrainer({ ...KEYS, secretAccessKey: 'stolen' }), /401 Unauthorized/],
    ['an API server that is ill', () => newDrainer(), /500 scripted/],
  ])('%s is trouble with its text, never a drained node', async (_what, make, message) => {
    const other = make();
    if (_what.startsWith('an API')) cluster.failNext = [500];
    expect(await other('survey', STEP, null)).toEqual({ kind: 'unavailable', message: expect.stringMatching(message) });
    expect(cluster.node.unschedulable).toBe(false);
  });
});
