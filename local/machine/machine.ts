/** A machine: the test double of a Bottlerocket node, running the real agent as its child. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { AgentService } from './agent-service.ts';
import { type Faults, faultsSchema, offeredVersion, strike } from './faults.ts';
import { type DiskFile, MachineFiles } from './files.ts';
import { NodeSettings } from './node-settings.ts';
import { killProcessesOf, MACHINE_VARIABLE } from './processes.ts';
import type { Reply } from './reply.ts';
import { serveUpdateApi } from './update-server.ts';
import {
  afterBoot,
  bootDisk,
  type CommandName,
  type Disk,
  endCommand,
  refusalOf,
  type UpdateStatus,
} from './update-state.ts';

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
  readonly #commands: string[] = [];
  #faults: Faults;
  #disk: Disk;
  #boots: number;
  #bootId = '';
  #up = false;
  #status: UpdateStatus | null = null;
  #running: NodeJS.Timeout | null = null;
  #server: Server | null = null;
  #rebooting: Promise<void> | null = null;
  #closed = false;
  #comeBack = (): void => undefined;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#files = new MachineFiles(resolve(options.dir));
    this.socket = this.#files.socket;
    this.#faults = options.faults ?? {};
    const { boots, ...disk } = this.#readDisk();
    this.#disk = disk;
    this.#boots = boots;
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
    this.#server = await serveUpdateApi(this.socket, {
      up: () => this.#up,
      locked: () => this.#running !== null || this.#strikes('busy423'),
      status: () => this.#status,
      garbled: () => this.#strikes('garbleStatus'),
      odd: () => this.#strikes('oddStatus'),
      broken: () => this.#strikes('breakStatus'),
      settings: new NodeSettings({
        others: this.#options.settings ?? {},
        versionLock: () => this.#disk.versionLock,
        lockVersion: (versionLock) => {
          this.#disk = { ...this.#disk, versionLock };
          this.#writeDisk();
        },
      }),
      begin: (command) => this.#begin(command),
      reboot: () => this.#askReboot(),
      version: () => this.#disk.active,
      control: (method, path, body) => this.#control(method, path, body),
    });
    this.#boot();
  }

  state(): MachineState {
    return {
      up: this.#up,
      bootId: this.#bootId,
      boots: this.#boots,
      version: this.#disk.active,
      agent: { pid: this.#agent.pid, starts: this.#agent.starts },
      disk: this.#disk,
      update: this.#status,
      faults: this.#faults,
      commands: [...this.#commands],
    };
  }

  /** Changes some faults and leaves the others. */
  setFaults(faults: Faults): void {
    this.#faults = { ...this.#faults, ...faults };
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
    await sleep((this.#faults.rebootSeconds ?? 1) * 1000, undefined, { signal: down.signal }).catch(() => undefined);
    this.#disk = bootDisk(this.#disk, this.#disk.nextBootInactive && this.#strikes('bootsBack'));
    this.#boot();
  }

  async #goDown(): Promise<void> {
    this.#up = false;
    this.#register(false);
    if (this.#running !== null) clearTimeout(this.#running);
    this.#files.stopKernel();
    this.#running = null;
    await this.#agent.stop('SIGKILL');
    await killProcessesOf(this.#files.dir);
  }

  #boot(): void {
    this.#boots += 1;
    this.#bootId = randomUUID();
    this.#status = null;
    this.#writeDisk();
    this.#files.bootKernel(this.#bootId);
    this.#up = true;
    this.#register(true);
    this.#agent.start();
  }

  #begin(command: CommandName): Reply {
    const refusal = refusalOf(command, this.#status ?? afterBoot(this.#disk));
    if (refusal !== null) return refusal;
    this.#commands.push(command);
    if (this.#strikes('noProgress')) return { status: 204 };
    this.#running = setTimeout(
      () => {
        this.#running = null;
        const fails = this.#strikes(FAILURE_OF[command]);
        const written = command === 'prepare' && !fails ? (this.#faults.writesVersion ?? null) : null;
        // The repository has moved on: what prepare finds there is what is offered from then on.
        if (written !== null) this.setFaults({ offeredVersion: written });
        const offered = offeredVersion(this.#faults, this.#disk);
        const ended = endCommand(command, this.#status ?? afterBoot(this.#disk), this.#disk, {
          offered,
          fails,
          written,
          timestamp: nanoTime(),
        });
        this.#status = ended.status;
        this.#disk = ended.disk;
        this.#writeDisk();
      },
      (this.#faults.commandSeconds ?? 0.2) * 1000,
    );
    return { status: 204 };
  }

  #askReboot(): Reply {
    if (this.#strikes('refuseReboot')) return { status: 500, text: 'Failed to reboot: Operation inhibited by "test"' };
    this.#commands.push('reboot');
    // systemd takes the node down a moment after it has answered.
    if (this.#strikes('ignoreReboot')) return { status: 204 };
    setTimeout(() => {
      if (!this.#closed) void this.reboot();
    }, SHUTDOWN_AFTER_MS);
    return { status: 204 };
  }

  async #control(method: string, path: string, body: unknown): Promise<Reply> {
    switch (`${method} ${path}`) {
      case 'GET /state':
        return { status: 200, json: this.state() };
      case 'POST /faults': {
        const faults = faultsSchema.safeParse(body);
        if (!faults.success) return { status: 400, text: z.prettifyError(faults.error) };
        this.setFaults(faults.data);
        return { status: 200, json: this.#faults };
      }
      case 'POST /power-cycle':
        void this.reboot();
        return { status: 202 };
      case 'POST /agent/kill':
        this.killAgent();
        return { status: 202 };
      case 'POST /agent/stop':
        await this.stopAgent();
        return { status: 204 };
      case 'POST /agent/start':
        this.startAgent();
        return { status: 204 };
      default:
        return { status: 404, text: 'no such control' };
    }
  }

  #strikes(name: Parameters<typeof strike>[1]): boolean {
    const { strikes, left } = strike(this.#faults, name);
    this.#faults = left;
    return strikes;
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
    this.#files.writeDisk({ ...this.#disk, boots: this.#boots });
  }
}

const FAILURE_OF = {
  refresh: 'failRefresh',
  prepare: 'failPrepare',
  activate: 'failActivate',
  deactivate: 'failDeactivate',
} as const;
const SHUTDOWN_AFTER_MS = 50;

let nanos = 0;
/** Nanoseconds, as the node writes them: never twice the same. */
function nanoTime(): string {
  nanos = (nanos + 1) % 1_000_000;
  return `${new Date().toISOString().slice(0, -1)}${String(nanos).padStart(6, '0')}Z`;
}
