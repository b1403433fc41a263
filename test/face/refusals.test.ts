import { beforeEach, describe, expect, test } from 'vitest';
import { nodeIdentity, OPERATOR } from '../../world/environment.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { exec, HOST, Scene } from '../plane/scene.ts';

const OTHER = 'i-0000000000000000b';
const report = (more: Record<string, unknown> = {}) => ({
  state: 'Idle',
  bootId: 'b1',
  currentVersion: '1.0',
  uptime: 1000,
  updateCheck: { result: 'UpToDate' },
  ...more,
});
const vm = (more: Record<string, unknown> = {}) => ({ ...exec('Always'), ...more });
const operator = OPERATOR;
const node = nodeIdentity(HOST);
const other = nodeIdentity(OTHER);

type Row = [
  what: string,
  who: { userArn: string },
  method: string,
  path: string,
  body: unknown,
  status: number,
  code: string,
];

const ROWS: readonly Row[] = [
  [
    'another node reports for this one',
    other,
    'POST',
    `/v1/nodes/${HOST}/reports`,
    report({ uptime: 2000 }),
    403,
    'NotYourNode',
  ],
  [
    'an operator reports for a node',
    operator,
    'POST',
    `/v1/nodes/${HOST}/reports`,
    report({ uptime: 2000 }),
    403,
    'NodeOnly',
  ],
  ['another node asks what runs here', other, 'GET', `/v1/nodes/${HOST}/vms`, undefined, 403, 'NotYourNode'],
  ['a node reads an operator’s list', node, 'GET', '/v1/nodes', undefined, 403, 'OperatorOnly'],
  ['a node stops a VM', node, 'POST', '/v1/vms/web/stop', {}, 403, 'OperatorOnly'],
  ['a node deletes a VM', node, 'DELETE', '/v1/vms/web', undefined, 403, 'OperatorOnly'],
  ['nobody asks', { userArn: '' }, 'GET', '/v1/vms', undefined, 403, 'NoIdentity'],
  [
    'another account asks',
    { userArn: 'arn:aws:iam::999999999999:user/eve' },
    'PUT',
    '/v1/vms/new',
    vm(),
    403,
    'NoIdentity',
  ],
  [
    'a node role without a node id',
    { userArn: 'arn:aws:sts::000000000000:assumed-role/HoldoffNode/eve' },
    'GET',
    '/v1/summary',
    undefined,
    403,
    'OperatorOnly',
  ],
  ['a malformed node id', operator, 'GET', '/v1/nodes/nonsense', undefined, 400, 'InvalidId'],
  ['a malformed VM id', operator, 'PUT', '/v1/vms/-x', vm(), 400, 'InvalidId'],
  ['a malformed group name', operator, 'PUT', '/v1/groups/_', {}, 400, 'InvalidId'],
  ['an unknown node', operator, 'POST', `/v1/nodes/${OTHER}/hold`, {}, 404, 'NodeNotFound'],
  ['an unknown VM', operator, 'POST', '/v1/vms/nope/start', {}, 404, 'VmNotFound'],
  ['an unknown route', operator, 'GET', '/v1/nope', undefined, 404, 'RouteNotFound'],
  ['a wrong method', operator, 'DELETE', '/v1/summary', undefined, 405, 'MethodNotAllowed'],
  ['2 MB of group policy', operator, 'PUT', '/v1/groups/web', { order: 'x'.repeat(2_000_000) }, 413, 'BodyTooLarge'],
  [
    '2 MB of report',
    node,
    'POST',
    `/v1/nodes/${HOST}/reports`,
    report({ uptime: 2000, error: { reason: 'x'.repeat(2_000_000) } }),
    413,
    'BodyTooLarge',
  ],
  [
    'a generation ahead of ours',
    node,
    'POST',
    `/v1/nodes/${HOST}/reports`,
    report({ generation: 2, uptime: 2000 }),
    409,
    'GenerationAhead',
  ],
  [
    'a report without a state',
    node,
    'POST',
    `/v1/nodes/${HOST}/reports`,
    report({ state: 'Resting', uptime: 2000 }),
    400,
    'InvalidBody',
  ],
  ['the group default deleted', operator, 'DELETE', '/v1/groups/default', undefined, 409, 'DefaultGroup'],
  ['a limit above 500', operator, 'PUT', '/v1/groups/web', { maxConcurrentUpdates: 501 }, 400, 'InvalidBody'],
  ['no limit at all', operator, 'PUT', '/v1/groups/web', { maxConcurrentUpdates: 0 }, 400, 'InvalidBody'],
  [
    'a drain longer than the step it is a part of',
    operator,
    'PUT',
    '/v1/groups/web',
    { drain: { steps: [{ type: 'kubernetes' }] }, deadlines: { RebootedIntoUpdate: '10m' } },
    400,
    'InvalidBody',
  ],
  [
    'a check that may take as long as the step it has to pass in',
    operator,
    'PUT',
    '/v1/groups/web',
    { monitor: { checks: [{ name: 'web', type: 'tcp', port: 80, timeout: '5m' }] } },
    400,
    'InvalidBody',
  ],
  [
    'a check whose default time-out is not shorter than that step',
    operator,
    'PUT',
    '/v1/groups/web',
    { monitor: { checks: [{ name: 'web', type: 'tcp', port: 80 }] }, deadlines: { MonitoringUpdate: '5s' } },
    400,
    'InvalidBody',
  ],
  [
    'two checks of one name',
    operator,
    'PUT',
    '/v1/groups/web',
    {
      monitor: {
        checks: [
          { name: 'web', type: 'tcp', port: 80 },
          { name: 'web', type: 'tcp', port: 81 },
        ],
      },
    },
    400,
    'InvalidBody',
  ],
  [
    'a hook that is a command line',
    operator,
    'PUT',
    '/v1/groups/web',
    { drain: { steps: [{ type: 'exec', hook: '/bin/sh -c true' }] } },
    400,
    'InvalidBody',
  ],
  ['a page of nothing', operator, 'GET', '/v1/vms?limit=0', undefined, 400, 'InvalidLimit'],
  ['a launch of no known kind', operator, 'PUT', '/v1/vms/new', vm({ launch: { type: 'magic' } }), 400, 'InvalidBody'],
];

describe('a refused call has its own status and code, and changes nothing', () => {
  let scene: Scene;
  let before: unknown;
  const everything = async (): Promise<unknown> => [
    await scene.operator('GET', '/v1/nodes'),
    await scene.operator('GET', '/v1/vms'),
    await scene.operator('GET', '/v1/groups'),
    scene.world.table.writes,
  ];
  beforeEach(async () => {
    scene = new Scene();
    await scene.as(HOST, 'POST', `/v1/nodes/${HOST}/reports`, report());
    await scene.operator('PUT', '/v1/vms/web', vm());
    before = await everything();
  });

  test.each(ROWS)('%s', async (_what, who, method, path, body, status, code) => {
    const answer = await scene.world.call(method, path, body, who);
    expect(answer).toMatchObject({ status, body: { status, code, api: expect.stringMatching(/^1\./) } });
    expect(await everything()).toEqual(before);
  });

  test.each([
    ['PUT', '/v1/vms/web', vm({ maintenance: 'ignore' }), 'maintenance'],
    ['PUT', '/v1/vms/web', vm({ hosts: ['web-1'] }), 'hosts.0'],
    ['PUT', '/v1/vms/web', vm({ hosts: [] }), 'hosts'],
    ['PUT', '/v1/vms/web', vm({ restartElsewhere: true }), 'restartElsewhere'],
    ['PUT', '/v1/vms/web', vm({ colour: 'red' }), 'colour'],
    ['PUT', '/v1/vms/web', vm({ launch: { type: 'libvirt', domain: 'web', cpu: 2 } }), 'launch.cpu'],
    ['PUT', '/v1/vms/web', vm({ backoff: { preset: 'seed', twist: 1 } }), 'backoff.twist'],
    ['PUT', '/v1/groups/default', { haltOnAlarm: ['latency', 'latency'] }, 'haltOnAlarm'],
    ['PUT', '/v1/groups/default', { windows: [{ cron: '0 0 30 2 *', duration: '1h' }] }, 'windows.0.cron'],
    ['PUT', '/v1/groups/default', { breaker: { failures: 3, within: '8d' } }, 'breaker.within'],
    ['PUT', '/v1/groups/default', { monitor: { colour: 'red' } }, 'monitor.colour'],
    [
      'PUT',
      '/v1/groups/default',
      { monitor: { checks: [{ name: 'web', type: 'tcp', port: 80, host: '10.0.0.1' }] } },
      'monitor.checks.0.host',
    ],
    [
      'PUT',
      '/v1/groups/default',
      { drain: { steps: [{ type: 'exec', command: ['rm', '-r'] }] } },
      'drain.steps.0.command',
    ],
    ['PUT', '/v1/groups/default', { drain: { steps: [], force: true } }, 'drain.force'],
    ['PUT', '/v1/groups/default', { deadlines: { ErrorReset: '1m' } }, 'deadlines.ErrorReset'],
    ['POST', '/v1/vms/web/stop', { force: true }, 'force'],
    ['POST', `/v1/nodes/${HOST}/retry`, { now: true }, 'now'],
  ])(
    '%s %s with a field it does not have or cannot have is refused by its path: %j',
    async (method, path, body, field) => {
      const answer = await scene.world.call(method, path, body, OPERATOR);
      expect(answer.status).toBe(400);
      expect(valueAt(answer.body, 'code')).toBe('InvalidBody');
      expect(valueAt(answer.body, 'errors')).toContainEqual({ path: field, message: expect.any(String) });
      expect(await everything()).toEqual(before);
    },
  );

  test('an agent’s unknown field is ignored', async () => {
    expect((await scene.node(HOST, { state: 'Idle', generation: 1, uptime: 2000, mood: 'fine' })).status).toBe(200);
  });

  test('another host may not report the VM; told of an instance of another declaration, it is told to end it', async () => {
    const instanceId = scene.world.instances('web').at(-1);
    const path = '/v1/vms/web/reports';
    const refused = await scene.as(OTHER, 'POST', path, { instanceId, phase: 'Failed' });
    expect(refused).toMatchObject({ status: 403, body: { code: 'NotYourVm' } });
    const told = await scene.as(OTHER, 'POST', path, { instanceId: 'old-1', uid: 'old', phase: 'Running' });
    expect(told).toMatchObject({ status: 200, body: { desired: { power: 'off', instanceId: 'old-1' } } });
    expect(await everything()).toEqual(before);
  });

  test('another host that knows the VM’s uid is told to end what nobody waits for, and may not report the present instance', async () => {
    const { body } = await scene.as(HOST, 'GET', `/v1/nodes/${HOST}/vms`);
    const uid = valueAt(body, 'items.0.uid');
    expect(uid).toEqual(expect.any(String));
    const path = '/v1/vms/web/reports';
    for (const phase of ['Running', 'Failed']) {
      const left = await scene.as(OTHER, 'POST', path, { instanceId: 'left-1', uid, phase });
      expect(left).toMatchObject({ status: 200, body: { desired: { power: 'off', instanceId: 'left-1' } } });
      const instanceId = scene.world.instances('web').at(-1);
      const refused = await scene.as(OTHER, 'POST', path, { instanceId, uid, phase });
      expect(refused).toMatchObject({ status: 403, body: { code: 'NotYourVm' } });
    }
    expect(await everything()).toEqual(before);
  });

  test('a repeated, an out-of-order and a stale report are answered 200 and change nothing', async () => {
    const path = `/v1/nodes/${HOST}/reports`;
    const rows = [
      report({ generation: 1 }),
      report({ state: 'ErrorReset', generation: 1, uptime: 999 }),
      report({ state: 'ErrorReset', generation: 0, uptime: 2000, bootId: 'b9' }),
    ];
    for (const body of rows) {
      const answer = await scene.as(HOST, 'POST', path, body);
      expect(answer).toMatchObject({ status: 200, body: { desired: { state: 'Idle', generation: 1 } } });
      expect(await everything()).toEqual(before);
    }
  });
});
