/** Makes this host run what the control plane lists for it, and says what became of it (DESIGN section 3). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DesiredVm, HostVm } from '../../core/contract/agent-answers.ts';
import type { EndCause } from '../../core/contract/words.ts';
import type { ControlPlane } from '../api/client.ts';
import { retryWaitMs } from '../backoff.ts';
import { AgentError, messageOf, RefusedError } from '../failure.ts';
import { Latch } from '../latch.ts';
import type { Log } from '../log.ts';
import type { Environment } from '../settings.ts';
import { Delivery } from './delivery.ts';
import { Guests } from './guests.ts';
import {
  accepted,
  endedUnlaunched,
  type Instance,
  type InstanceKey,
  isLive,
  keyOf,
  neverLaunched,
  nextDue,
  stopping,
} from './instance.ts';
import { type LaunchRules, refusalOf } from './launch.ts';
import { type Order, plan } from './plan.ts';
import { Registry } from './registry.ts';
import type { InstanceStore } from './store.ts';

export type VmDriverOptions = {
  readonly plane: ControlPlane;
  readonly store: InstanceStore;
  readonly rules: LaunchRules;
  readonly settleMs: number;
  readonly slowRetryMs: number;
  readonly env: Environment;
  readonly bootId: () => string;
  /** Whether everything here is to end, because the host is about to reboot. */
  readonly draining: () => boolean;
  /** Called when an instance has begun or ended. */
  readonly changed: () => void;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
  readonly ended: AbortSignal;
};

/** Between two lists: what a stale list makes this host report must not ask for the next one in a circle. */
const LIST_PAUSE_MS = 250;
/** After something could not be done. */
const CLOCK_PAUSE_MS = 1000;
/** Between looks at the size of the guests' output files. */
const OUTPUT_CHECK_MS = 60_000;

export class VmDriver {
  readonly #options: VmDriverOptions;
  readonly #registry: Registry;
  readonly #guests: Guests;
  readonly #delivery: Delivery;
  readonly #clock = new Latch();
  readonly #asked = new Latch();
  readonly #taking = new Set<InstanceKey>();
  #outputCheckAt = 0;

  constructor(options: VmDriverOptions) {
    this.#options = options;
    this.#registry = new Registry(options.store);
    const { registry, changed } = { registry: this.#registry, changed: (key: InstanceKey) => this.#changed(key) };
    this.#guests = new Guests({ ...options, registry, changed, watching: () => this.#clock.set() });
    const obey = (instance: Instance, desired: DesiredVm): void => this.#obey(instance, desired);
    this.#delivery = new Delivery({ ...options, registry, obey, endTold: () => this.sync() });
  }

  /** Finds again what an earlier agent had begun. */
  start(): void {
    const { log, now } = this.#options;
    for (const key of this.#registry.load(now())) log('error', 'instance record unreadable', { instance: key });
    this.#guests.adoptStrays();
    for (const instance of this.#registry.all().values()) {
      const key = keyOf(instance);
      if (!isLive(instance)) void this.#delivery.push(key);
      else if (instance.launchingAt === null) this.#registry.drop(key);
      else this.#resume(instance);
    }
  }

  #resume(instance: Instance): void {
    this.#guests.adopt(instance);
    const present = this.#registry.get(keyOf(instance));
    if (present === undefined || !isLive(present)) return;
    if (present.stop !== null) this.#endGuest(present);
    this.#changed(keyOf(instance));
  }

  #endGuest(instance: Instance): void {
    if (instance.stop?.forced === true) this.#guests.kill(instance);
    else this.#guests.askToEnd(instance);
  }

  liveCount(): number {
    return this.#registry.live().length;
  }

  /** Asks for the list of what should run here. */
  sync(): void {
    this.#asked.set();
  }

  /** The node has reported: the living are reported with it, and the list is asked for. */
  afterNodeReport(): void {
    this.#delivery.repeatLive();
    this.sync();
  }

  /** Looks at the clock again: something outside, such as a drain, has changed. */
  nudge(): void {
    this.#clock.set();
  }

  async run(): Promise<void> {
    await Promise.all([this.#runClock(), this.#runList()]);
    this.#guests.close();
  }

  async #runList(): Promise<void> {
    const { plane, log, ended, random } = this.#options;
    let failures = 0;
    let waitMs = Number.MAX_SAFE_INTEGER;
    while (!ended.aborted) {
      if (!(await this.#asked.wait(waitMs)) && failures === 0) continue;
      if (ended.aborted) return;
      waitMs = Number.MAX_SAFE_INTEGER;
      try {
        this.#follow(await plane.hostVms());
        failures = 0;
        await sleep(LIST_PAUSE_MS, undefined, { ref: false });
      } catch (error) {
        failures += 1;
        // A lasting refusal is asked about again with the next report.
        if (!(error instanceof RefusedError && error.lasting)) waitMs = retryWaitMs(failures, random());
        if (!this.#options.ended.aborted) log('warn', 'vm list failed', { why: messageOf(error) });
      }
    }
  }

  async #runClock(): Promise<void> {
    const { ended } = this.#options;
    while (!ended.aborted) {
      await this.#clock.wait(this.#untilNextMs());
      // What is due stays due: on a full disk it must not be tried as fast as the processor can.
      if (!this.#passTime()) await sleep(CLOCK_PAUSE_MS, undefined, { ref: false });
    }
  }

  /** One instance whose record cannot be written, say, does not keep the others from their turn. */
  #guard(key: InstanceKey | null, act: () => void, nextTryMs = CLOCK_PAUSE_MS): boolean {
    try {
      act();
      return true;
    } catch (error) {
      this.#options.log('error', 'vm clock failed', { instance: key, why: messageOf(error), nextTryMs });
      return false;
    }
  }

  #untilNextMs(): number {
    const { settleMs, now } = this.#options;
    const dues = this.#registry.live().flatMap((instance) => nextDue(instance, settleMs)?.at ?? []);
    const watch = this.#guests.watchEveryMs;
    const waits = [OUTPUT_CHECK_MS, ...dues.map((at) => at - now()), ...(watch === null ? [] : [watch])];
    return Math.max(0, Math.min(...waits));
  }

  /** False when something could not be done. */
  #passTime(): boolean {
    const { settleMs, now, draining } = this.#options;
    let whole = this.#guard(null, () => this.#guests.watch());
    for (const instance of this.#registry.live()) {
      const key = keyOf(instance);
      const done = this.#guard(key, () => {
        if (draining()) this.#stop(key, 'HostMaintenance', null);
        const next = nextDue(instance, settleMs);
        if (next !== null && next.at <= now()) this.#fallDue(key, next.due.kind);
      });
      whole &&= done;
    }
    if (now() < this.#outputCheckAt) return whole;
    this.#outputCheckAt = now() + OUTPUT_CHECK_MS;
    return this.#guard(null, () => this.#guests.limitOutputs(), OUTPUT_CHECK_MS) && whole;
  }

  #fallDue(key: InstanceKey, due: 'running' | 'startDeadline' | 'kill'): void {
    const { now } = this.#options;
    switch (due) {
      case 'running':
        if (this.#registry.change(key, (instance) => ({ ...instance, runningAt: now() })) !== null) this.#changed(key);
        return;
      case 'startDeadline':
        this.#stop(key, 'LaunchTimeout', 0);
        return;
      case 'kill': {
        const forced = this.#registry.change(key, (instance) =>
          instance.stop === null ? instance : { ...instance, stop: { ...instance.stop, forced: true } },
        );
        if (forced !== null) this.#guests.kill(forced);
      }
    }
  }

  #follow(items: readonly HostVm[]): void {
    for (const order of plan(items, this.#registry.all(), this.#options.draining())) this.#obeyOrder(order);
  }

  #obeyOrder(order: Order): void {
    switch (order.kind) {
      case 'takeOn':
        void this.#takeOn(order.item);
        return;
      case 'ask':
      case 'tellEnd':
        this.#delivery.repeat(order.key);
        return;
      case 'stop':
        this.#stop(order.key, order.cause, order.graceMs);
        return;
      case 'neverLaunch':
        if (this.#taking.has(keyOf(order.item))) return;
        this.#registry.add(neverLaunched(order.item, this.#options.now()));
        this.#changed(keyOf(order.item));
    }
  }

  /** Obeys the answer to an instance's report; one that names another instance only means: ask for the list. */
  #obey(instance: Instance, desired: DesiredVm): void {
    const graceMs = desired.graceSeconds === undefined ? null : desired.graceSeconds * 1000;
    if (desired.power === 'off') this.#stop(keyOf(instance), 'Requested', graceMs);
    else if (desired.instanceId !== instance.instanceId) this.sync();
  }

  #stop(key: InstanceKey, cause: EndCause, graceMs: number | null): void {
    const { now, log } = this.#options;
    const before = this.#registry.get(key);
    if (before === undefined || !isLive(before)) return;
    const after = this.#registry.change(key, (instance) =>
      instance.launchingAt === null
        ? endedUnlaunched(instance, cause, 'ended before it was launched', now())
        : stopping(instance, cause, graceMs ?? instance.graceMs, now()),
    );
    if (after === null) return;
    log('info', 'stopping', { instance: key, cause, killAt: after.stop?.killAt });
    if (before.stop === null) this.#endGuest(after);
    this.#changed(key);
  }

  async #takeOn(item: HostVm): Promise<void> {
    const key = keyOf(item);
    if (this.#taking.has(key)) return;
    this.#taking.add(key);
    try {
      await this.#launch(item, key);
    } catch (error) {
      const { log, ended, random } = this.#options;
      if (ended.aborted) return;
      log('warn', 'launch not taken on', { instance: key, why: messageOf(error) });
      // Refused for good: the next list says what is wanted instead.
      if (error instanceof RefusedError && error.lasting) return;
      setTimeout(() => this.sync(), retryWaitMs(2, random())).unref();
    } finally {
      this.#taking.delete(key);
    }
  }

  async #launch(item: HostVm, key: InstanceKey): Promise<void> {
    const { plane, now, draining } = this.#options;
    const answer = await plane.launch(item.vmId, item.instanceId);
    if (keyOf(answer) !== key) throw new AgentError('Protocol', `asked for the launch of ${key}, got ${keyOf(answer)}`);
    const taken = this.#registry.live().some((instance) => instance.vmId === item.vmId);
    if (taken || this.#registry.get(key) !== undefined) return;
    if (draining()) {
      // The control plane holds it for taken on: said to have ended for the update, it is started again after it.
      const why = 'its host is about to reboot';
      this.#registry.add(endedUnlaunched(accepted(answer, now()), 'HostMaintenance', why, now()));
      this.#changed(key);
      return;
    }
    this.#registry.add(accepted(answer, now()));
    // Its answer may already say that the instance is to end.
    await this.#delivery.push(key);
    const present = this.#registry.get(key);
    if (this.#options.ended.aborted || present === undefined || !isLive(present)) return;
    const refusal = answer.simulateCrash ? 'simulated crash' : refusalOf(answer.launch, this.#options.rules);
    if (refusal === null) {
      this.#guests.start(key, answer.launch);
      return;
    }
    this.#registry.change(key, (instance) => endedUnlaunched(instance, 'LaunchFailed', refusal, now()));
    this.#changed(key);
  }

  #changed(key: InstanceKey): void {
    void this.#delivery.push(key);
    this.#clock.set();
    this.#options.changed();
  }
}
