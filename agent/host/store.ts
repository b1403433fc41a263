/** Instances on disk: a directory each, with the record and the guest's output. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { flushFolder, readIfThere, writeDurably } from '../durable.ts';
import { systemCode } from '../failure.ts';
import { QMP_SOCKET } from './qemu/command.ts';
import { type Instance, type InstanceKey, instanceSchema, isLive, keyOf, onBootClock, recovered } from './instance.ts';
import { RunFolders } from './run-folder.ts';

/** How many ended instances of one VM are remembered, so that a late list cannot start one again. */
const ENDED_KEPT = 20;
/** How long those of a VM are that is not listed here any more: no list is so late. */
const UNLISTED_KEPT_MS = 60 * 60_000;

export type InstanceStore = {
  /** Everything remembered; of a record that cannot be read, what its directory's name says. */
  load(now: number): { instances: Instance[]; unreadable: InstanceKey[] };
  save(instance: Instance): void;
  folder(key: InstanceKey): string;
  /** Where all instances' directories are. */
  readonly root: string;
  /** What is kept in memory, in one place for all agents of this host. */
  readonly runs: RunFolders;
  oldLock(vmId: string): string;
  remove(key: InstanceKey, how: { keepRun: boolean }): void;
};

export function openInstances(stateDir: string, guestsDir: string): InstanceStore {
  const root = join(stateDir, 'instances');
  const runs = new RunFolders(guestsDir);
  const folder = (key: InstanceKey): string => join(root, key);
  return {
    root,
    runs,
    folder,
    oldLock: (vmId) => join(stateDir, 'locks', vmId),
    remove: (key, { keepRun }) => {
      removeFolder(folder(key));
      if (!keepRun) runs.remove(key);
    },
    save: (instance) => {
      const own = folder(keyOf(instance));
      const isNew = !existsSync(own);
      mkdirSync(own, { recursive: true });
      if (isNew) flushFolder(root);
      writeDurably(join(own, 'instance.json'), `${JSON.stringify(instance)}\n`);
    },
    load: (now) => {
      mkdirSync(root, { recursive: true });
      const instances: Instance[] = [];
      const unreadable: InstanceKey[] = [];
      for (const name of readdirSync(root)) {
        const [vmId, instanceId] = name.split('@');
        if (vmId === undefined || instanceId === undefined) continue;
        if (instanceId.includes(ASIDE)) {
          // An agent was ended while it removed this one.
          rmSync(join(root, name), { recursive: true, force: true });
          continue;
        }
        const instance = parseInstance(readIfThere(join(root, name, 'instance.json')));
        if (instance === null) unreadable.push(name);
        const qemu = [runs.path(name), join(root, name)].some((place) => existsSync(join(place, QMP_SOCKET)));
        const unknown = (): Instance => recovered({ vmId, instanceId }, qemu ? 'qemu' : 'exec', { now, bootId: null });
        instances.push(instance === null ? unknown() : onBootClock(instance, now, Date.now()));
      }
      return { instances, unreadable };
    },
  };
}

/** The ended instances of a VM that may be forgotten: told, and not among the latest. */
export const forgettable = (instances: Iterable<Instance>, vmId: string): Instance[] =>
  told(instances)
    .filter((instance) => instance.vmId === vmId)
    .toSorted((a, b) => b.order - a.order)
    .slice(ENDED_KEPT);

/** Those that may be forgotten because their VM is not listed here: told, and long over, or of another boot. */
export const unlisted = (instances: Iterable<Instance>, listed: ReadonlySet<string>, now: number): Instance[] =>
  told(instances).filter(({ vmId, end }) => {
    const ago = now - (end?.at ?? now);
    return !listed.has(vmId) && (ago < 0 || ago > UNLISTED_KEPT_MS);
  });

const told = (instances: Iterable<Instance>): Instance[] =>
  [...instances].filter((instance) => !isLive(instance) && instance.told.end);

/** No id ends so: a name ends with a letter or a digit. */
const ASIDE = '.gone-';

/** Removes a directory so that a kill in between leaves none that looks like an unreadable instance. */
function removeFolder(own: string): void {
  try {
    renameSync(own, `${own}${ASIDE}`);
  } catch (error) {
    // It could never be written.
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  rmSync(`${own}${ASIDE}`, { recursive: true, force: true });
}

function parseInstance(text: string | null): Instance | null {
  if (text === null) return null;
  try {
    const parsed = instanceSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
