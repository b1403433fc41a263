/** What libvirt says by itself: a hint to look at once, and the one fact that a later look cannot see, a guest's panic. */
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

/** `virsh event --all --loop`, kept running while there is a domain to hear of. */
export class DomainEvents {
  readonly #options: EventsOptions;
  readonly #panicked = new Set<string>();
  #child: ChildProcess | null = null;
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  /** Whether a domain's guest was heard to panic in its present life. */
  panicked(domain: string): boolean {
    return this.#panicked.has(domain);
  }

  /** A new life of a domain begins. */
  forget(domain: string): void {
    this.#panicked.delete(domain);
  }

  listen(): void {
    const { rules, now, log, onEvent } = this.#options;
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
    createInterface({ input: child.stdout }).on('line', (line) => {
      const domain = PANICKED.exec(line)?.[1];
      if (domain !== undefined) this.#panicked.add(domain);
      onEvent();
    });
    child.unref();
  }

  close(): void {
    this.#child?.kill('SIGTERM');
  }
}
