/** A whole site for a test: the real control plane as a process, and machines in this one that run the real agent. */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventEntry, NodeJson } from '../../core/contract/answers.ts';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import { openCredentials } from '../../local/aws/credentials.ts';
import type { Faults } from '../../local/machine/faults.ts';
import { Machine, type MachineOptions } from '../../local/machine/machine.ts';
import { call, items } from '../../local/demo/client.ts';
import { Laptop, until } from '../system/laptop.ts';
import type { Keys } from './kubernetes-double.ts';
import { bundleAgent } from './scene.ts';

export const OLD = '1.20.5';
export const NEW = '1.21.0';
/** After a crash nothing is tried again while a test looks. */
export const ONE_TRY = { unit: '1h', from: 'lastCrash', cap: '24h', resetAfter: 'none' } as const;

const FAST: Readonly<Record<string, string>> = {
  HOLDOFF_POLL_EVERY: '0.1s',
  HOLDOFF_REFRESH_EVERY: '1s',
  HOLDOFF_NO_PROGRESS_AFTER: '1s',
  HOLDOFF_SLOW_RETRY: '0.5s',
  HOLDOFF_DRAIN_EVERY: '0.2s',
  HOLDOFF_CHECK_EVERY: '0.3s',
};

export class Site {
  readonly laptop = new Laptop();
  readonly #nodes: SiteNode[] = [];
  readonly #agent = bundleAgent();

  /** One wake in three is lost all along: no scenario may need it. */
  start(): Promise<void> {
    return this.laptop.start({
      HOLDOFF_IDLE_REPORT_SECONDS: '1',
      HOLDOFF_ACTIVE_REPORT_SECONDS: '0.3',
      HOLDOFF_SWEEP_SECONDS: '3',
      HOLDOFF_LOSE_WAKES: '3',
    });
  }

  /** A group of its own for each test, so that tests share nothing. */
  async group(body: GroupBody = {}): Promise<string> {
    const group = `g-${randomBytes(4).toString('hex')}`;
    await this.laptop.group(group, { backoff: ONE_TRY, ...body, monitor: { soak: '0.2s', ...body.monitor } });
    return group;
  }

  async node(group: string, faults: Faults = {}, options: Partial<MachineOptions> = {}): Promise<SiteNode> {
    const { dataDir, connection } = this.laptop;
    const nodeId = `i-${randomBytes(9).toString('hex').slice(0, 17)}`;
    const dir = join(dataDir, 'machines', nodeId);
    const { accessKeyId, secretAccessKey, sessionToken } = openCredentials({
      file: join(dataDir, 'credentials.json'),
    }).node(nodeId);
    const key: Keys = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
    const hooks = writeHooks(dir);
    const machine = new Machine({
      dir,
      managedDir: join(dataDir, 'managed'),
      nodeId,
      endpoint: connection.endpoint,
      region: connection.region,
      group,
      version: OLD,
      agentCommand: [process.execPath, this.#agent.bundle],
      agentRestartSeconds: 0.2,
      ...options,
      faults: { commandSeconds: 0.1, rebootSeconds: 0.3, offeredVersion: NEW, ...faults },
      agentEnv: {
        ...FAST,
        AWS_ACCESS_KEY_ID: key.accessKeyId,
        AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
        ...(key.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: key.sessionToken }),
        HOLDOFF_HOOKS: hooks,
        ...options.agentEnv,
      },
    });
    const node = new SiteNode(nodeId, machine, this.laptop, dir, key);
    this.#nodes.push(node);
    await machine.start();
    return node;
  }

  /** A node that reports, and is held before anything begins. */
  async heldNode(group: string, faults: Faults = {}, options: Partial<MachineOptions> = {}): Promise<SiteNode> {
    await this.laptop.ok('POST', `/v1/groups/${group}/pause`, {});
    const node = await this.node(group, faults, options);
    await node.becomes('offered', ({ status }) => status?.updateCheck.result === 'Available');
    await node.verb('hold');
    await this.laptop.ok('POST', `/v1/groups/${group}/resume`, {});
    return node;
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map(({ machine }) => machine.close()));
    await this.laptop.stop();
    this.#agent.remove();
  }
}

/** Hooks of a machine: `drain` and `undrain` write a line each; `drain` fails while the file `busy` is there. */
function writeHooks(dir: string): string {
  mkdirSync(dir, { recursive: true });
  const script = (name: string, text: string): string => {
    const file = join(dir, name);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const hooks = {
    drain: [
      script(
        'drain.sh',
        `cd "${dir}"; echo drain >> hooks.log; if [ -e busy ]; then echo "job 7 still runs"; exit 1; fi`,
      ),
    ],
    undrain: [script('undrain.sh', `cd "${dir}"; echo undrain >> hooks.log`)],
    healthy: [script('healthy.sh', `cd "${dir}"; if [ -e sick ]; then echo "replica lag 900 s"; exit 1; fi`)],
  };
  const file = join(dir, 'hooks.json');
  writeFileSync(file, JSON.stringify(hooks));
  return file;
}

export class SiteNode {
  readonly nodeId: string;
  readonly machine: Machine;
  readonly #laptop: Laptop;
  readonly #dir: string;
  /** Of the role session that the node signs with. */
  readonly keys: Keys;

  constructor(nodeId: string, machine: Machine, laptop: Laptop, dir: string, keys: Keys) {
    this.nodeId = nodeId;
    this.machine = machine;
    this.#laptop = laptop;
    this.#dir = dir;
    this.keys = keys;
  }

  async json(): Promise<NodeJson> {
    // The control plane answers as the contract says.
    return (await this.#laptop.ok('GET', `/v1/nodes/${this.nodeId}`)) as NodeJson;
  }

  /** Waits until the control plane shows this. */
  becomes(what: string, holds: (node: NodeJson) => boolean): Promise<NodeJson> {
    return until(
      `${this.nodeId} ${what}`,
      async () => {
        const answer = await call(this.#laptop.connection, 'GET', `/v1/nodes/${this.nodeId}`);
        if (answer.status !== 200) return null;
        const node = answer.body as NodeJson;
        if (holds(node)) return node;
        throw new Error(`${node.explanation} ${JSON.stringify(node.spec)} ${JSON.stringify(node.status)}`);
      },
      150_000,
    );
  }

  /** Idle again after so many crashes. */
  crashed(count: number): Promise<NodeJson> {
    return this.becomes(
      `has crashed ${count} times and is Idle`,
      ({ crash, spec, status, phase }) =>
        crash.count === count && spec.state === 'Idle' && status?.state === 'Idle' && phase !== 'Recovering',
    );
  }

  updated(version = NEW): Promise<NodeJson> {
    return this.becomes(
      `runs ${version} and is Idle`,
      ({ spec, status, phase }) =>
        spec.state === 'Idle' && status?.state === 'Idle' && status.currentVersion === version && phase === 'Idle',
    );
  }

  verb(name: 'hold' | 'release' | 'retry'): Promise<unknown> {
    return this.#laptop.ok('POST', `/v1/nodes/${this.nodeId}/${name}`, {});
  }

  /** Types of the events, oldest first. */
  async events(): Promise<string[]> {
    const log = await items<EventEntry>(this.#laptop.connection, `/v1/nodes/${this.nodeId}/events`);
    return log.map(({ type, message }) => `${type}: ${message}`);
  }

  /** Accepted commands, refreshes left out. */
  acts(): string[] {
    return this.machine.state().commands.filter((command) => command !== 'refresh');
  }

  /** What the hooks wrote. */
  hooks(): string[] {
    const file = this.file('hooks.log');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  file(name: string): string {
    return join(this.#dir, name);
  }

  /** Somebody else's call of the node's own API, as an operator's apiclient makes it. */
  api(method: string, path: string, body?: unknown): Promise<number> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ socketPath: this.machine.socket, method, path }, (incoming) => {
        incoming.resume();
        incoming.on('end', () => resolve(incoming.statusCode ?? 0));
      });
      outgoing.on('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** What becomes of wakes until the machine boots again: SSM does not know the node, or the script on it fails. */
  wakes(how: 'unregistered' | 'fail'): void {
    const managed = join(this.#laptop.dataDir, 'managed', `${this.nodeId}.json`);
    if (how === 'unregistered') rmSync(managed);
    else writeFileSync(managed, JSON.stringify({ env: { HOLDOFF_AGENT_DIR: this.file('nowhere') }, online: true }));
  }

  /** The owner's version-lock. */
  async locks(version: string): Promise<void> {
    const body = { updates: { 'version-lock': version } };
    await eventually('the lock is staged', async () => (await this.api('PATCH', '/settings?tx=owner', body)) === 204);
    await eventually('and applied', async () => (await this.api('POST', '/tx/commit_and_apply?tx=owner')) === 200);
  }

  /** A command of somebody else, run to its end; 423 is waited out. */
  async runs(command: 'refresh-updates' | 'prepare-update' | 'activate-update'): Promise<void> {
    const type = command.split('-')[0];
    await eventually(`${command} accepted`, async () => (await this.api('POST', `/actions/${command}`)) === 204);
    await eventually(`${command} done`, () => {
      const last = this.machine.state().update?.most_recent_command;
      return Promise.resolve(last?.cmd_type === type && last?.cmd_status === 'Success');
    });
  }
}

/** Waits until something holds, within a generous bound. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 150_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`never came: ${what}`);
    await sleep(25);
  }
}
