/** The guests of this host, whatever runs them: a process, a QEMU with its QMP socket, or a libvirt domain. */
import type { Unexpected } from '../../core/contract/agent-bodies.ts';
import type { Launch } from '../../core/contract/operator-bodies.ts';
import { messageOf } from '../failure.ts';
import type { Log } from '../log.ts';
import type { Environment } from '../settings.ts';
import { endedUnlaunched } from './ends.ts';
import { type Instance, type InstanceKey, keyOf, recovered } from './instance.ts';
import type { LaunchRules } from './launch.ts';
import { leaseOf } from './lease.ts';
import { Domains } from './libvirt/domains.ts';
import { findWrappers, outputTail } from './process.ts';
import { Processes } from './processes.ts';
import { qemuCommand } from './qemu/command.ts';
import { Monitors } from './qemu/monitors.ts';
import type { Registry } from './registry.ts';
import type { RunFolders } from './run-folder.ts';
import { conclude } from './turning-points.ts';

export type GuestsOptions = {
  readonly registry: Registry;
  readonly runs: RunFolders;
  readonly rules: LaunchRules;
  readonly env: Environment;
  readonly bootId: () => string;
  readonly now: () => number;
  /** When this host's guests were last known to be as they were said to be, before this agent; null: never. */
  readonly lastLookAt: number | null;
  readonly log: Log;
  /** An instance has changed: tell it, and look at the clock again. */
  readonly changed: (key: InstanceKey) => void;
  /** There is something to watch from now on. */
  readonly watching: () => void;
};

/** What a person who asks for a guest's console gets of it. */
const CONSOLE_BYTES = 16 * 1024;

export class Guests {
  readonly #options: GuestsOptions;
  readonly #processes: Processes;
  readonly #monitors: Monitors;
  readonly #domains: Domains | null;

  constructor(options: GuestsOptions) {
    this.#options = options;
    const { rules } = options;
    this.#processes = new Processes(options);
    this.#monitors = new Monitors({
      ...options,
      isStopped: (instance) => this.#processes.isStopped(instance),
      kill: (instance) => this.#processes.signal(instance, 'SIGKILL'),
    });
    this.#domains = rules.libvirt === null ? null : new Domains({ ...options, rules: rules.libvirt });
  }

  /** Starts an instance whose launch definition this host allows. Whatever prevents that ends it, with the reason. */
  start(key: InstanceKey, launch: Launch): void {
    try {
      this.#start(key, launch);
    } catch (error) {
      const why = `cannot be launched: ${messageOf(error)}`;
      conclude(this.#options, key, (present) => endedUnlaunched(present, 'LaunchFailed', why, this.#options.now()));
    }
  }

  #start(key: InstanceKey, launch: Launch): void {
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
    const { registry, runs, log, now, bootId } = this.#options;
    for (const { name, root, identity, type } of findWrappers()) {
      const [vmId, instanceId] = name.split('@');
      // Of another agent of this host, or known.
      if (root !== registry.root || vmId === undefined || instanceId === undefined) continue;
      if (registry.get(name) !== undefined) continue;
      log('warn', 'orphan found', { instance: name, pid: identity.pid });
      if (type === 'libvirt') {
        // Its domain is taken over when its VM's next instance is to start; until then nothing watches over it.
        runs.writeOver(name);
        continue;
      }
      const process = { ...identity, bootId: bootId() };
      const found = recovered({ vmId, instanceId }, type, { now: now(), bootId: bootId() });
      // Its wrapper has this instance's run folder, unless it is one of an earlier release.
      registry.addAnyway({ ...found, process, guarded: runs.claimed(name) });
    }
  }

  /** Tells the wrapper of a guest how long it may run without word from the control plane. */
  hold(instance: Instance): void {
    const { runs, log } = this.#options;
    const key = keyOf(instance);
    if (!instance.guarded || instance.launchingAt === null) return;
    try {
      runs.writeLease(key, leaseOf(instance));
    } catch (error) {
      log('error', 'lease not renewed', { instance: key, why: messageOf(error), stopAt: leaseOf(instance)?.stopAt });
    }
  }

  /** Whether the wrapper of a guest has begun to end it because its lease has run out. */
  leaseOver(instance: Instance): boolean {
    return instance.lease !== null && this.#options.runs.expired(keyOf(instance)) !== null;
  }

  /** What runs here although it should not, or may begin to by itself; null: that is not known yet. */
  unexpected(): readonly Unexpected[] | null {
    return this.#domains === null ? [] : this.#domains.unexpected();
  }

  /** The last of a guest's console. */
  async console(instance: Instance): Promise<string> {
    if (instance.driver === 'libvirt') return (await this.#domains?.console(instance, CONSOLE_BYTES)) ?? '';
    return outputTail(this.#options.registry.folder(keyOf(instance)), CONSOLE_BYTES);
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
