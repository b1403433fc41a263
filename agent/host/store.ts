/** Instances on disk: a directory each, with the record, the guest's output, and how it ended. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { flushFolder, readIfThere, writeDurably } from '../durable.ts';
import { QMP_SOCKET } from './qemu/command.ts';
import { type Instance, type InstanceKey, instanceSchema, isLive, keyOf, recovered } from './instance.ts';

/** How many ended instances of one VM are remembered, so that a late list cannot start one again. */
const ENDED_KEPT = 50;

export type InstanceStore = {
  /** Everything remembered; of a record that cannot be read, what its directory's name says. */
  load(now: number): { instances: Instance[]; unreadable: InstanceKey[] };
  save(instance: Instance): void;
  folder(key: InstanceKey): string;
  /** Where all instances' directories are. */
  readonly root: string;
  /** The file whose lock the one live instance of a VM holds, whatever becomes of the agent. */
  lock(vmId: string): string;
  remove(key: InstanceKey): void;
};

export function openInstances(stateDir: string): InstanceStore {
  const root = join(stateDir, 'instances');
  const folder = (key: InstanceKey): string => join(root, key);
  return {
    root,
    folder,
    lock: (vmId) => {
      const locks = join(stateDir, 'locks');
      mkdirSync(locks, { recursive: true });
      return join(locks, vmId);
    },
    remove: (key) => removeFolder(folder(key)),
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
        if (vmId === undefined || instanceId === undefined || instanceId.endsWith(ASIDE)) continue;
        const instance = parseInstance(readIfThere(join(root, name, 'instance.json')));
        if (instance === null) unreadable.push(name);
        const driver = existsSync(join(root, name, QMP_SOCKET)) ? 'qemu' : 'exec';
        instances.push(instance ?? recovered({ vmId, instanceId }, driver, now));
      }
      return { instances, unreadable };
    },
  };
}

/** The ended instances of a VM that may be forgotten: told, and not among the latest. */
export function forgettable(instances: Iterable<Instance>, vmId: string): Instance[] {
  return [...instances]
    .filter((instance) => instance.vmId === vmId && !isLive(instance) && instance.told.end)
    .toSorted((a, b) => b.acceptedAt - a.acceptedAt)
    .slice(ENDED_KEPT);
}

/** No id ends so: a name ends with a letter or a digit. */
const ASIDE = '.gone-';

/** Removes a directory so that a kill in between leaves none that looks like an unreadable instance. */
function removeFolder(own: string): void {
  renameSync(own, `${own}${ASIDE}`);
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
