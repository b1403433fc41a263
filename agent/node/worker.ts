/** One thing at a time for the node: looks, decides, and lets the hand act; while nothing is under way, asks what is offered. */
import type { UpdateCheck } from '../../core/contract/agent-bodies.ts';
import type { Drainer } from '../drain/drainer.ts';
import { messageOf } from '../failure.ts';
import type { Checker } from '../health/checks.ts';
import type { Latch } from '../latch.ts';
import type { Log } from '../log.ts';
import type { SteadyClock } from '../steady-clock.ts';
import type { UpdateDriver } from '../updater/driver.ts';
import type { LockStore } from '../updater/version-lock.ts';
import { decide, mayAct } from './decide.ts';
import { Hand } from './hand.ts';
import { look } from './look.ts';
import type { Memory, MemoryStore, NodeRecord } from './memory.ts';
import type { Limits, Move } from './move.ts';
import { Offers } from './offers.ts';
import { RecordKeeper } from './record-keeper.ts';
import type { Wanted } from './wanted.ts';

export type WorkerOptions = {
  readonly driver: UpdateDriver;
  readonly drainer: Drainer;
  readonly checker: Checker;
  readonly store: MemoryStore;
  readonly locks: LockStore;
  readonly bootId: () => string;
  readonly liveVms: () => number;
  readonly limits: Limits;
  readonly pollEveryMs: number;
  readonly refreshEveryMs: number;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly log: Log;
  readonly ended: AbortSignal;
  /** Set by whoever has news for the worker. */
  readonly latch: Latch;
  /** A step began or ended, or the offer changed. `reportNow` asks for a report at once. */
  readonly changed: (reportNow: boolean) => void;
};

export class Worker {
  /** Resolves when the first report has something true to say. */
  readonly ready: Promise<void>;
  readonly #options: WorkerOptions;
  readonly #keeper: RecordKeeper;
  readonly #offers: Offers;
  readonly #hand: Hand;
  #desired: Wanted | null = null;
  #markReady = (): void => undefined;

  constructor(options: WorkerOptions) {
    const { driver, clock, log, latch, limits, pollEveryMs } = options;
    this.#options = options;
    const keeper = new RecordKeeper({ ...options, mark: () => clock.mark() });
    this.#keeper = keeper;
    this.#offers = new Offers({
      ...options,
      ...limits,
      keeper,
      now: () => clock.now(),
      pause: async () => void (await latch.wait(pollEveryMs)),
      interrupted: () => options.ended.aborted || this.#mayAct(),
    });
    this.#hand = new Hand({ ...options, driver, keeper, offers: this.#offers, now: () => clock.now(), log });
    this.ready = new Promise((resolve) => {
      this.#markReady = resolve;
    });
  }

  get memory(): Memory {
    return this.#keeper.memory;
  }

  get updateCheck(): UpdateCheck {
    return this.#offers.current;
  }

  /** What is wrong with the agent itself, for people. */
  troubles(): string[] {
    return [this.#keeper.trouble, this.#offers.trouble].filter((trouble) => trouble !== null);
  }

  /** Whether instances on this host are being ended for a reboot. */
  draining(): boolean {
    return this.memory.kind === 'kept' && reboots(this.memory.record);
  }

  /** Takes what the control plane wants. */
  want(desired: Wanted): void {
    this.#desired = desired;
    this.#offers.pin(desired.pin ?? null);
    this.#options.latch.set();
  }

  async run(): Promise<void> {
    const { ended, latch, log, pollEveryMs } = this.#options;
    while (!ended.aborted) {
      const pauseMs = await this.#turn().catch((error: unknown) => {
        log('error', 'worker turn failed', { why: messageOf(error) });
        this.#markReady();
        return pollEveryMs;
      });
      if (pauseMs > 0) await latch.wait(pauseMs);
    }
  }

  #mayAct(): boolean {
    return mayAct(this.memory, this.#desired, this.#options.clock.now());
  }

  async #turn(): Promise<number> {
    this.#keeper.catchUp();
    if (this.#mayAct()) return this.#step();
    const { clock, pollEveryMs, refreshEveryMs } = this.#options;
    if (this.#atRest() && clock.now() >= this.#offers.nextAt) await this.#refresh();
    this.#markReady();
    if (this.#mayAct()) return 0;
    // What could not be written is tried again at the pace of a poll that nobody waits for.
    if (this.#keeper.trouble !== null) return Math.max(pollEveryMs, CATCH_UP_EVERY_MS);
    return this.#atRest() ? Math.max(pollEveryMs, this.#offers.nextAt - clock.now()) : refreshEveryMs;
  }

  async #step(): Promise<number> {
    this.#markReady();
    const { clock, limits, pollEveryMs } = this.#options;
    const seen = await look({ ...this.#options, keeper: this.#keeper, now: () => clock.now() });
    const move = decide(this.memory, this.#desired, seen, limits);
    // An agent that has just begun asks before it goes on: meanwhile it may have been called off.
    if (this.#desired === null && disturbs(move, seen.liveVms)) return pollEveryMs;
    return this.#hand.carryOut(move);
  }

  /** Nothing is under way: what waits staged goes on asking, since what it has staged may be offered no more. */
  #atRest(): boolean {
    if (this.memory.kind !== 'kept') return true;
    const { state, step, error } = this.memory.record;
    return error === null && (state === 'Idle' || (state === 'StagedUpdate' && step === null));
  }

  async #refresh(): Promise<void> {
    const differs = await this.#offers.refresh();
    if (differs !== true) return;
    if (this.memory.kind === 'kept') this.#keeper.keep({ ...this.memory.record, updateCheck: this.updateCheck });
    this.#options.changed(true);
  }
}

const CATCH_UP_EVERY_MS = 5000;

/** Whether it takes a node out of service that is still in it; with VMs here, also that a reboot has begun. */
function disturbs(move: Move, liveVms: number): boolean {
  if (move.kind === 'drain') return move.act === 'drain';
  if (move.kind === 'note') return liveVms > 0 && move.record.step?.begun === true;
  return move.kind === 'act' && move.command === 'reboot' && move.record.step?.target === 'RebootedIntoUpdate';
}

/** Whether the instances of this host are to end for a reboot: what can block the reboot, the drain, comes first. */
function reboots({ step, drain, rollback, activated }: NodeRecord): boolean {
  const drained = drain === null || drain.plan.steps.length === 0 || drain.drainedAt !== null;
  if (step?.target === 'RebootedIntoUpdate') return drained && (step.beginBefore === null || step.begun);
  return step?.target === 'Idle' && rollback !== null && rollback.outcome === null && activated && drained;
}
