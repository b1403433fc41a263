/** The wrappers of libvirt domains: each holds the lock of its VM, and is the dead-man's switch of its domain. */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../settings.ts';
import { signalGroup } from '../../process-group.ts';
import { identify, isRunning, type ProcessIdentity, readProcFile } from '../../process-identity.ts';
import { type Instance, keyOf } from '../instance.ts';
import { leaseOf } from '../lease.ts';
import { guestEnvironment, findWrapper } from '../process.ts';
import type { Registry } from '../registry.ts';
import type { RunFolders } from '../run-folder.ts';
import { DOMAIN_WRAPPER, WRAPPER_NAME } from '../wrapper.ts';
import type { LibvirtRules } from './states.ts';

export type WrappersOptions = {
  readonly registry: Registry;
  readonly runs: RunFolders;
  readonly rules: LibvirtRules;
  readonly env: Environment;
};

/** What became of a wrapper: it watches over the domain; another instance has the lock; it could not be started. */
export type WrapperState = 'watches' | 'locked' | 'claimed' | 'failed';

/** How long a wrapper may take until it holds the lock. */
const READY_MS = 10_000;

export class Wrappers {
  readonly #options: WrappersOptions;

  constructor(options: WrappersOptions) {
    this.#options = options;
  }

  /** Sees to it that the instance has a wrapper; `again`: it has had one in this life of its domain. */
  async ensure(
    instance: Instance & { domain: NonNullable<Instance['domain']> },
    again: boolean,
  ): Promise<WrapperState> {
    const { registry, runs, rules, env } = this.#options;
    const key = keyOf(instance);
    const folder = registry.folder(key);
    if (findWrapper(runs, key, folder) !== null) return 'watches';
    const run = runs.make(key);
    runs.writeLease(key, leaseOf(instance));
    const locks = [runs.lock(instance.vmId), registry.oldLock(instance.vmId)];
    const libvirt = [rules.virsh, rules.uri, instance.domain.name, again ? 'again' : ''];
    const child = spawn('/bin/sh', ['-c', DOMAIN_WRAPPER, WRAPPER_NAME, folder, run, ...locks, ...libvirt], {
      detached: true,
      stdio: 'ignore',
      // virsh may need to know where the user's own daemon is.
      env: { ...guestEnvironment(env, run), LC_ALL: 'C' },
      cwd: '/',
    });
    let exit: number | null = null;
    child.on('error', () => {
      exit = -1;
    });
    child.on('exit', (code) => {
      exit = code ?? -1;
    });
    child.unref();
    for (let waited = 0; waited < READY_MS; waited += POLL_MS) {
      if (exit !== null) break;
      if (findWrapper(runs, key, folder)?.pid === child.pid) return 'watches';
      await sleep(POLL_MS, undefined, { ref: false });
    }
    if (exit === CLAIMED) return 'claimed';
    return runs.refused(key) ? 'locked' : 'failed';
  }

  /** Nothing is left to watch over: the wrapper goes, and the lock of the VM with it, before the end is told. */
  async end(instance: Instance): Promise<void> {
    const { registry, runs } = this.#options;
    const key = keyOf(instance);
    runs.writeOver(key);
    const wrapper = findWrapper(runs, key, registry.folder(key));
    if (wrapper === null) return;
    signalGroup(wrapper.pid, 'SIGKILL');
    for (let waited = 0; waited < READY_MS && isRunning(wrapper); waited += POLL_MS)
      await sleep(POLL_MS, undefined, { ref: false });
  }

  /** Tells the wrapper which life of the domain it watches over, and which process of the host that is. */
  saysLife(instance: Instance, id: string, qemu: ProcessIdentity | null): void {
    const process = qemu === null ? '' : ` ${qemu.pid} ${qemu.startTime}`;
    this.#options.runs.writeLife(keyOf(instance), `${id}${process}`);
  }
}

const POLL_MS = 25;
/** What the wrapper exits with when the instance was claimed before it. */
const CLAIMED = 125;

/** The QEMU of a domain: libvirt gives it the domain's UUID on its command line. Null for another hypervisor. */
export function qemuOf(uuid: string): ProcessIdentity | null {
  if (uuid === '') return null;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const args = (readProcFile(pid, 'cmdline') ?? '').split('\0');
    if (args[args.indexOf('-uuid') + 1] !== uuid || !args.includes('-uuid')) continue;
    const identity = identify(pid);
    if (identity !== null && isRunning(identity)) return identity;
  }
  return null;
}
