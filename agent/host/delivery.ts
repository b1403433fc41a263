/** Tells the control plane of each instance, in order and until it has understood; and obeys what it answers. */
import type { VmReport } from '../../core/contract/agent-bodies.ts';
import type { DesiredVm } from '../../core/contract/agent-answers.ts';
import type { ControlPlane } from '../api/client.ts';
import { retryWaitMs } from '../backoff.ts';
import { messageOf, RefusedError } from '../failure.ts';
import type { Log } from '../log.ts';
import { type Instance, type InstanceKey, isLive } from './instance.ts';
import type { Registry } from './registry.ts';
import { markTold, reportOf, type Told, untoldReport } from './told.ts';

export type DeliveryOptions = {
  readonly plane: ControlPlane;
  readonly registry: Registry;
  readonly obey: (instance: Instance, desired: DesiredVm) => void;
  /** An end has been understood: its VM may be due for its next instance. */
  readonly endTold: () => void;
  readonly slowRetryMs: number;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
  readonly ended: AbortSignal;
};

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #failures = new Map<InstanceKey, number>();
  readonly #timers = new Map<InstanceKey, NodeJS.Timeout>();
  readonly #orphans = new Set<InstanceKey>();
  readonly #busy = new Map<InstanceKey, Promise<void>>();

  constructor(options: DeliveryOptions) {
    this.#options = options;
    options.ended.addEventListener('abort', () => {
      for (const timer of this.#timers.values()) clearTimeout(timer);
    });
  }

  /** Tells what has not been told; on a failure once, and goes on trying by itself. Resolves after the first pass. */
  push(key: InstanceKey): Promise<void> {
    const running = this.#busy.get(key);
    if (running !== undefined) return running;
    clearTimeout(this.#timers.get(key));
    const pass = this.#pass(key).then(
      (complete) => {
        this.#busy.delete(key);
        // Something may have become untold while the last answer was being taken in.
        const instance = complete ? this.#options.registry.get(key) : undefined;
        if (instance !== undefined && untoldReport(instance, this.#options.now()) !== null) void this.push(key);
      },
      (error: unknown) => {
        this.#busy.delete(key);
        this.#broke(key, error);
        this.#retry(key, error);
      },
    );
    this.#busy.set(key, pass);
    return pass;
  }

  /**
   * Reports each live instance's phase once more, so that a control plane that missed it heals; and what it was not told.
   * @param known what it has named itself, and hears of in the node's reports
   */
  repeatLive(known: ReadonlySet<InstanceKey>): void {
    for (const [key, instance] of this.#options.registry.all()) {
      const untold = untoldReport(instance, this.#options.now()) !== null;
      if (untold || (isLive(instance) && !known.has(key))) this.repeat(key);
    }
  }

  /** Reports what has not been told of an instance, or once more how it is or has ended; the next list may ask again. */
  repeat(key: InstanceKey): void {
    const instance = this.#options.registry.get(key);
    if (instance === undefined) return;
    if (untoldReport(instance, this.#options.now()) !== null) void this.push(key);
    else
      this.#send(key, instance, reportOf(instance, this.#options.now()), null).catch((error: unknown) =>
        this.#broke(key, error),
      );
  }

  /** Reports a living instance with the last of its console, because a person has asked for it. */
  tellConsole(key: InstanceKey, console: string): void {
    const instance = this.#options.registry.get(key);
    if (instance === undefined || !isLive(instance)) return;
    const report = { ...reportOf(instance, this.#options.now()), console };
    this.#send(key, instance, report, null).catch((error: unknown) => this.#broke(key, error));
  }

  /** Instances of VMs that nobody has declared. */
  orphans(): ReadonlySet<InstanceKey> {
    return this.#orphans;
  }

  /** True when everything has been told. */
  async #pass(key: InstanceKey): Promise<boolean> {
    const { registry, ended } = this.#options;
    for (;;) {
      const instance = registry.get(key);
      const untold = instance === undefined ? null : untoldReport(instance, this.#options.now());
      if (instance === undefined || untold === null) return true;
      if (ended.aborted || !(await this.#send(key, instance, untold.report, untold.told))) return false;
    }
  }

  async #send(key: InstanceKey, instance: Instance, report: VmReport, told: Told | null): Promise<boolean> {
    const { plane, registry, log, ended } = this.#options;
    let desired: DesiredVm | null;
    try {
      desired = (await plane.reportVm(instance.vmId, report)).desired;
    } catch (error) {
      if (ended.aborted) return false;
      log('warn', 'vm report failed', { instance: key, phase: report.phase, why: messageOf(error) });
      // Unknown there: nobody waits for this report. The instance itself is left alone, it may yet be adopted.
      if (!(error instanceof RefusedError) || error.status !== 404) {
        if (told !== null) this.#retry(key, error);
        return false;
      }
      desired = null;
      this.#sayOrphan(key);
    }
    this.#failures.delete(key);
    if (told !== null) registry.change(key, (present) => markTold(present, told));
    if (told === 'end') registry.prune(instance.vmId);
    if (told === 'end') this.#options.endTold();
    if (desired !== null) {
      this.#orphans.delete(key);
      this.#options.obey(instance, desired);
    }
    return true;
  }

  /** Nobody declared its VM. It goes on being reported: a VM that is declared later adopts it (DESIGN section 3 rule 8). */
  #sayOrphan(key: InstanceKey): void {
    if (this.#orphans.has(key)) return;
    this.#orphans.add(key);
    this.#options.log('warn', 'orphan', {
      instance: key,
      why: 'no such VM is declared: it is left alone and reported',
    });
  }

  /** Not the network but this host: a record that cannot be written, say. */
  #broke(key: InstanceKey, error: unknown): void {
    this.#options.log('error', 'vm delivery failed', { instance: key, why: messageOf(error) });
  }

  #retry(key: InstanceKey, error: unknown): void {
    const { random, slowRetryMs } = this.#options;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const lasting = error instanceof RefusedError && error.lasting;
    this.#timers.set(
      key,
      setTimeout(() => void this.push(key), lasting ? slowRetryMs : retryWaitMs(failures, random())),
    );
  }
}
