/** Takes on the instances that this host is to run: asks for their launch definitions, and begins or refuses them. */
import type { HostVm } from '../../core/contract/agent-answers.ts';
import type { EndCause } from '../../core/contract/words.ts';
import type { ControlPlane } from '../api/client.ts';
import { retryWaitMs } from '../backoff.ts';
import { AgentError, messageOf, RefusedError } from '../failure.ts';
import type { Log } from '../log.ts';
import { endedUnlaunched } from './ends.ts';
import type { Guests } from './guests.ts';
import { accepted, type Instance, type InstanceKey, isLive, keyOf } from './instance.ts';
import { type LaunchRules, refusalOf } from './launch.ts';
import type { Registry } from './registry.ts';

export type LaunchesOptions = {
  readonly plane: ControlPlane;
  readonly registry: Registry;
  readonly guests: Guests;
  readonly rules: LaunchRules;
  readonly bootId: () => string;
  /** Whether everything here is to end, because the host is about to reboot. */
  readonly draining: () => boolean;
  /** Called when the control plane should hear of this host soon: by what a lease is held has changed. */
  readonly reportSoon: () => void;
  /** Tells what has not been told of an instance; resolves after the first try. */
  readonly tell: (key: InstanceKey) => Promise<void>;
  /** An instance has changed: tell it, and look at the clock again. */
  readonly changed: (key: InstanceKey) => void;
  /** Asks for the list of what should run here. */
  readonly sync: () => void;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
  readonly ended: AbortSignal;
};

export class Launches {
  readonly #options: LaunchesOptions;
  readonly #taking = new Set<InstanceKey>();

  constructor(options: LaunchesOptions) {
    this.#options = options;
  }

  isTaking(key: InstanceKey): boolean {
    return this.#taking.has(key);
  }

  /** Takes on what is to run here, unless it is being taken on already. */
  async takeOn(item: HostVm): Promise<void> {
    const key = keyOf(item);
    if (this.#taking.has(key)) return;
    this.#taking.add(key);
    try {
      await this.#launch(item, key);
    } catch (error) {
      const { log, ended, random, sync } = this.#options;
      if (ended.aborted) return;
      log('warn', 'launch not taken on', { instance: key, why: messageOf(error) });
      // Refused for good: the next list says what is wanted instead.
      if (error instanceof RefusedError && error.lasting) return;
      setTimeout(() => sync(), retryWaitMs(2, random())).unref();
    } finally {
      this.#taking.delete(key);
    }
  }

  /** What ended because this host was cut off is answered before anything else begins (DESIGN section 3 rule 6). */
  #unanswered(): InstanceKey | null {
    for (const [key, { end, told }] of this.#options.registry.all())
      if (end?.cause === 'HostLost' && !told.end) return key;
    return null;
  }

  async #launch(item: HostVm, key: InstanceKey): Promise<void> {
    const { plane, now, bootId, draining, registry, reportSoon } = this.#options;
    const lost = this.#unanswered();
    if (lost !== null) throw new AgentError('Host', `the end of ${lost}, which was lost, has not been answered yet`);
    const askedAt = now();
    const answer = await plane.launch(item.vmId, item.instanceId);
    if (keyOf(answer) !== key) throw new AgentError('Protocol', `asked for the launch of ${key}, got ${keyOf(answer)}`);
    const taken = registry.live().some((instance) => instance.vmId === item.vmId);
    if (taken || registry.get(key) !== undefined) return;
    const instance = accepted(answer, { now: now(), bootId: bootId() }, askedAt);
    if (draining()) {
      // The control plane holds it for taken on: said to have ended for the update, it is started again after it.
      this.#addEnded(instance, 'HostMaintenance', 'its host is about to reboot');
      return;
    }
    try {
      registry.add(instance);
    } catch (error) {
      this.#addEnded(instance, 'LaunchFailed', `its record cannot be written: ${messageOf(error)}`);
      return;
    }
    if (instance.lease !== null) reportSoon();
    // Its answer may already say that the instance is to end.
    await this.#options.tell(key);
    const present = registry.get(key);
    if (this.#options.ended.aborted || present === undefined || !isLive(present)) return;
    const refusal = answer.simulateCrash ? 'simulated crash' : refusalOf(answer.launch, this.#options.rules);
    if (refusal === null) {
      this.#options.guests.start(key, answer.launch);
      return;
    }
    registry.change(key, (taken_) => endedUnlaunched(taken_, 'LaunchFailed', refusal, now()));
    this.#options.changed(key);
  }

  #addEnded(instance: Instance, cause: EndCause, why: string): void {
    this.#options.registry.addAnyway(endedUnlaunched(instance, cause, why, this.#options.now()));
    this.#options.changed(keyOf(instance));
  }
}
