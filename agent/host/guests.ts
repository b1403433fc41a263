/** The guests of this host, whatever runs them: a process, a QEMU with its QMP socket, or a libvirt domain. */
import type { Launch } from '../../core/contract/operator-bodies.ts';
import type { Log } from '../log.ts';
import type { Environment } from '../settings.ts';
import { endedUnlaunched, type Instance, type InstanceKey, keyOf, recovered } from './instance.ts';
import type { LaunchRules } from './launch.ts';
import { Domains } from './libvirt/domains.ts';
import { findWrappers } from './process.ts';
import { Processes } from './processes.ts';
import { qemuCommand } from './qemu/command.ts';
import { Monitors } from './qemu/monitors.ts';
import type { Registry } from './registry.ts';

export type GuestsOptions = {
  readonly registry: Registry;
  readonly rules: LaunchRules;
  readonly env: Environment;
  readonly bootId: () => string;
  readonly now: () => number;
  readonly log: Log;
  /** An instance has changed: tell it, and look at the clock again. */
  readonly changed: (key: InstanceKey) => void;
  /** There is something to watch from now on. */
  readonly watching: () => void;
};

export class Guests {
  readonly #options: GuestsOptions;
  readonly #processes: Processes;
  readonly #monitors: Monitors;
  readonly #domains: Domains | null;

  constructor(options: GuestsOptions) {
    this.#options = options;
    const { rules } = options;
    this.#processes = new Processes(options);
    this.#monitors = new Monitors({ ...options, kill: (instance) => this.#processes.signal(instance, 'SIGKILL') });
    this.#domains = rules.libvirt === null ? null : new Domains({ ...options, rules: rules.libvirt });
  }

  /** Starts an instance whose launch definition this host allows. */
  start(key: InstanceKey, launch: Launch): void {
    const { rules, registry } = this.#options;
    if (launch.type === 'exec') this.#processes.start(key, launch.command);
    else if (launch.type === 'libvirt') this.#startDomain(key, launch.domain);
    else if (rules.qemu !== null) this.#processes.start(key, qemuCommand(rules.qemu.program, launch.args));
    if (registry.get(key)?.launchingAt != null) this.#options.watching();
  }

  #startDomain(key: InstanceKey, domain: string): void {
    const { registry, now, changed } = this.#options;
    const owner = registry.live().find((other) => other.domain?.name === domain && keyOf(other) !== key);
    if (owner === undefined) {
      this.#domains?.start(key);
      return;
    }
    const why = `domain ${domain} is the guest of VM ${owner.vmId} (instance ${owner.instanceId}) on this host`;
    registry.change(key, (instance) => endedUnlaunched(instance, 'LaunchFailed', why, now()));
    changed(key);
  }

  /** Finds the guest of an instance that an earlier agent had launched, or says that it is gone. */
  adopt(instance: Instance): void {
    if (instance.driver !== 'libvirt') this.#processes.adopt(instance);
    else if (this.#domains === null)
      this.#options.log('error', 'domain without libvirt', {
        instance: keyOf(instance),
        why: 'HOLDOFF_LIBVIRT is not set any more: nothing is known of its domain, and nothing is said of it',
      });
    else this.#options.watching();
  }

  /** Guests of which this agent has no record, found by their wrappers: they are taken as what they say they are. */
  adoptStrays(): void {
    const { registry, log, now } = this.#options;
    for (const { name, identity } of findWrappers(registry.root)) {
      const [vmId, instanceId] = name.split('@');
      if (vmId === undefined || instanceId === undefined || registry.get(name) !== undefined) continue;
      log('warn', 'orphan found', { instance: name, pid: identity.pid });
      const process = { ...identity, bootId: this.#options.bootId() };
      registry.add({ ...recovered({ vmId, instanceId }, 'exec', now()), process });
    }
  }

  /** Asks a guest to end: a signal to a process, the power button of a machine. */
  askToEnd(instance: Instance): void {
    if (instance.driver === 'exec') this.#processes.signal(instance, 'SIGTERM');
    else if (instance.driver === 'qemu') this.#monitors.askToEnd(instance);
    else this.#domains?.askToEnd(instance);
  }

  /** Ends a guest for certain. */
  kill(instance: Instance): void {
    if (instance.driver === 'libvirt') this.#domains?.kill(instance);
    else this.#processes.signal(instance, 'SIGKILL');
  }

  /** How soon `watch` has to be called again; null when there is nothing to watch. */
  get watchEveryMs(): number | null {
    const waits = [this.#processes.watchEveryMs, this.#monitors.watchEveryMs, this.#domains?.watchEveryMs ?? null];
    const some = waits.flatMap((wait) => wait ?? []);
    return some.length === 0 ? null : Math.min(...some);
  }

  watch(): void {
    this.#processes.watch();
    this.#monitors.watch();
    this.#domains?.watch();
  }

  /** Keeps the output files of the living within bounds. */
  limitOutputs(): void {
    this.#processes.limitOutputs();
  }

  close(): void {
    this.#monitors.close();
    this.#domains?.close();
  }
}
