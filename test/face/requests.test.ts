import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/commands/all.ts';
import { EXIT } from '../../cli/errors.ts';
import { runCommandLine } from '../../cli/run.ts';
import { CREDENTIALS, REGION, startApi, type Reply, type Responder } from './api-double.ts';
import { fakeIo } from './fake-io.ts';
import { crashedNode, event, group, idleNode, loopingVm, NODE_A, NODE_B, runningVm, summary } from './fleet.ts';
import { holdoff, items, ok } from './holdoff.ts';

describe('each command is one signed request', () => {
  it.each<[line: string, request: { method: string; path: string; body?: unknown }, answer: Reply]>([
    ['nodes', { method: 'GET', path: '/v1/nodes' }, items(idleNode())],
    [`nodes events ${NODE_A}`, { method: 'GET', path: `/v1/nodes/${NODE_A}/events` }, items(event())],
    [`nodes retry ${NODE_A}`, { method: 'POST', path: `/v1/nodes/${NODE_A}/retry`, body: {} }, ok(idleNode(), 202)],
    [`nodes hold ${NODE_A}`, { method: 'POST', path: `/v1/nodes/${NODE_A}/hold`, body: {} }, ok(idleNode(), 202)],
    [
      `nodes hold ${NODE_A} --withdraw`,
      { method: 'POST', path: `/v1/nodes/${NODE_A}/hold`, body: { withdraw: true } },
      ok(idleNode(), 202),
    ],
    [`nodes release ${NODE_A}`, { method: 'POST', path: `/v1/nodes/${NODE_A}/release`, body: {} }, ok(idleNode(), 202)],
    [`nodes fence ${NODE_A}`, { method: 'POST', path: `/v1/nodes/${NODE_A}/fence`, body: {} }, ok(idleNode(), 202)],
    [
      `nodes move ${NODE_A} --group canary`,
      { method: 'POST', path: `/v1/nodes/${NODE_A}/move`, body: { group: 'canary' } },
      ok(idleNode(), 202),
    ],
    [`nodes delete ${NODE_A}`, { method: 'DELETE', path: `/v1/nodes/${NODE_A}` }, ok({}, 202)],
    ['vms', { method: 'GET', path: '/v1/vms' }, items(runningVm())],
    ['vms events db --limit 5', { method: 'GET', path: '/v1/vms/db/events' }, items()],
    ['vms start db', { method: 'POST', path: '/v1/vms/db/start', body: {} }, ok(runningVm(), 202)],
    ['vms restart db', { method: 'POST', path: '/v1/vms/db/restart', body: {} }, ok(runningVm(), 202)],
    [
      'vms restart db --grace 1m',
      { method: 'POST', path: '/v1/vms/db/restart', body: { gracePeriod: '1m' } },
      ok(runningVm(), 202),
    ],
    ['vms stop db', { method: 'POST', path: '/v1/vms/db/stop', body: {} }, ok(runningVm(), 202)],
    [
      'vms stop db --grace 30s',
      { method: 'POST', path: '/v1/vms/db/stop', body: { gracePeriod: '30s' } },
      ok(runningVm(), 202),
    ],
    ['vms delete db', { method: 'DELETE', path: '/v1/vms/db' }, ok(runningVm(), 202)],
    ['vms delete db --force', { method: 'DELETE', path: '/v1/vms/db?force=true' }, ok(runningVm(), 202)],
    ['vms put db --file vm.json', { method: 'PUT', path: '/v1/vms/db', body: { from: 'file' } }, ok(runningVm(), 201)],
    ['vms put db --file -', { method: 'PUT', path: '/v1/vms/db', body: { from: 'stdin' } }, ok(runningVm(), 200)],
    ['groups', { method: 'GET', path: '/v1/groups' }, items(group())],
    ['groups show default', { method: 'GET', path: '/v1/groups/default' }, ok(group())],
    ['groups put g --file vm.json', { method: 'PUT', path: '/v1/groups/g', body: { from: 'file' } }, ok(group(), 201)],
    ['groups pause g', { method: 'POST', path: '/v1/groups/g/pause', body: {} }, ok(group(), 202)],
    ['groups resume g', { method: 'POST', path: '/v1/groups/g/resume', body: {} }, ok(group(), 202)],
    ['groups close-window g', { method: 'POST', path: '/v1/groups/g/closeWindow', body: {} }, ok(group(), 202)],
    ['groups close-breaker g', { method: 'POST', path: '/v1/groups/g/closeBreaker', body: {} }, ok(group(), 202)],
    [
      'groups close-breaker g --version 2.0.0',
      { method: 'POST', path: '/v1/groups/g/closeBreaker', body: { version: '2.0.0' } },
      ok(group(), 202),
    ],
    [
      'groups open-window g --for 1h',
      { method: 'POST', path: '/v1/groups/g/openWindow', body: { for: '1h' } },
      ok(group(), 202),
    ],
    [
      'groups expedite g --version 2.0.1 --for 24h',
      { method: 'POST', path: '/v1/groups/g/expedite', body: { version: '2.0.1', for: '24h' } },
      ok(group(), 202),
    ],
    ['groups delete g', { method: 'DELETE', path: '/v1/groups/g' }, ok({}, 202)],
    ['events --limit 7', { method: 'GET', path: '/v1/events?limit=7' }, items(event())],
    ['summary', { method: 'GET', path: '/v1/summary' }, ok(summary())],
    ['openapi', { method: 'GET', path: '/v1/openapi.json' }, { body: { openapi: '3.1.0' } }],
  ])('%s', async (line, request, answer) => {
    const ran = await holdoff(line, () => answer, {
      files: { 'vm.json': '{"from":"file"}' },
      stdin: '{"from":"stdin"}',
    });
    expect(ran.err).toBe('');
    expect(ran.code).toBe(EXIT.ok);
    expect(ran.api.seen).toEqual([{ body: undefined, ...request }]);
  });

  it('show asks for the thing and for its last events', async () => {
    const ran = await holdoff('vms show web', ({ path }) =>
      path.includes('events') ? items(event()) : ok(loopingVm()),
    );
    expect(ran.code).toBe(EXIT.ok);
    expect(ran.api.seen.map((one) => one.path)).toEqual(['/v1/vms/web', '/v1/vms/web/events']);
  });

  it('works below a stage of API Gateway, with credentials of the environment', async () => {
    const api = await startApi(() => items());
    const io = fakeIo({ isTty: true });
    process.env['AWS_ACCESS_KEY_ID'] = CREDENTIALS.accessKeyId;
    process.env['AWS_SECRET_ACCESS_KEY'] = CREDENTIALS.secretAccessKey;
    try {
      const line = ['vms', '--endpoint', `${api.endpoint}/prod`, '--region', REGION];
      expect(await runCommandLine(line, COMMANDS, io)).toBe(EXIT.ok);
    } finally {
      delete process.env['AWS_ACCESS_KEY_ID'];
      delete process.env['AWS_SECRET_ACCESS_KEY'];
      await api.close();
    }
    expect(api.seen.map((one) => one.path)).toEqual(['/prod/v1/vms']);
    expect(io.stdout()).toBe('No VMs yet. `holdoff vms put ID --file FILE` declares one.\n');
  });
});

describe('a list', () => {
  const pages: Responder = ({ path }) => {
    const cursor = new URL(path, 'http://api').searchParams.get('cursor');
    if (cursor === null) return ok({ items: [idleNode()], cursor: 'a+b/c= (2)' });
    return cursor === 'a+b/c= (2)'
      ? ok({ items: [crashedNode()], cursor: '3' })
      : items(idleNode({ nodeId: 'i-00000003' }));
  };

  it('is read to its end, whatever its cursors hold', async () => {
    const ran = await holdoff('nodes', pages);
    expect(
      ran.out
        .trimEnd()
        .split('\n')
        .map((row) => row.split('\t')[0]),
    ).toEqual([NODE_A, NODE_B, 'i-00000003']);
  });

  it('is read no further than --limit', async () => {
    const ran = await holdoff('nodes --limit 2 --json', pages);
    expect(ran.api.seen.map((one) => one.path)).toEqual([
      '/v1/nodes?limit=2',
      '/v1/nodes?limit=2&cursor=a%2Bb%2Fc%3D%20%282%29',
    ]);
    expect(JSON.parse(ran.out)).toEqual({ api: '1.0', items: [idleNode(), crashedNode()], cursor: '3' });
  });

  it('counts towards --limit only what --group keeps', async () => {
    const ran = await holdoff('nodes --group canary --limit 1', pages);
    expect(ran.out.split('\t')[0]).toBe(NODE_B);
  });

  it('that never ends is an error', async () => {
    const ran = await holdoff('nodes', () => ok({ items: [], cursor: 'same' }));
    expect(ran.code).toBe(EXIT.failed);
    expect(ran.err).toContain('the control plane gave the same cursor twice');
  });

  it('of nothing prints nothing in a pipe, and says so on a terminal', async () => {
    expect((await holdoff('nodes', () => items())).out).toBe('');
    expect((await holdoff('nodes', () => items(), { isTty: true })).out).toContain('No nodes yet.');
    expect((await holdoff('nodes --group x', () => items(idleNode()), { isTty: true })).out).toContain(
      'No nodes in group x.',
    );
  });
});
