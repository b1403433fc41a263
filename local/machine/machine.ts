/** A machine: the test double of a Bottlerocket node, running the real agent as its child. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentService } from './agent-service.ts';
import { control } from './control.ts';
import { type Faults, LiveFaults } from './faults.ts';
import { type DiskFile, MachineFiles } from './files.ts';
import { NodeSettings } from './node-settings.ts';
import { killProcessesOf, MACHINE_VARIABLE } from './processes.ts';
import type { Reply } from './reply.ts';
import { serveUpdateApi } from './update-server.ts';
import { bootDisk, type Disk, type UpdateStatus } from './update-state.ts';
import { Updates } from './updates.ts';

export type MachineOptions = {
  /** The machine's own directory: its disk, its kernel files, its agent's state. Survives everything. */
  readonly dir: string;
  readonly nodeId: string;
  readonly endpoint: string;
  readonly region: string;
  readonly group?: string;
  /** The OS version when the directory is new. */
  readonly version: string;
  readonly faults?: Faults;
  readonly agentCommand: readonly string[];
  /** Environment of the agent: credentials, and settings that differ from the defaults. */
  readonly agentEnv?: Readonly<Record<string, string | undefined>>;
  readonly agentRestartSeconds?: number;
  /** File for the agent's log; null: this process's stderr. */
  readonly agentLog?: string | null;
  /** Where SSM's stand-in looks for managed instances. */
  readonly managedDir?: string;
  /** Settings of the node besides those of updates, such as `kubernetes`. */
  readonly settings?: Readonly<Record<string, unknown>>;
};

/** What GET /test/state shows. */
export type MachineState = {
  up: boolean;
  bootId: string;
  boots: number;
  version: string;
  agent: { pid: number | null; starts: number };
  disk: Disk;
  update: UpdateStatus | null;
  faults: Faults;
  /** Commands accepted since this process began, oldest first. */
  commands: string[];
};

export class Machine {
  readonly socket: string;
  readonly #options: MachineOptions;
  readonly #files: MachineFiles;
  readonly #agent: AgentService;
  readonly #faults: LiveFaults;
  readonly #updates: Updates;
  #boots: number;
  #bootId = '';
  #up = false;
  #server: Server | null = null;
  #rebooting: Promise<void> | null = null;
  #closed = false;
  #comeBack = (): void => undefined;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#files = new MachineFiles(resolve(options.dir));
    this.socket = this.#files.socket;
    this.#faults = new LiveFaults(options.faults ?? {});
    const { boots, ...disk } = this.#readDisk();
    this.#boots = boots;
    this.#updates = new Updates({ disk, faults: this.#faults, save: () => this.#writeDisk() });
    this.#agent = new AgentService({
      command: options.agentCommand,
      env: () => this.#agentEnv(),
      logFile: options.agentLog === undefined ? join(this.#files.dir, 'agent.log') : options.agentLog,
      restartAfterMs: (options.agentRestartSeconds ?? 1) * 1000,
    });
  }

  /** Boots. What a killed predecessor left running is ended first, as the lost power would have. */
  async start(): Promise<void> {
    await killProcessesOf(this.#files.dir);
    rmSync(this.socket, { force: true });
    const [faults, updates] = [this.#faults, this.#updates];
    this.#server = await serveUpdateApi(this.socket, {
      up: () => this.#up,
      locked: () => updates.running || faults.strikes('busy423'),
      status: () => updates.status,
      garbled: () => faults.strikes('garbleStatus'),
      odd: () => faults.strikes('oddStatus'),
      broken: () => faults.strikes('breakStatus'),
      settings: new NodeSettings({
        others: this.#options.settings ?? {},
        versionLock: () => updates.disk.versionLock,
        lockVersion: (version) => updates.lockVersion(version),
      }),
      begin: (command) => updates.begin(command),
      reboot: () => this.#askReboot(),
      version: () => updates.disk.active,
      control: (method, path, body) => control(this, method, path, body),
    });
    this.#boot();
  }

  state(): MachineState {
    return {
      up: this.#up,
      bootId: this.#bootId,
      boots: this.#boots,
      version: this.#updates.disk.active,
      agent: { pid: this.#agent.pid, starts: this.#agent.starts },
      disk: this.#updates.disk,
      update: this.#updates.status,
      faults: this.#faults.now,
      commands: [...this.#updates.accepted],
    };
  }

  /** Changes some faults and leaves the others. */
  setFaults(faults: Faults): void {
    this.#faults.change(faults);
  }

  /** kill -9 of the agent alone; it is started again by itself. */
  killAgent(): void {
    this.#agent.kill();
  }

  stopAgent(): Promise<void> {
    return this.#agent.stop('SIGTERM');
  }

  startAgent(): void {
    this.#agent.start();
  }

  /** Loses power and comes back. */
  reboot(): Promise<void> {
    this.#rebooting ??= this.#cycle().finally(() => {
      this.#rebooting = null;
    });
    return this.#rebooting;
  }

  /** Ends the time that a reboot takes. */
  comeBack(): void {
    this.#comeBack();
  }

  /** Goes down for good; the directory stays, and another machine may go on in it. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#comeBack();
    await this.#rebooting;
    await this.#agent.stop('SIGTERM');
    await this.#goDown();
    const server = this.#server;
    if (server === null) return;
    server.closeAllConnections();
    await new Promise<void>((done) => {
      server.close(() => done());
    });
    rmSync(this.socket, { force: true });
  }

  async #cycle(): Promise<void> {
    await this.#goDown();
    const down = new AbortController();
    this.#comeBack = () => down.abort();
    await sleep((this.#faults.now.rebootSeconds ?? 1) * 1000, undefined, { signal: down.signal }).catch(
      () => undefined,
    );
    this.#updates.comeUp();
    this.#boot();
  }

  async #goDown(): Promise<void> {
    this.#up = false;
    this.#register(false);
    this.#updates.goDown();
    this.#files.stopKernel();
    await this.#agent.stop('SIGKILL');
    await killProcessesOf(this.#files.dir);
  }

  #boot(): void {
    this.#boots += 1;
    this.#bootId = randomUUID();
    this.#writeDisk();
    this.#files.bootKernel(this.#bootId);
    this.#up = true;
    this.#register(true);
    this.#agent.start();
  }

  #askReboot(): Reply {
    if (this.#faults.strikes('refuseReboot'))
      return { status: 500, text: 'Failed to reboot: Operation inhibited by "test"' };
    this.#updates.accepted.push('reboot');
    // systemd takes the node down a moment after it has answered.
    if (this.#faults.strikes('ignoreReboot')) return { status: 204 };
    setTimeout(() => {
      if (!this.#closed) void this.reboot();
    }, SHUTDOWN_AFTER_MS);
    return { status: 204 };
  }

  #agentEnv(): Record<string, string | undefined> {
    const { endpoint, region, nodeId, group, agentEnv } = this.#options;
    return {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      ...agentEnv,
      [MACHINE_VARIABLE]: this.#files.dir,
      HOLDOFF_ENDPOINT: endpoint,
      HOLDOFF_REGION: region,
      HOLDOFF_NODE_ID: nodeId,
      ...(group === undefined ? {} : { HOLDOFF_GROUP: group }),
      ...this.#files.agentEnv(),
    };
  }

  #register(online: boolean): void {
    const { managedDir, nodeId } = this.#options;
    if (managedDir !== undefined) this.#files.register(managedDir, nodeId, online);
  }

  #readDisk(): DiskFile {
    const disk = this.#files.readDisk();
    if (disk === null)
      return {
        active: this.#options.version,
        inactive: null,
        nextBootInactive: false,
        versionLock: 'latest',
        boots: 0,
      };
    // The machine was killed: this start is a boot like any other.
    return { ...bootDisk(disk, false), boots: disk.boots };
  }

  #writeDisk(): void {
    this.#files.writeDisk({ ...this.#updates.disk, boots: this.#boots });
  }
}

const SHUTDOWN_AFTER_MS = 50;
