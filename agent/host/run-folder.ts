/**
 * What a host keeps in memory of its guests, in one place for all of its agents: the locks of VMs and, of each instance,
 * what its wrapper and the agent say to each other. It is gone with the boot, as the guests are, and has room when the
 * disk is full.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secondsToMs } from '../boot-clock.ts';
import { readIfThere } from '../durable.ts';
import { systemCode } from '../failure.ts';
import type { Exit } from './ends.ts';
import type { InstanceKey } from './instance.ts';
import type { Lease } from './lease.ts';

export class RunFolders {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** The file whose lock the one live instance of a VM holds, whatever becomes of the agent. */
  lock(vmId: string): string {
    const locks = join(this.#root, 'locks');
    mkdirSync(locks, { recursive: true, mode: 0o700 });
    return join(locks, vmId);
  }

  /** Where an agent notes when it has looked at its guests: agents are told apart by where their records are. */
  lastLookFile(records: string): string {
    return join(this.#root, `looked-${createHash('sha256').update(records).digest('hex').slice(0, 16)}`);
  }

  /** Where an instance's folder is; made when it is to be begun. */
  path(key: InstanceKey): string {
    return join(this.#root, 'instances', key);
  }

  make(key: InstanceKey): string {
    const own = this.path(key);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return own;
  }

  remove(key: InstanceKey): void {
    rmSync(this.path(key), { recursive: true, force: true });
  }

  /** Whether a wrapper, of whichever agent, has claimed the instance on this host since it was booted. */
  claimed(key: InstanceKey): boolean {
    return existsSync(join(this.path(key), 'claim'));
  }

  /** Claims an instance for nobody; false when a wrapper had claimed it before. */
  claimUnstarted(key: InstanceKey): boolean {
    try {
      mkdirSync(join(this.make(key), 'claim'));
      return true;
    } catch (error) {
      if (systemCode(error) === 'EEXIST') return false;
      throw error;
    }
  }

  /** Says until when the guest may run; null: for ever. */
  writeLease(key: InstanceKey, lease: Lease | null): void {
    const text = lease === null ? 'none none' : `${wholeSeconds(lease.stopAt)} ${wholeSeconds(lease.killAt)}`;
    const file = join(this.path(key), 'lease');
    writeFileSync(`${file}.new`, `${text}\n`);
    renameSync(`${file}.new`, file);
  }

  /** The lease as the wrapper has it; null: there is none. */
  readLease(key: InstanceKey): Lease | null {
    return parseLease(readIfThere(join(this.path(key), 'lease')));
  }

  /** The lease that has run out, if the wrapper has begun to end its guest. */
  expired(key: InstanceKey): Lease | null {
    return parseLease(readIfThere(join(this.path(key), 'expired')));
  }

  /** Whether the wrapper ran nothing because another instance of its VM still holds the lock. */
  refused(key: InstanceKey): boolean {
    return existsSync(join(this.path(key), 'refused'));
  }

  /** How the guest ended and when, as the wrapper wrote it; null when it could not. */
  exit(key: InstanceKey): Exit | null {
    return parseExit(readIfThere(join(this.path(key), 'exit')));
  }

  /** A pid that stands there: of the wrapper, or of the guest. */
  pid(key: InstanceKey, whose: 'pid' | 'guest'): number | null {
    const pid = Number.parseInt(readIfThere(join(this.path(key), whose)) ?? '', 10);
    return Number.isInteger(pid) ? pid : null;
  }

  /** Says to a domain's wrapper which life it watches over. */
  writeLife(key: InstanceKey, life: string): void {
    writeFileSync(join(this.path(key), 'life'), `${life}\n`);
  }

  /** Says to a domain's wrapper that there is nothing to watch over any more. */
  writeOver(key: InstanceKey): void {
    if (existsSync(this.path(key))) writeFileSync(join(this.path(key), 'over'), '');
  }
}

/** Rounded down: the wrapper's clock has whole seconds, and a lease is never longer than was said. */
const wholeSeconds = (ms: number): number => Math.floor(ms / 1000);

/** `code` and, since wrappers note it, the seconds since boot. */
export function parseExit(text: string | null): Exit | null {
  const [code, at] = (text ?? '').trim().split(' ');
  const number = Number.parseInt(code ?? '', 10);
  return Number.isInteger(number)
    ? { code: number, signal: null, at: at === undefined ? null : secondsToMs(at) }
    : null;
}

function parseLease(text: string | null): Lease | null {
  const [stopAt, killAt] = (text ?? '').trim().split(' ').map(Number);
  if (stopAt === undefined || killAt === undefined || !Number.isFinite(stopAt) || !Number.isFinite(killAt)) return null;
  return { stopAt: stopAt * 1000, killAt: killAt * 1000 };
}
