/**
 * A node in memory for the real worker: its update API, its drain, its checks, its disk. Every call and every save is a
 * boundary at which the agent, or the whole machine, can be made to die: before the effect or after it.
 */
import { AgentError } from '../../agent/failure.ts';
import { Latch } from '../../agent/latch.ts';
import type { DrainAct, DrainOutcome } from '../../agent/node/drain-record.ts';
import { type Memory, parseMemory } from '../../agent/node/memory.ts';
import type { Limits } from '../../agent/node/move.ts';
import { standingOf } from '../../agent/node/reporter.ts';
import type { UpdateDriver } from '../../agent/updater/driver.ts';
import { parseUpdateStatus } from '../../agent/updater/update-status.ts';
import type { HeldLock } from '../../agent/updater/version-lock.ts';
import type { Wanted } from '../../agent/node/wanted.ts';
import { Worker } from '../../agent/node/worker.ts';
import {
  afterBoot,
  bootDisk,
  type Disk,
  endCommand,
  refusalOf,
  type UpdateStatus,
} from '../../local/machine/update-state.ts';
import { NodeModel } from './node-model.ts';

export type Death = { at: number; kind: 'kill before' | 'kill after' | 'power before' | 'power after' };
export type Story = {
  drain?: Wanted['drain'];
  monitor?: Wanted['monitor'];
  /** The drain never ends. */
  blocked?: boolean;
  /** The new version fails its checks. */
  sick?: boolean;
  /** Somebody else cordoned the node before. */
  adminCordon?: boolean;
};

const LIMITS: Limits = {
  deadlinesMs: {
    Idle: Number.POSITIVE_INFINITY,
    StagedUpdate: 600_000,
    PerformedUpdate: 240_000,
    RebootedIntoUpdate: 840_000,
    // Each round of checks is a boundary: ten of them show as much as two hundred.
    MonitoringUpdate: 10_000,
  },
  noProgressAfterMs: 5000,
  rebootAgainAfterMs: 15_000,
  retryAfterMs: 1000,
  drainEveryMs: 1000,
  checkEveryMs: 1000,
  rollbackMs: 1_000_000,
  settingsWithinMs: 5000,
  settingsEveryMs: 500,
};
const TURNS_MAX = 4000;

export class CrashModel {
  readonly plane = new NodeModel();
  readonly story: Story;
  readonly #death: Death | null;
  disk: Disk = { active: '1.0.0', inactive: null, nextBootInactive: false, versionLock: 'latest' };
  cordonedBy: 'us' | 'admin' | null;
  reboots = 0;
  deaths = 0;
  boundaries = 0;
  /** Names of the boundaries passed, for a failure's message. */
  readonly trail: string[] = [];
  /** The file of whose the version-lock is. */
  held: HeldLock | null = null;
  #status: UpdateStatus | null = null;
  #file: string | null = null;
  #known = false;
  #boot = 1;
  #now = 1_000_000;
  #uptime = 0;
  #turns = 0;
  #soakUntil = 0;

  constructor(story: Story, death: Death | null) {
    this.story = story;
    this.#death = death;
    this.cordonedBy = story.adminCordon === true ? 'admin' : null;
  }

  /** Runs agent after agent until the attempt is over and Idle is reached. */
  async run(): Promise<void> {
    while (!(await this.#live())) {
      this.deaths += 1;
      if (this.deaths > 20) throw new Error(`dies again and again: ${this.trail.slice(-30).join(' > ')}`);
    }
  }

  /** One agent's life; true when the story is over. */
  #live(): Promise<boolean> {
    const ended = new AbortController();
    return new Promise((resolve, reject) => {
      const die = (over: boolean): void => {
        ended.abort();
        resolve(over);
      };
      const life = new Life(this, die);
      const worker: Worker = new Worker({
        driver: life.api,
        drainer: (act, _step, mine) => life.boundary(`drain ${act}`, () => this.#drain(act, mine)),
        checker: (checks) =>
          life.boundary('check', () =>
            checks.map(({ name }) => ({
              name,
              failure: this.story.sick === true && this.disk.active !== '1.0.0' ? 'down' : null,
            })),
          ),
        store: { load: () => this.#load(), save: (record) => life.save(JSON.stringify(record)) },
        locks: {
          load: () => this.held,
          save: (held) => life.holdLock(held),
          forget: () => life.holdLock(null),
        },
        bootId: () => `boot-${this.#boot}`,
        liveVms: () => 0,
        limits: LIMITS,
        pollEveryMs: 0,
        refreshEveryMs: 1_000_000_000,
        clock: { now: () => this.#now, mark: () => ({ bootId: `boot-${this.#boot}`, uptime: 0, at: this.#now }) },
        random: () => 0.5,
        log: () => undefined,
        ended: ended.signal,
        latch: new Latch(),
        // As the reporter does: news is reported at once.
        changed: () => queueMicrotask(() => ended.signal.aborted || this.#report(worker)),
      });
      const tick = (): void => {
        if (ended.signal.aborted) return;
        this.#turn(worker, die, reject);
        setTimeout(tick, 1);
      };
      tick();
      worker.run().catch(reject);
    });
  }

  #load(): Memory {
    return parseMemory(this.#file, this.#known);
  }

  keep(text: string): void {
    this.#known = true;
    this.#file = text;
  }

  /** Time passes, and the node reports. */
  #turn(worker: Worker, die: (over: boolean) => void, reject: (error: Error) => void): void {
    this.#now += 500;
    this.#turns += 1;
    if (this.#turns > TURNS_MAX) {
      reject(
        new Error(
          `never over: ${this.plane.spec.state}, ${JSON.stringify(this.#file)}, ${this.trail.slice(-12).join(' > ')}`,
        ),
      );
      return;
    }
    this.#report(worker);
    const memory = worker.memory;
    const settled =
      memory.kind === 'kept' &&
      memory.record.state === 'Idle' &&
      memory.record.step === null &&
      memory.record.error === null;
    const { generation, state } = this.plane.spec;
    if (settled && state === 'Idle' && generation > 1 && memory.record.generation === generation) die(true);
  }

  #report(worker: Worker): void {
    this.#uptime += 1;
    const standing = standingOf(worker.memory);
    const { plane } = this;
    // The soak time: MonitoringUpdate is left some seconds after it was reached.
    if (standing.state === 'MonitoringUpdate' && plane.spec.state === 'MonitoringUpdate') {
      this.#soakUntil ||= this.#now + 5000;
      if (this.#now < this.#soakUntil) return worker.want(this.#wanted());
    }
    plane.take({
      ...standing,
      bootId: `boot-${this.#boot}`,
      currentVersion: this.disk.active,
      updateCheck: worker.updateCheck,
      uptime: this.#uptime,
    });
    if (plane.spec.state === 'Idle' && plane.spec.generation > 1) plane.updates = false;
    worker.want(this.#wanted());
  }

  #wanted(): Wanted {
    const { drain = null, monitor = null } = this.story;
    return { ...this.plane.spec, drain, monitor };
  }

  status(): UpdateStatus | null {
    return this.#status;
  }

  command(name: 'refresh' | 'prepare' | 'activate' | 'deactivate'): ReturnType<typeof refusalOf> {
    const before = this.#status ?? afterBoot(this.disk);
    const refusal = refusalOf(name, before);
    if (refusal !== null) return refusal;
    const offered = this.disk.versionLock === 'latest' ? '2.0.0' : this.disk.versionLock;
    const timestamp = `t${(this.#now += 1)}`;
    const ended = endCommand(name, before, this.disk, { offered, fails: false, written: null, timestamp });
    this.#status = ended.status;
    this.disk = ended.disk;
    return null;
  }

  lock(version: string): void {
    this.disk = { ...this.disk, versionLock: version };
  }

  /** What was in memory is gone, and the set that is marked boots. */
  powerCycle(): void {
    this.#boot += 1;
    this.#uptime = 0;
    this.#status = null;
    this.disk = bootDisk(this.disk, false);
  }

  /** The kinds of cordon that a real adapter tells apart by its mark. */
  #drain(act: DrainAct, mine: readonly string[] | null): DrainOutcome {
    switch (act) {
      case 'survey':
        return { kind: 'surveyed', mine: this.cordonedBy === 'admin' ? [] : ['cordon'] };
      case 'drain':
        if (mine?.includes('cordon') === true) this.cordonedBy ??= 'us';
        return this.story.blocked === true ? { kind: 'waiting', left: ['p'], blockedBy: ['p'] } : { kind: 'done' };
      case 'undo':
        if (this.cordonedBy === 'us') this.cordonedBy = null;
        return { kind: 'done' };
    }
  }

  /** How this boundary ends the agent; null when it does not. */
  deathHere(name: string): Death['kind'] | null {
    this.boundaries += 1;
    this.trail.push(name);
    return this.#death?.at === this.boundaries ? this.#death.kind : null;
  }
}

/** The world as one agent process sees it: once dead, nothing it asks for is ever answered. */
class Life {
  readonly #model: CrashModel;
  readonly #die: (over: boolean) => void;
  #dead = false;

  constructor(model: CrashModel, die: (over: boolean) => void) {
    this.#model = model;
    this.#die = die;
  }

  #end(kind: Death['kind'] | 'reboot'): void {
    this.#dead = true;
    if (kind.startsWith('power') || kind === 'reboot') this.#model.powerCycle();
    this.#die(false);
  }

  async boundary<T>(name: string, effect: () => T): Promise<T> {
    if (this.#dead) return new Promise(() => undefined);
    const kind = this.#model.deathHere(name);
    if (kind?.endsWith('before') === true) {
      this.#end(kind);
      return new Promise(() => undefined);
    }
    const result = effect();
    if (kind !== null) this.#end(kind);
    return kind === null && !this.#dead ? result : new Promise(() => undefined);
  }

  save(text: string): void {
    if (this.#dead) throw new AgentError('Host', 'dead');
    const kind = this.#model.deathHere('save');
    if (kind?.endsWith('before') !== true) this.#model.keep(text);
    if (kind === null) return;
    this.#end(kind);
    throw new AgentError('Host', 'dead');
  }

  holdLock(held: HeldLock | null): void {
    if (this.#dead) throw new AgentError('Host', 'dead');
    const kind = this.#model.deathHere('lock file');
    if (kind?.endsWith('before') !== true) this.#model.held = held;
    if (kind === null) return;
    this.#end(kind);
    throw new AgentError('Host', 'dead');
  }

  readonly api: UpdateDriver = {
    look: async () => {
      if (this.#dead) return new Promise(() => undefined);
      // A macrotask, so that lives do not starve each other.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#dead) return new Promise(() => undefined);
      const status = this.#model.status();
      return status === null ? { kind: 'none' } : parseUpdateStatus(JSON.stringify(status));
    },
    command: (name) =>
      this.boundary(`command ${name}`, () => {
        if (name === 'reboot') {
          this.#model.reboots += 1;
          this.#end('reboot');
          return { kind: 'accepted' };
        }
        const refusal = this.#model.command(name);
        return refusal === null
          ? { kind: 'accepted' }
          : { kind: 'refused', status: refusal.status, message: refusal.text };
      }),
    version: () => (this.#dead ? new Promise(() => undefined) : Promise.resolve({ version: this.#model.disk.active })),
    settings: () => Promise.reject(new AgentError('Host', 'not asked here')),
    versionLock: () => Promise.resolve(this.#model.disk.versionLock),
    lockVersion: (version) => this.boundary(`lock ${version}`, () => (this.#model.lock(version), null)),
  };
}
