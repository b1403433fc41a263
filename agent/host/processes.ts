/** Starts, finds again, signals and buries the processes behind the instances of type exec and qemu. */
import { constants } from 'node:os';
import type { Log } from '../log.ts';
import { identify, isRunning } from '../process-identity.ts';
import type { Environment } from '../settings.ts';
import {
  claimUnstarted,
  findWrapper,
  guestEnvironment,
  killLeftovers,
  limitOutput,
  outputTail,
  recordedExit,
  startGuest,
  wasLocked,
} from './process.ts';
import { ended, endedUnlaunched, type Exit, type Instance, type InstanceKey, keyOf } from './instance.ts';
import { signalGroup } from '../process-group.ts';
import type { Registry } from './registry.ts';
import { conclude } from './turning-points.ts';

export type ProcessesOptions = {
  readonly registry: Registry;
  readonly env: Environment;
  readonly bootId: () => string;
  readonly now: () => number;
  readonly log: Log;
  /** An instance has changed: tell it, and look at the clock again. */
  readonly changed: (key: InstanceKey) => void;
  /** There is something to watch from now on. */
  readonly watching: () => void;
};

export class Processes {
  readonly #options: ProcessesOptions;
  /** Wrappers that nobody will tell us the end of: they were started by an agent before this one. */
  readonly #adopted = new Set<InstanceKey>();
  /** Wrappers that are gone, whose leftovers are not yet. */
  readonly #ending = new Map<InstanceKey, Exit>();

  constructor(options: ProcessesOptions) {
    this.#options = options;
  }

  /** How soon `watch` has to be called again; null when there is nothing to watch. */
  get watchEveryMs(): number | null {
    if (this.#ending.size > 0) return LEFTOVERS_EVERY_MS;
    return this.#adopted.size > 0 ? ADOPTED_EVERY_MS : null;
  }

  /** Starts an instance. It is on record as launching before there can be a process. */
  start(key: InstanceKey, command: string | readonly string[]): void {
    const { registry, env, bootId, now, log, changed } = this.#options;
    const launching = registry.change(key, (instance) => ({ ...instance, launchingAt: now() }));
    if (launching === null) return;
    const folder = registry.folder(key);
    const child = startGuest(
      {
        folder,
        lock: registry.lock(launching.vmId),
        // QEMU's control socket is in its working directory, whose path may be too long for a socket's name.
        cwd: launching.driver === 'qemu' ? folder : '/',
        env: guestEnvironment(env, key),
      },
      command,
    );
    child.on('error', (error) => this.#buryUnstarted(key, `cannot start a process: ${error.message}`));
    child.on('exit', (code, signal) => this.#goes(key, { code, signal }));
    const identity = child.pid === undefined ? null : identify(child.pid);
    if (identity === null) return;
    registry.change(key, (instance) => ({ ...instance, process: { ...identity, bootId: bootId() } }));
    log('info', 'guest started', { instance: key, pid: identity.pid });
    changed(key);
  }

  /** Finds the process of an instance that an earlier agent had launched, or says that it is gone. */
  adopt(instance: Instance): void {
    const { registry, bootId, log } = this.#options;
    const key = keyOf(instance);
    const folder = registry.folder(key);
    if (instance.process === null && claimUnstarted(folder)) {
      this.#buryUnstarted(key, 'the agent was interrupted before the launch');
      return;
    }
    const sameBoot = instance.process === null || instance.process.bootId === bootId();
    const found = sameBoot ? (instance.process ?? findWrapper(folder)) : null;
    if (found === null || !isRunning(found)) {
      log('warn', 'guest gone', { instance: key });
      this.#goes(key, { code: null, signal: null });
      return;
    }
    registry.change(key, (present) => ({
      ...present,
      process: { pid: found.pid, startTime: found.startTime, bootId: bootId() },
    }));
    this.#adopted.add(key);
    this.#options.watching();
    log('info', 'guest found again', { instance: key, pid: found.pid });
  }

  /** Signals the whole group of an instance, if its leader is still the process it was. */
  signal(instance: Instance, signal: 'SIGTERM' | 'SIGKILL'): void {
    const { process } = instance;
    if (process === null || !isRunning(process)) return;
    this.#options.log('info', 'guest signalled', {
      instance: keyOf(instance),
      signal,
      number: constants.signals[signal],
    });
    signalGroup(process.pid, signal);
  }

  /** Notices what has ended and buries it once nothing of it is left. */
  watch(): void {
    const { registry } = this.#options;
    for (const key of this.#adopted) {
      const process = registry.get(key)?.process;
      if (process != null && isRunning(process)) continue;
      this.#adopted.delete(key);
      this.#ending.set(key, { code: null, signal: null });
    }
    for (const [key, exit] of this.#ending) if (!killLeftovers(key)) this.#bury(key, exit);
  }

  /** Keeps the output files of the living within bounds. */
  limitOutputs(): void {
    const { registry } = this.#options;
    for (const instance of registry.live())
      if (instance.launchingAt !== null) limitOutput(registry.folder(keyOf(instance)));
  }

  /** The wrapper is gone; the end is known once nothing else of the instance is left. */
  #goes(key: InstanceKey, exit: Exit): void {
    this.#ending.set(key, exit);
    this.#options.watching();
  }

  #bury(key: InstanceKey, exit: Exit): void {
    const { registry, now } = this.#options;
    const folder = registry.folder(key);
    if (wasLocked(folder)) {
      this.#buryUnstarted(key, 'another instance of this VM still lives on this host: the lock of the VM is held');
    } else {
      const known = recordedExit(folder) ?? exit;
      conclude(this.#options, key, (instance) => ended(instance, known, outputTail(folder), now()));
    }
    // Not before: an end that could not be written down is written at the next look.
    this.#ending.delete(key);
  }

  #buryUnstarted(key: InstanceKey, why: string): void {
    conclude(this.#options, key, (instance) => endedUnlaunched(instance, 'LaunchFailed', why, this.#options.now()));
  }
}

const LEFTOVERS_EVERY_MS = 100;
const ADOPTED_EVERY_MS = 500;
