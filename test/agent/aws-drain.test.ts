import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { createDrainer, type Drainer } from '../../agent/drain/drainer.ts';
import { readTargets } from '../../agent/drain/load-balancer.ts';
import type { AgentDrainStep } from '../../agent/node/drain-record.ts';

const inputSchema = z.record(z.string(), z.unknown());
const NODE_ID = 'i-0123456789abcdef0';
const GROUP = 'arn:aws:elasticloadbalancing:eu-west-1:000000000000:targetgroup/web/0123456789abcdef';
const ECS: AgentDrainStep = { type: 'ecs' };
const LB: AgentDrainStep = { type: 'loadBalancer', targetGroups: [GROUP] };

/** ECS, its local agent and ELBv2 behind one address, as strict as these calls need. */
class AwsDouble {
  status = 'ACTIVE';
  attributes: { name: string; value: string }[] = [];
  tasks: { taskArn: string; group: string }[] = [];
  /** Port to state of this instance in the target group. */
  targets = new Map<string, string>();
  readonly calls: string[] = [];
  readonly services = new Set<string>();
  readonly #server: Server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      if (request.url === '/v1/metadata') {
        response.end(JSON.stringify({ Cluster: 'prod', ContainerInstanceArn: 'arn:x/prod/abc', Version: '1' }));
        return;
      }
      const scope = /Credential=[^/]+\/\d{8}\/([a-z0-9-]+)\/([a-z]+)\/aws4_request/.exec(
        request.headers.authorization ?? '',
      );
      this.services.add(`${scope?.[2] ?? '?'} in ${scope?.[1] ?? '?'}`);
      const target = request.headers['x-amz-target'];
      response.end(
        typeof target === 'string'
          ? JSON.stringify(this.#ecs(target.split('.')[1] ?? '', inputSchema.parse(JSON.parse(text))))
          : this.#elb(new URLSearchParams(text)),
      );
    });
  });

  async listen(): Promise<void> {
    await new Promise<void>((done) => {
      this.#server.listen(0, '127.0.0.1', done);
    });
  }
  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return `http://127.0.0.1:${address.port}`;
  }
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((done) => {
      this.#server.close(() => done());
    });
  }

  #ecs(action: string, input: Record<string, unknown>): unknown {
    if (input['cluster'] !== 'prod') throw new Error('another cluster');
    this.calls.push(action === 'UpdateContainerInstancesState' ? `state ${String(input['status'])}` : action);
    switch (action) {
      case 'DescribeContainerInstances':
        return {
          containerInstances: [
            {
              status: this.status,
              runningTasksCount: this.tasks.length,
              pendingTasksCount: 0,
              attributes: this.attributes,
            },
          ],
        };
      case 'PutAttributes':
        this.attributes = [{ name: 'holdoff.draining', value: NODE_ID }];
        return {};
      case 'DeleteAttributes':
        this.attributes = [];
        return {};
      case 'UpdateContainerInstancesState':
        this.status = String(input['status']);
        return {};
      case 'ListTasks': {
        const from = Number(input['nextToken'] ?? 0);
        const next = from + 1 < this.tasks.length ? { nextToken: String(from + 1) } : {};
        return { taskArns: this.tasks.slice(from, from + 1).map(({ taskArn }) => taskArn), ...next };
      }
      case 'DescribeTasks': {
        const asked = z.array(z.string()).check(z.maxLength(100)).parse(input['tasks']);
        return { tasks: this.tasks.filter(({ taskArn }) => asked.includes(taskArn)) };
      }
      default:
        throw new Error(action);
    }
  }

  #elb(query: URLSearchParams): string {
    const action = query.get('Action') ?? '';
    const port = query.get('Targets.member.1.Port') ?? '';
    this.calls.push(port === '' ? action : `${action} ${port}`);
    if (action === 'DeregisterTargets') this.targets.set(port, 'draining');
    if (action === 'RegisterTargets') this.targets.set(port, 'initial');
    const member = (id: string, at: string, state: string): string =>
      `<member><HealthCheckPort>${at}</HealthCheckPort><TargetHealth><State>${state}</State></TargetHealth><Target><Port>${at}</Port><Id>${id}</Id></Target></member>`;
    const ours = [...this.targets].map(([at, state]) => member(NODE_ID, at, state)).join('\n');
    return `<DescribeTargetHealthResponse><DescribeTargetHealthResult><TargetHealthDescriptions>${member('i-other', '80', 'healthy')}${ours}</TargetHealthDescriptions></DescribeTargetHealthResult></DescribeTargetHealthResponse>`;
  }
}

let aws: AwsDouble;
let drainer: Drainer;
beforeEach(async () => {
  aws = new AwsDouble();
  await aws.listen();
  drainer = createDrainer({
    nodeId: NODE_ID,
    region: 'eu-west-1',
    identity: () => Promise.resolve({ accessKeyId: 'A', secretAccessKey: 'S' }),
    env: { AWS_ENDPOINT_URL_ECS: aws.url, AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2: aws.url },
    requestTimeoutMs: 10_000,
    ecsIntrospection: aws.url,
    kubernetesNode: '',
    settings: () => Promise.resolve({}),
    proxies: () => null,
    wallMs: Date.now,
    endHook: () => Promise.resolve(),
    runHook: () => Promise.resolve({ known: false, failure: 'no hooks here' }),
  });
});
afterEach(() => aws.close());

describe('draining an ECS container instance', () => {
  test('DRAINING with our mark, until no task is left, then ACTIVE again', async () => {
    aws.tasks = [{ taskArn: 'arn:x/task/prod/1', group: 'service:web' }];
    expect(await drainer('survey', ECS, null)).toEqual({ kind: 'surveyed', mine: ['draining'] });
    expect(aws.calls).toEqual(['DescribeContainerInstances', 'ListTasks', 'DescribeTasks']);
    // It was placed between that look and DRAINING.
    aws.tasks.push({ taskArn: 'arn:x/task/prod/2', group: 'family:batch' });
    expect(await drainer('drain', ECS, ['draining'])).toEqual({
      kind: 'waiting',
      left: ['task 1 (service:web)', 'task 2 (family:batch)'],
      // DRAINING does not move a task that no service started.
      blockedBy: ['task 2 (family:batch)'],
    });
    expect(aws.status).toBe('DRAINING');
    aws.tasks = [];
    expect(await drainer('drain', ECS, ['draining'])).toEqual({ kind: 'done' });
    expect(await drainer('undo', ECS, ['draining'])).toEqual({ kind: 'done' });
    expect([aws.status, aws.attributes]).toEqual(['ACTIVE', []]);
    expect([...aws.services]).toEqual(['ecs in eu-west-1']);
    expect(aws.calls.filter((call) => call.startsWith('state'))).toEqual(['state DRAINING', 'state ACTIVE']);
  });

  test('a task that no service started is refused before DRAINING, however many tasks there are', async () => {
    aws.tasks = Array.from({ length: 250 }, (_each, index) => ({
      taskArn: `arn:x/task/prod/${index}`,
      group: index === 249 ? 'family:batch' : 'service:web',
    }));
    expect(await drainer('survey', ECS, null)).toEqual({
      kind: 'blocked',
      mine: ['draining'],
      blockedBy: ['task 249 (family:batch), which no service started'],
    });
    expect(aws.status).toBe('ACTIVE');
    expect(aws.calls.filter((call) => call === 'DescribeTasks')).toHaveLength(3);
  });

  test('somebody else’s DRAINING stays', async () => {
    aws.status = 'DRAINING';
    expect(await drainer('survey', ECS, null)).toEqual({ kind: 'surveyed', mine: [] });
    expect(await drainer('drain', ECS, [])).toEqual({ kind: 'done' });
    for (const mine of [[], null]) expect(await drainer('undo', ECS, mine)).toEqual({ kind: 'done' });
    expect(aws.status).toBe('DRAINING');
  });

  test('with the record lost the mark proves what is ours', async () => {
    await drainer('drain', ECS, ['draining']);
    expect(await drainer('undo', ECS, null)).toEqual({ kind: 'done' });
    expect([aws.status, aws.attributes]).toEqual(['ACTIVE', []]);
  });

  test('an instance that has left its cluster cannot be drained, and needs nothing back', async () => {
    aws.status = 'INACTIVE';
    expect((await drainer('survey', ECS, null)).kind).toBe('impossible');
    expect(await drainer('undo', ECS, ['draining'])).toEqual({ kind: 'done' });
  });
});

describe('leaving target groups', () => {
  test('deregisters its own ports, waits for the delay to run out, and registers them again', async () => {
    aws.targets = new Map([
      ['80', 'healthy'],
      ['8080', 'draining'],
    ]);
    const survey = await drainer('survey', LB, null);
    expect(survey).toEqual({ kind: 'surveyed', mine: [`${GROUP} 80`] });
    expect(await drainer('drain', LB, [`${GROUP} 80`])).toMatchObject({ kind: 'waiting', blockedBy: [] });
    expect(aws.targets.get('80')).toBe('draining');
    expect((await drainer('drain', LB, [`${GROUP} 80`])).kind).toBe('waiting');
    aws.targets.clear();
    expect(await drainer('drain', LB, [`${GROUP} 80`])).toEqual({ kind: 'done' });
    expect(await drainer('undo', LB, [`${GROUP} 80`])).toEqual({ kind: 'done' });
    expect([...aws.targets]).toEqual([['80', 'initial']]);
    expect(aws.calls.filter((call) => /egister/.test(call))).toEqual(['DeregisterTargets 80', 'RegisterTargets 80']);
    expect([...aws.services]).toEqual(['elasticloadbalancing in eu-west-1']);
  });

  test('with the record lost nothing is registered: an operator may have taken it out', async () => {
    expect(await drainer('undo', LB, null)).toEqual({ kind: 'done' });
    expect(aws.calls).toEqual([]);
  });

  test.each([
    ['an instance that is not there', '<member><Target><Port>80</Port><Id>i-2</Id></Target></member>', []],
    [
      'a target that gets nothing',
      '<member><TargetHealth><State>unused</State></TargetHealth><Target><Port>80</Port><Id>i-1</Id></Target></member>',
      [],
    ],
    [
      'Target before TargetHealth',
      '<member><Target><Id>i-1</Id><Port>81</Port></Target><TargetHealth><State>healthy</State></TargetHealth></member>',
      [{ port: '81', state: 'healthy' }],
    ],
  ])('reads %s', (_what, xml, targets) => {
    expect(readTargets(xml, 'i-1')).toEqual(targets);
  });
});

describe('what an agent cannot do is said, never skipped', () => {
  test('a step of a newer control plane', async () => {
    expect(await drainer('survey', { type: 'unknown', kind: 'nomad' }, null)).toEqual({
      kind: 'impossible',
      message: expect.stringContaining('does not know drain steps of type nomad'),
    });
  });
  test('a hook that is not on the list', async () => {
    expect((await drainer('drain', { type: 'exec', hook: 'flush' }, ['hook'])).kind).toBe('impossible');
  });
  test('a cluster without settings', async () => {
    expect(await drainer('survey', { type: 'kubernetes' }, null)).toEqual({
      kind: 'unavailable',
      message: expect.stringContaining('settings.kubernetes'),
    });
  });
});
