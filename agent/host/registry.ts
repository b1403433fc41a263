/** The instances of this host: in memory and, before anything else sees a change, on disk. */
import { type Instance, type InstanceKey, isLive, keyOf } from './instance.ts';
import { forgettable, type InstanceStore } from './store.ts';

export class Registry {
  readonly #store: InstanceStore;
  readonly #instances = new Map<InstanceKey, Instance>();

  constructor(store: InstanceStore) {
    this.#store = store;
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

  add(instance: Instance): void {
    this.#store.save(instance);
    this.#instances.set(keyOf(instance), instance);
  }

  /** Applies a pure change to the present record; null when there is none or nothing changed. */
  change(key: InstanceKey, how: (instance: Instance) => Instance): Instance | null {
    const before = this.#instances.get(key);
    if (before === undefined) return null;
    const next = how(before);
    if (next === before) return null;
    this.add(next);
    return next;
  }

  /** Drops a record of something that was never begun. */
  drop(key: InstanceKey): void {
    this.#store.remove(key);
    this.#instances.delete(key);
  }

  /** Forgets old ends of a VM, so that a crash loop does not fill the disk. */
  prune(vmId: string): void {
    for (const old of forgettable(this.#instances.values(), vmId)) this.drop(keyOf(old));
  }

  folder(key: InstanceKey): string {
    return this.#store.folder(key);
  }

  /** Where all instances' directories are. */
  get root(): string {
    return this.#store.root;
  }

  /** The file whose lock the one live instance of a VM holds. */
  lock(vmId: string): string {
    return this.#store.lock(vmId);
  }
}
