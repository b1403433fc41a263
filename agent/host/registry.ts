/**
 * The instances of this host: in memory and on disk. What must be known before something begins is written first or not
 * done; an end and the wish for one hold although they cannot be written, and are written once they can be.
 */
import { messageOf } from '../failure.ts';
import type { Log } from '../log.ts';
import { type Instance, type InstanceKey, isLive, keyOf } from './instance.ts';
import { forgettable, type InstanceStore, unlisted } from './store.ts';

export class Registry {
  readonly #store: InstanceStore;
  readonly #log: Log;
  readonly #instances = new Map<InstanceKey, Instance>();
  readonly #unsaved = new Set<InstanceKey>();

  constructor(store: InstanceStore, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** Reads what is on disk; answers the keys whose records could not be read. */
  load(now: number): InstanceKey[] {
    const { instances, unreadable } = this.#store.load(now);
    for (const instance of instances) this.#instances.set(keyOf(instance), instance);
    return unreadable;
  }

  all(): ReadonlyMap<InstanceKey, Instance> {
    return this.#instances;
  }

  get(key: InstanceKey): Instance | undefined {
    return this.#instances.get(key);
  }

  live(): Instance[] {
    return [...this.#instances.values()].filter(isLive);
  }

  /** Takes an instance into the records; throws when it cannot be written, and then it is not there. */
  add(instance: Instance): void {
    const highest = Math.max(0, ...[...this.#instances.values()].map(({ order }) => order));
    const numbered = { ...instance, order: highest + 1 };
    this.#store.save(numbered);
    this.#instances.set(keyOf(instance), numbered);
  }

  /** The same for what holds although it cannot be written: an instance that has ended, or was found. */
  addAnyway(instance: Instance): void {
    this.#instances.set(keyOf(instance), instance);
    this.#write(keyOf(instance));
  }

  /** Applies a pure change to the present record; null when there is none or nothing changed. */
  change(key: InstanceKey, how: (instance: Instance) => Instance): Instance | null {
    const next = this.remember(key, how);
    if (next !== null) this.#write(key);
    return next;
  }

  /** The same for what is not worth a write of its own. */
  remember(key: InstanceKey, how: (instance: Instance) => Instance): Instance | null {
    const before = this.#instances.get(key);
    if (before === undefined) return null;
    const next = how(before);
    if (next === before) return null;
    this.#instances.set(key, next);
    return next;
  }

  /** A change that has to be on disk before what follows is done: it throws, and nothing has changed, when it cannot. */
  changeFirst(key: InstanceKey, how: (instance: Instance) => Instance): Instance | null {
    const before = this.#instances.get(key);
    if (before === undefined) return null;
    const next = how(before);
    if (next === before) return null;
    this.#store.save(next);
    this.#instances.set(key, next);
    return next;
  }

  /** Whether something could not be written yet. */
  get unsaved(): boolean {
    return this.#unsaved.size > 0;
  }

  /** Tries again to write what could not be written. */
  writeUnsaved(): void {
    for (const key of this.#unsaved) this.#write(key);
  }

  #write(key: InstanceKey): void {
    const instance = this.#instances.get(key);
    try {
      if (instance !== undefined) this.#store.save(instance);
      this.#unsaved.delete(key);
    } catch (error) {
      if (!this.#unsaved.has(key)) this.#log('error', 'record not written', { instance: key, why: messageOf(error) });
      this.#unsaved.add(key);
    }
  }

  /** Drops a record: of what was never begun, or nobody asks about any more; its run folder may be another agent's. */
  drop(key: InstanceKey, { keepRun = false } = {}): void {
    this.#instances.delete(key);
    this.#unsaved.delete(key);
    this.#store.remove(key, { keepRun });
  }

  /** Forgets old ends of a VM, so that a crash loop does not fill the disk. */
  prune(vmId: string): void {
    for (const old of forgettable(this.#instances.values(), vmId)) this.drop(keyOf(old));
  }

  /** Forgets what has long ended of VMs that are not listed here: deleted ones, and those that have moved. */
  forgetUnlisted(listed: ReadonlySet<string>, now: number): void {
    for (const old of unlisted(this.#instances.values(), listed, now)) this.drop(keyOf(old));
  }

  folder(key: InstanceKey): string {
    return this.#store.folder(key);
  }

  /** Where all instances' directories are. */
  get root(): string {
    return this.#store.root;
  }

  /** Where agents of earlier releases had the lock of a VM. */
  oldLock(vmId: string): string {
    return this.#store.oldLock(vmId);
  }
}
