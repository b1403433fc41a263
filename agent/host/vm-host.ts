/** Makes this host run what the control plane lists for it, and says what became of it (DESIGN section 3). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DesiredVm, HostVm } from '../../core/contract/agent-answers.ts';
import type { EndCause } from '../../core/contract/words.ts';
import type { ControlPlane } from '../api/client.ts';
import { messageOf } from '../failure.ts';
import { Latch } from '../latch.ts';
import type { Log } from '../log.ts';
import type { Environment } from '../settings.ts';
import { Delivery } from './delivery.ts';
import { endedUnlaunched, endedWithHost, noteGuestEnd } from './ends.ts';
import { followLists } from './follow-lists.ts';
import { Guests } from './guests.ts';
import {
  type Due,
  type Instance,
  type InstanceKey,
  isLive,
  keyOf,
  type Moment,
  neverLaunched,
  nextDue,
  stopping,
} from './instance.ts';
import type { LaunchRules } from './launch.ts';
import { Launches } from './launches.ts';
import { leaseListed, leaseOf, renewed } from './lease.ts';
import { Probes } from './liveness.ts';
import { LastLook } from './last-look.ts';
import { Listing, type Next } from './listing.ts';
import { type Order, plan } from './plan.ts';
import { Registry } from './registry.ts';
import { resetsTooOften, saidOfCondition, saidOfResets } from './running.ts';
import type { InstanceStore } from './store.ts';
import { VmsReporter, type VmsReport } from './vms-report.ts';

export type VmHostOptions = {
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
  /** Called when the control plane should hear of this host soon: of a lease, or of what ails a guest. */
  readonly reportSoon: () => void;
  /** Milliseconds of the boot clock. */
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
  readonly ended: AbortSignal;
};

/** After something could not be done. */
const CLOCK_PAUSE_MS = 1000;
/** Between looks at the size of the guests' output files. */
const OUTPUT_CHECK_MS = 60_000;
export class VmHost {
  readonly #options: VmHostOptions;
  readonly #registry: Registry;
  readonly #guests: Guests;
  readonly #delivery: Delivery;
  readonly #probes: Probes;
  readonly #lastLook: LastLook;
  readonly #clock = new Latch();
  readonly #asked = new Latch();
  readonly #launches: Launches;
  readonly #reporter: VmsReporter;
  readonly #listing = new Listing();
  #afterReport: Next = { kind: 'untagged' };
  /** The next list says which instances here the control plane does not name: of those it is told once more. */
  #repeatsUnlisted = false;
  #outputCheckAt = 0;

  constructor(options: VmHostOptions) {
    this.#options = options;
    const { store, log, now } = options;
    this.#registry = new Registry(store, log);
    this.#lastLook = new LastLook(store.runs.lastLookFile(store.root), now);
    const { registry, changed } = { registry: this.#registry, changed: (key: InstanceKey) => this.#changed(key) };
    const [watching, lastLookAt] = [() => this.#clock.set(), this.#lastLook.before];
    this.#guests = new Guests({ ...options, registry, runs: store.runs, changed, watching, lastLookAt });
    const obey = (instance: Instance, desired: DesiredVm): void => this.#obey(instance, desired);
    this.#delivery = new Delivery({ ...options, registry, obey, endTold: () => this.sync() });
    this.#reporter = new VmsReporter({ registry, delivery: this.#delivery, guests: this.#guests, now });
    this.#launches = new Launches({
      ...options,
      registry,
      guests: this.#guests,
      tell: (key) => this.#delivery.push(key),
      changed,
      sync: () => this.sync(),
    });
    this.#probes = new Probes({ registry, now, unhealthy: (key, why) => this.#stopUnhealthy(key, 'Unhealthy', why) });
  }

  /** Finds again what an earlier agent had begun. */
  start(): void {
    const { log } = this.#options;
    const { now, bootId } = this.#moment();
    for (const key of this.#registry.load(now)) log('error', 'instance record unreadable', { instance: key });
    this.#guests.adoptStrays();
    for (const instance of this.#registry.all().values()) {
      const key = keyOf(instance);
      if (!isLive(instance)) void this.#delivery.push(key);
      else if (instance.launchingAt === null) this.#registry.drop(key, { keepRun: true });
      else if (instance.bootId !== null && instance.bootId !== bootId) this.#lostWithHost(key);
      else this.#resume(instance);
    }
  }

  /** A host that has been down has ended all that it ran, whatever ended it. */
  #lostWithHost(key: InstanceKey): void {
    const { log, now } = this.#options;
    this.#registry.change(key, (present) => endedWithHost(present, now()));
    log('warn', 'instance ended', {
      instance: key,
      cause: 'HostLost',
      message: 'its host has gone down and come up again',
    });
    this.#changed(key);
  }

  #resume(instance: Instance): void {
    const key = keyOf(instance);
    // What the wrapper has is newer than the record: a renewal is not written there.
    const held = this.#options.store.runs.readLease(key);
    if (held !== null)
      this.#registry.remember(key, (present) =>
        present.lease === null ? present : renewed(present, held.stopAt - present.lease.ms),
      );
    this.#guests.adopt(instance);
    const present = this.#registry.get(key);
    if (present === undefined || !isLive(present)) return;
    if (present.stop !== null) this.#endGuest(present);
    this.#changed(key);
  }

  #endGuest(instance: Instance): void {
    if (instance.stop?.forced === true) this.#guests.kill(instance);
    else this.#guests.askToEnd(instance);
  }

  readonly #moment = (): Moment => ({ now: this.#options.now(), bootId: this.#options.bootId() });

  liveCount(): number {
    return this.#registry.live().length;
  }

  /** Asks for the list of what should run here. */
  sync(): void {
    this.#asked.set();
  }

  /** What the node's next report, which is about to be sent, says of its VMs. */
  report(): VmsReport {
    const sentAt = this.#options.now();
    const { tag } = this.#listing;
    return {
      fields: { ...this.#reporter.fields(sentAt), ...(tag === null ? {} : { vmsTag: tag }) },
      answered: ({ leaseSeconds, listing }) => {
        if (leaseSeconds !== undefined) this.#renew(sentAt);
        this.#afterReport = this.#listing.answered(tag, listing);
      },
    };
  }

  /** Every lease here is counted from the sending of a report that was answered (DESIGN section 3 rule 6). */
  #renew(sentAt: number): void {
    for (const instance of this.#registry.live()) {
      // What its wrapper has begun to end is not taken back.
      if (instance.lease === null || this.#guests.leaseOver(instance)) continue;
      const held = this.#registry.remember(keyOf(instance), (present) => renewed(present, sentAt));
      if (held !== null) this.#guests.hold(held);
    }
    this.#clock.set();
  }

  /** The node has reported: what is not as the control plane has it is reported, and the list asked for if it is another. */
  afterNodeReport(): void {
    const next = this.#afterReport;
    switch (next.kind) {
      case 'untagged':
        this.#delivery.repeatLive(new Set());
        this.sync();
        return;
      case 'ask':
        this.#repeatsUnlisted = true;
        this.sync();
        return;
      case 'asBefore': {
        const { items } = next;
        this.#delivery.repeatLive(Listing.keys(items));
        this.#registry.forgetUnlisted(new Set(items.map(({ vmId }) => vmId)), this.#options.now());
        // Something of it could not be done yet.
        if (plan(items, this.#registry.all(), this.#options.draining()).length > 0) this.sync();
      }
    }
  }

  /** Looks at the clock again: something outside, such as a drain, has changed. */
  nudge(): void {
    this.#clock.set();
  }

  async run(): Promise<void> {
    const follow = (items: readonly HostVm[], askedAt: number): void => this.#follow(items, askedAt);
    await Promise.all([this.#runClock(), followLists({ ...this.#options, asked: this.#asked, follow })]);
    this.#guests.close();
  }

  async #runClock(): Promise<void> {
    const { ended } = this.#options;
    while (!ended.aborted) {
      await this.#clock.wait(this.#untilNextMs());
      // What is due stays due: on a full disk it must not be tried as fast as the processor can.
      if (!this.#passTime()) await sleep(CLOCK_PAUSE_MS, undefined, { ref: false });
    }
  }

  /** One instance of which something cannot be done, say, does not keep the others from their turn. */
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
    const watches = [this.#guests.watchEveryMs, this.#probes.watchEveryMs].flatMap((wait) => wait ?? []);
    const unsaved = this.#registry.unsaved ? [CLOCK_PAUSE_MS] : [];
    return Math.max(0, Math.min(OUTPUT_CHECK_MS, ...watches, ...unsaved, ...dues.map((at) => at - now())));
  }

  /** False when something could not be done. */
  #passTime(): boolean {
    const { settleMs, now, draining } = this.#options;
    let whole = this.#guard(null, () => this.#guests.watch());
    whole = this.#guard(null, () => this.#probes.watch()) && whole;
    for (const instance of this.#registry.live()) {
      const key = keyOf(instance);
      const done = this.#guard(key, () => {
        if (draining()) this.#stop(key, 'HostMaintenance', null);
        if (this.#guests.leaseOver(instance)) this.#leaseOver(key);
        if (resetsTooOften(instance)) this.#stopUnhealthy(key, 'GuestReset', saidOfResets(instance));
        const next = nextDue(instance, settleMs);
        if (next !== null && next.at <= now()) this.#fallDue(key, next.due.kind, next.at);
      });
      whole &&= done;
    }
    if (this.#reporter.hasNews()) this.#options.reportSoon();
    this.#guard(null, () => this.#lastLook.write());
    this.#registry.writeUnsaved();
    if (now() < this.#outputCheckAt) return whole;
    this.#outputCheckAt = now() + OUTPUT_CHECK_MS;
    return this.#guard(null, () => this.#guests.limitOutputs(), OUTPUT_CHECK_MS) && whole;
  }

  #fallDue(key: InstanceKey, due: Due['kind'], at: number): void {
    switch (due) {
      case 'running':
        // Since it had settled, however late that is noticed.
        if (this.#registry.change(key, (instance) => ({ ...instance, runningAt: at })) !== null) this.#changed(key);
        return;
      case 'startDeadline':
        this.#stop(key, 'LaunchTimeout', 0);
        return;
      case 'leaseOver':
        this.#leaseOver(key);
        return;
      case 'unhealthy':
        this.#endForCondition(key);
        return;
      case 'kill': {
        const instance = this.#registry.get(key);
        // First: where it cannot be done, it stays due.
        if (instance !== undefined) this.#guests.kill(instance);
        this.#registry.change(key, (present) =>
          present.stop === null ? present : { ...present, stop: { ...present.stop, forced: true } },
        );
      }
    }
  }

  #leaseOver(key: InstanceKey): void {
    const instance = this.#registry.get(key);
    const lease = instance === undefined ? null : leaseOf(instance);
    if (lease !== null) this.#stop(key, 'HostLost', Math.max(0, lease.killAt - this.#options.now()));
  }

  #endForCondition(key: InstanceKey): void {
    const instance = this.#registry.get(key);
    const why = instance === undefined ? null : saidOfCondition(instance, this.#options.now());
    if (why !== null) this.#stopUnhealthy(key, 'Unhealthy', why);
  }

  /** It does not run as it should: nothing is gained by asking it to end. */
  #stopUnhealthy(key: InstanceKey, cause: 'Unhealthy' | 'GuestReset', message: string): void {
    const present = this.#registry.get(key);
    if (present === undefined || present.stop !== null) return;
    this.#registry.remember(key, (instance) => noteGuestEnd(instance, { cause, message }));
    this.#stop(key, cause, 0);
  }

  #follow(items: readonly HostVm[], askedAt: number): void {
    for (const item of items) this.#holdAsListed(item, askedAt);
    for (const order of plan(items, this.#registry.all(), this.#options.draining())) this.#obeyOrder(order);
    for (const item of items) if (item.consoleAsked === true) void this.#tellConsole(keyOf(item));
    this.#listing.followed(items);
    if (this.#repeatsUnlisted) this.#delivery.repeatLive(Listing.keys(items));
    this.#repeatsUnlisted = false;
    this.#registry.forgetUnlisted(new Set(items.map(({ vmId }) => vmId)), this.#options.now());
  }

  #holdAsListed(item: HostVm, askedAt: number): void {
    if (item.power === 'off') return;
    const held = this.#registry.change(keyOf(item), (instance) => leaseListed(instance, item, askedAt));
    if (held === null) return;
    this.#guests.hold(held);
    this.#clock.set();
    this.#options.reportSoon();
  }

  async #tellConsole(key: InstanceKey): Promise<void> {
    const instance = this.#registry.get(key);
    if (instance === undefined || !isLive(instance) || instance.launchingAt === null) return;
    this.#delivery.tellConsole(key, await this.#guests.console(instance));
  }

  #obeyOrder(order: Order): void {
    switch (order.kind) {
      case 'takeOn':
        void this.#launches.takeOn(order.item);
        return;
      case 'ask':
      case 'tellEnd':
        this.#delivery.repeat(order.key);
        return;
      case 'stop':
        this.#stop(order.key, order.cause, order.graceMs);
        return;
      case 'neverLaunch':
        if (this.#launches.isTaking(keyOf(order.item))) return;
        this.#registry.addAnyway(neverLaunched(order.item, this.#moment()));
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

  #changed(key: InstanceKey): void {
    void this.#delivery.push(key);
    this.#clock.set();
    this.#options.changed();
  }
}
