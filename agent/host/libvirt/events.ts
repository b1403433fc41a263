/** What libvirt says by itself: a hint to look at once, and what a later look cannot see: a guest's panic, its resets. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { messageOf } from '../../failure.ts';
import type { Log } from '../../log.ts';
import type { LibvirtRules } from './states.ts';

export type EventsOptions = {
  readonly rules: LibvirtRules;
  readonly now: () => number;
  readonly log: Log;
  readonly onEvent: () => void;
};

/** A listener that has ended is not started again sooner. */
const AGAIN_AFTER_MS = 10_000;
const PANICKED = /^event 'lifecycle' for domain '?(.+?)'?: Crashed Panicked/;
const REBOOTED = /^event 'reboot' for domain '?(.+?)'?$/;
/** Instants that are kept of a domain's resets. */
const RESETS_KEPT = 100;

/** `virsh event --all --loop`, kept running while there is a domain to hear of. */
export class DomainEvents {
  readonly #options: EventsOptions;
  readonly #panicked = new Set<string>();
  readonly #resets = new Map<string, number[]>();
  #child: ChildProcess | null = null;
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  /** Whether a domain's guest was heard to panic in its present life. */
  panicked(domain: string): boolean {
    return this.#panicked.has(domain);
  }

  /** When a domain's guest was heard to reset itself since the last time somebody asked. */
  takeResets(domain: string): readonly number[] {
    const heard = this.#resets.get(domain) ?? [];
    this.#resets.delete(domain);
    return heard;
  }

  /** A new life of a domain begins. */
  forget(domain: string): void {
    this.#panicked.delete(domain);
    this.#resets.delete(domain);
  }

  listen(): void {
    const { rules, now, log } = this.#options;
    if (this.#child !== null || now() - this.#startedAt < AGAIN_AFTER_MS) return;
    this.#startedAt = now();
    const child = spawn(rules.virsh, ['-c', rules.uri, 'event', '--all', '--loop'], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    });
    this.#child = child;
    child.on('error', (error) => log('warn', 'libvirt events not heard', { why: messageOf(error) }));
    child.on('close', () => {
      this.#child = null;
    });
    // Without descriptors left it has no pipe; the error says so.
    if (child.pid === undefined) return;
    createInterface({ input: child.stdout }).on('line', (line) => this.#take(line));
    child.unref();
  }

  #take(line: string): void {
    const panicked = PANICKED.exec(line)?.[1];
    if (panicked !== undefined) this.#panicked.add(panicked);
    const rebooted = REBOOTED.exec(line)?.[1];
    if (rebooted !== undefined) {
      const heard = this.#resets.get(rebooted) ?? [];
      this.#resets.set(rebooted, [...heard, this.#options.now()].slice(-RESETS_KEPT));
    }
    this.#options.onEvent();
  }

  close(): void {
    this.#child?.kill('SIGTERM');
  }
}
