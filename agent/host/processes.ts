/** Starts, finds again, signals and buries the processes behind the instances of type exec and qemu. */
import { constants } from 'node:os';
import { messageOf } from '../failure.ts';
import type { Log } from '../log.ts';
import { identifyIfPossible, isRunning } from '../process-identity.ts';
import type { Environment } from '../settings.ts';
import {
  claimedBefore,
  exitBefore,
  findWrapper,
  guestEnvironment,
  isStopped,
  killLeftovers,
  limitOutput,
  lockedBefore,
  outputTail,
  startGuest,
  trimOutput,
} from './process.ts';
import { leftToAnother, RAN_BEFORE } from './claims.ts';
import { ended, endedUnlaunched, type Exit } from './ends.ts';
import { type Instance, type InstanceKey, keyOf } from './instance.ts';
import { leaseOf } from './lease.ts';
import { signalGroup } from '../process-group.ts';
import type { Registry } from './registry.ts';
import type { RunFolders } from './run-folder.ts';
import { conclude, isSeen } from './turning-points.ts';

export type ProcessesOptions = {
  readonly registry: Registry;
  readonly runs: RunFolders;
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

export class Processes {
  readonly #options: ProcessesOptions;
  /** Wrappers that nobody will tell us the end of: they were started by an agent before this one. */
  readonly #adopted = new Set<InstanceKey>();
  /** Wrappers started by this agent that it could not look at yet. */
  readonly #unidentified = new Map<InstanceKey, number>();
  /** Wrappers that are gone, whose leftovers are not yet. */
  readonly #ending = new Map<InstanceKey, Exit>();

  constructor(options: ProcessesOptions) {
    this.#options = options;
  }

  /** How soon `watch` has to be called again; null when there is nothing to watch. */
  get watchEveryMs(): number | null {
    if (this.#ending.size > 0) return LEFTOVERS_EVERY_MS;
    if (this.#adopted.size > 0 || this.#unidentified.size > 0) return ADOPTED_EVERY_MS;
    return this.#options.registry.live().some(({ driver, process }) => driver === 'exec' && process !== null)
      ? STOPPED_EVERY_MS
      : null;
  }

  /** Starts an instance. It is on record as launching before there can be a process; what prevents that ends it. */
  start(key: InstanceKey, command: string | readonly string[]): void {
    const { registry, now } = this.#options;
    let launched: ReturnType<typeof startGuest>;
    try {
      const launching = registry.changeFirst(key, (instance) => ({ ...instance, launchingAt: now() }));
      if (launching === null) return;
      launched = this.#spawn(key, launching, command);
    } catch (error) {
      this.#buryUnstarted(key, `cannot be launched: ${messageOf(error)}`);
      return;
    }
    launched.on('error', (error) => this.#buryUnstarted(key, `cannot start a process: ${error.message}`));
    launched.on('exit', (code, signal) => this.#goes(key, { code, signal }));
    if (launched.pid === undefined) return;
    this.#unidentified.set(key, launched.pid);
    this.#identify(key, launched.pid);
  }

  /** Takes a process that was started for what it is; one that cannot be looked at is looked at again. */
  #identify(key: InstanceKey, pid: number): void {
    const { registry, bootId, log, changed } = this.#options;
    const identity = identifyIfPossible(pid);
    if (identity === null) return;
    this.#unidentified.delete(key);
    registry.change(key, (instance) => ({ ...instance, process: { ...identity, bootId: bootId() } }));
    log('info', 'guest started', { instance: key, pid });
    const present = registry.get(key);
    // It was to end before it could be signalled.
    if (present?.stop?.forced === true) this.signal(present, 'SIGKILL');
    else if (present?.stop != null && present.driver === 'exec') this.signal(present, 'SIGTERM');
    changed(key);
  }

  #spawn(key: InstanceKey, instance: Instance, command: string | readonly string[]) {
    const { registry, runs, env } = this.#options;
    const run = runs.make(key);
    // Before there is a guest: it never runs without the lease it was given.
    runs.writeLease(key, leaseOf(instance));
    const place = {
      folder: registry.folder(key),
      run,
      lock: runs.lock(instance.vmId),
      oldLock: registry.oldLock(instance.vmId),
      type: instance.driver,
      env: guestEnvironment(env, run),
    };
    return startGuest(place, command);
  }

  /** Finds the process of an instance that an earlier agent had launched, or says that it is gone. */
  adopt(instance: Instance): void {
    const { registry, runs, bootId, log } = this.#options;
    const key = keyOf(instance);
    const folder = registry.folder(key);
    if (
      instance.process === null &&
      !claimedBefore(folder) &&
      runs.claimUnstarted(key) &&
      instance.runningAt === null
    ) {
      this.#buryUnstarted(key, 'the agent was interrupted before the launch');
      return;
    }
    const sameBoot = instance.process === null || instance.process.bootId === bootId();
    const found = sameBoot ? (instance.process ?? findWrapper(runs, key, folder)) : null;
    if (found === null || !isRunning(found)) {
      log('warn', 'guest gone', { instance: key });
      this.#goes(key, { code: null, signal: null, at: this.#options.lastLookAt });
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

  /** Notices what has ended and buries it once nothing of it is left; and which guest is stopped. */
  watch(): void {
    const { registry } = this.#options;
    for (const [key, pid] of this.#unidentified) this.#identify(key, pid);
    for (const key of this.#adopted) {
      const process = registry.get(key)?.process;
      if (process != null && isRunning(process)) continue;
      this.#adopted.delete(key);
      this.#ending.set(key, { code: null, signal: null });
    }
    for (const [key, exit] of this.#ending)
      if (this.#claimedByAnother(key, exit) || !killLeftovers(this.#mark(key))) this.#bury(key, exit);
    for (const instance of registry.live())
      if (instance.driver === 'exec' && instance.process !== null)
        isSeen(this.#options, keyOf(instance), this.isStopped(instance) ? 'Stopped' : null);
  }

  /** What marks everything that an instance has started: its run folder; agents of earlier releases took its key. */
  #mark(key: InstanceKey): string {
    const { registry, runs } = this.#options;
    return registry.get(key)?.guarded === false ? key : runs.path(key);
  }

  /** Whether the guest's own process, or its wrapper, is stopped. */
  isStopped(instance: Instance): boolean {
    const guest = this.#options.runs.pid(keyOf(instance), 'guest');
    return (guest !== null && isStopped(guest)) || (instance.process !== null && isStopped(instance.process.pid));
  }

  /** Keeps the output files of the living within bounds. */
  limitOutputs(): void {
    const { registry } = this.#options;
    for (const instance of registry.live())
      if (instance.launchingAt !== null) limitOutput(registry.folder(keyOf(instance)));
  }

  /** The wrapper is gone; the end is known once nothing else of the instance is left. */
  #goes(key: InstanceKey, exit: Exit): void {
    this.#unidentified.delete(key);
    this.#ending.set(key, exit);
    this.#options.watching();
  }

  /** What has this mark then is the guest of whoever claimed it first: it is not ours to kill. */
  #claimedByAnother(key: InstanceKey, exit: Exit): boolean {
    return exit.code === CLAIMED && this.#options.runs.exit(key) === null;
  }

  #bury(key: InstanceKey, exit: Exit): void {
    const { registry, runs, now } = this.#options;
    this.#ending.delete(key);
    const folder = registry.folder(key);
    const noted = runs.exit(key) ?? exitBefore(folder);
    if (this.#claimedByAnother(key, exit)) {
      this.#alreadyClaimed(key);
      return;
    }
    if (runs.refused(key) || lockedBefore(folder)) {
      this.#buryUnstarted(key, 'another instance of this VM still lives on this host: the lock of the VM is held');
      return;
    }
    const console = outputTail(folder);
    conclude(this.#options, key, (instance) => ended(this.#withLease(instance), noted ?? exit, console, now()));
    trimOutput(folder);
  }

  /** Its wrapper may have ended it because its lease had run out, also while there was no agent. */
  #withLease(instance: Instance): Instance {
    const over = this.#options.runs.expired(keyOf(instance));
    if (over === null || instance.stop !== null) return instance;
    return { ...instance, stop: { cause: 'HostLost', killAt: over.killAt, forced: false } };
  }

  #alreadyClaimed(key: InstanceKey): void {
    if (leftToAnother(this.#options, key)) return;
    conclude(this.#options, key, (present) => endedUnlaunched(present, 'Unknown', RAN_BEFORE, this.#options.now()));
  }

  #buryUnstarted(key: InstanceKey, why: string): void {
    conclude(this.#options, key, (instance) => endedUnlaunched(instance, 'LaunchFailed', why, this.#options.now()));
  }
}

/** What the wrapper exits with when the instance was claimed before it. */
const CLAIMED = 125;
const LEFTOVERS_EVERY_MS = 100;
const ADOPTED_EVERY_MS = 500;
const STOPPED_EVERY_MS = 2000;
