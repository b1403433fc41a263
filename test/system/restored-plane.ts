/** A control plane on a table of dynalite, with a clock that the test moves, and short ways to speak to it. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { after, type Instant, seconds } from '../../core/kit/time.ts';
import { DynamoEventLog } from '../../functions/aws/event-log.ts';
import { DynamoStore } from '../../functions/aws/dynamodb-store.ts';
import { createApp } from '../../functions/http/app.ts';
import { Home } from '../../functions/operations/home.ts';
import { sweep } from '../../functions/operations/sweep.ts';
import type { ControlPlane } from '../../functions/ports.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { seededDraws } from '../../world/random.ts';
import { nodeIdentity, OPERATOR } from '../../world/environment.ts';

/** Counts over every plane, so that a report is newer than all before it. */
let reports = 0;

export type Json = Record<string, unknown>;

/** A control plane on one table, with a clock that the test moves. Timers are left to the sweep. */
export class Plane {
  readonly plane: ControlPlane;
  readonly starts: string[] = [];
  readonly warnings: string[] = [];
  readonly home: Home;
  readonly #app: ReturnType<typeof createApp>;

  readonly table: string;
  readonly clock: { now: Instant };

  constructor(client: DynamoDBClient, table: string, clock: { now: Instant }) {
    this.table = table;
    this.clock = clock;
    this.plane = {
      store: new DynamoStore(client, table, () => clock.now),
      timers: { arm: () => Promise.resolve() },
      wakes: {
        send: ({ ref, action, decided }) => {
          if (action === 'StartInstance' && decided) this.starts.push(ref.id);
          return Promise.resolve();
        },
      },
      bus: { publish: () => Promise.resolve() },
      telemetry: { metric: () => undefined, warn: (message) => void this.warnings.push(message) },
      now: () => clock.now,
      draw: seededDraws(table.length),
      pause: () => Promise.resolve(),
      settings: { idleReportSeconds: 1200, activeReportSeconds: 15, table },
    };
    this.home = new Home(this.plane);
    const rules = { accountId: '000000000000', nodeRoles: ['HoldoffNode'] };
    this.#app = createApp(this.plane, new DynamoEventLog(client, table), rules, () => this.home.isOpen());
  }

  async call(
    method: string,
    path: string,
    body: unknown,
    iam: { userArn: string },
  ): Promise<{ status: number; body: Json }> {
    const init: RequestInit = method === 'GET' ? { method } : { method, body: JSON.stringify(body ?? {}) };
    const response = await this.#app.request(path, init, { iam });
    // Every answer of the API is a JSON object.
    return { status: response.status, body: (await response.json()) as Json };
  }
  operator = (method: string, path: string, body?: unknown) => this.call(method, path, body, OPERATOR);

  /** A node's report; its uptime grows from one to the next. */
  node(id: string, report: Json): Promise<{ status: number; body: Json }> {
    reports += 1;
    return this.call(
      'POST',
      `/v1/nodes/${id}/reports`,
      {
        bootId: 'b1',
        currentVersion: '1.0',
        updateCheck: { result: 'UpToDate' },
        uptime: this.clock.now / 1000 - 1_700_000_000 + reports / 1000,
        ...report,
      },
      nodeIdentity(id),
    );
  }
  vm(id: string, host: string, report: Json): Promise<{ status: number; body: Json }> {
    return this.call('POST', `/v1/vms/${id}/reports`, report, nodeIdentity(host));
  }
  async see(kind: 'nodes' | 'vms' | 'groups', id: string): Promise<Json> {
    return (await this.operator('GET', `/v1/${kind}/${id}`)).body;
  }
  async instance(id: string): Promise<string> {
    return String(valueAt(await this.see('vms', id), 'instance.instanceId'));
  }
  async listed(host: string): Promise<unknown[]> {
    const { body } = await this.call('GET', `/v1/nodes/${host}/vms`, undefined, nodeIdentity(host));
    return body['items'] as unknown[];
  }
  /** Lets minutes pass, with a few sweeps on the way: each handles whatever has fallen due. */
  async pass(total: number): Promise<void> {
    for (let sweeps = 0; sweeps < 3; sweeps += 1) {
      this.clock.now = after(this.clock.now, seconds(total * 20));
      await sweep(this.plane, {
        registry: { known: (ids) => Promise.resolve(new Set(ids)) },
        watch: { states: () => Promise.resolve(new Map()) },
      });
    }
  }
  async recover(): Promise<void> {
    let cursor: unknown;
    do {
      const { status, body } = await this.operator('POST', '/v1/recover', cursor === undefined ? {} : { cursor });
      cursor = body['cursor'];
      if (status !== 202 || (cursor === undefined) !== body['done']) throw new Error(JSON.stringify(body));
    } while (cursor !== undefined);
  }
}
