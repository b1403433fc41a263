/** A whole laptop for tests: the control plane as a process that can be killed, and machines with the real agent. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { NodeJson, VmJson } from '../../core/contract/answers.ts';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import { instant } from '../../core/kit/time.ts';
import { DynamoStore } from '../../functions/aws/dynamodb-store.ts';
import type { Store } from '../../functions/ports.ts';
import { startDynamoDb } from '../../local/aws/dynamodb.ts';
import { call, type Connection, items } from '../../local/demo/client.ts';
import { type DemoNode, DEMO_ENVIRONMENT } from '../../local/demo/fleet.ts';
import { startMachine } from '../../local/demo/machines.ts';
import { type Supervised, supervise } from '../../local/demo/processes.ts';
import { LOCAL_TABLE, tableInput } from '../../local/table-input.ts';

/** Generous: the machine may be slow, the condition must come. */
const PATIENCE_MS = 150_000;

/** Waits for a condition; the last thing seen is in the error. */
export async function until<T>(what: string, look: () => Promise<T | null>, patienceMs = PATIENCE_MS): Promise<T> {
  const end = Date.now() + patienceMs;
  let last: unknown = 'nothing';
  while (Date.now() < end) {
    try {
      const found = await look();
      if (found !== null) return found;
      last = 'not yet';
    } catch (error) {
      // The control plane may be down: that is the point of some tests.
      last = error;
    }
    await wait(250);
  }
  throw new Error(`waited in vain for: ${what}; last: ${String(last)}`);
}

export class Laptop {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'holdoff-'));
  readonly notices: string[] = [];
  readonly #running: Supervised[] = [];
  #controlPlane: Supervised | null = null;
  #connection: Connection | null = null;
  #env: Readonly<Record<string, string>> = {};
  readonly #port = String(20_000 + Math.floor(Math.random() * 20_000));

  get connection(): Connection {
    if (this.#connection === null) throw new Error('not started');
    return this.#connection;
  }

  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const logs = join(this.dataDir, 'logs');
    mkdirSync(logs, { recursive: true });
    this.#env = env;
    this.#controlPlane = this.#startPlane();
    this.#connection = await until('the control plane answers', async () => {
      const file = join(this.dataDir, 'local.json');
      if (!existsSync(file)) return null;
      // The control plane that was just started wrote it.
      const connection = JSON.parse(readFileSync(file, 'utf8')) as Connection;
      return (await call(connection, 'GET', '/v1/groups')).status === 200 ? connection : null;
    });
  }

  #startPlane(): Supervised {
    return supervise(
      'control plane',
      'local/control-plane-process.ts',
      [],
      { HOLDOFF_DATA: this.dataDir, HOLDOFF_PORT: this.#port, ...DEMO_ENVIRONMENT, ...this.#env },
      join(this.dataDir, 'logs', 'control-plane.log'),
      (text) => this.notices.push(text),
    );
  }

  /** Does something with the table while the control plane is down: as if time had gone by, for instance. */
  async whileDown(act: (store: Store) => Promise<void>): Promise<void> {
    const { region } = this.connection;
    await this.#controlPlane?.stop();
    const database = await startDynamoDb({ path: join(this.dataDir, 'dynamodb'), region, table: tableInput() });
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const client = new DynamoDBClient({ endpoint: database.url, region, credentials });
    try {
      await act(new DynamoStore(client, LOCAL_TABLE, () => instant(Date.now())));
    } finally {
      client.destroy();
      await database.close();
      this.#controlPlane = this.#startPlane();
    }
  }

  /** kill -9: the supervisor starts it again. */
  kill(): void {
    const pid = this.#controlPlane?.pid();
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  }

  machine(node: DemoNode, agentEnv: Readonly<Record<string, string>> = {}): Supervised {
    const { endpoint, region } = this.connection;
    const place = { dataDir: this.dataDir, endpoint, region, agentEnv };
    const machine = startMachine(node, place, (text) => this.notices.push(text));
    this.#running.push(machine);
    return machine;
  }

  /** The pid of a node's agent, as its lock names it. */
  agentPid(nodeId: string): number {
    return Number(readFileSync(join(this.dataDir, 'machines', nodeId, 'state/agent.lock'), 'utf8').split(' ')[0]);
  }

  async group(group: string, body: GroupBody): Promise<void> {
    await this.ok('PUT', `/v1/groups/${group}`, body);
  }

  async vm(vmId: string, body: VmBody): Promise<void> {
    await this.ok('PUT', `/v1/vms/${vmId}`, body);
  }

  async ok(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await call(this.connection, method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  nodes(): Promise<NodeJson[]> {
    return items<NodeJson>(this.connection, '/v1/nodes?limit=200');
  }

  vms(): Promise<VmJson[]> {
    return items<VmJson>(this.connection, '/v1/vms?limit=200');
  }

  /** What the agent of a node wrote into its log. */
  agentLog(nodeId: string): Record<string, unknown>[] {
    const text = readFileSync(join(this.dataDir, 'machines', nodeId, 'agent.log'), 'utf8');
    return text.split('\n').flatMap((line) => {
      try {
        // One JSON object a line.
        return line === '' ? [] : [JSON.parse(line) as Record<string, unknown>];
      } catch {
        // The last line may be half written.
        return [];
      }
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((machine) => machine.stop()));
    await this.#controlPlane?.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
