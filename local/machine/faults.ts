/** What can be made to go wrong with a machine, and what it is offered. */
import * as z from 'zod/mini';

/** true: always; a number: so many times, then no more; false or 0: never. */
const times = z.union([z.boolean(), z.int().check(z.nonnegative())]);

export const faultsSchema = z.strictObject({
  /** The version the update repository offers; null for none. */
  offeredVersion: z.optional(z.nullable(z.string())),
  /** Versions that the repository no longer has: a version-lock cannot get them. */
  withdrawn: z.optional(z.array(z.string())),
  /** prepare chooses anew and writes this, whatever had been chosen. */
  writesVersion: z.optional(z.string()),
  failRefresh: z.optional(times),
  failPrepare: z.optional(times),
  failActivate: z.optional(times),
  failDeactivate: z.optional(times),
  /** The new set does not boot: the machine comes back in the old one. */
  bootsBack: z.optional(times),
  /** Requests to the update API that are answered 423 as if a command were running. */
  busy423: z.optional(times),
  /** Commands that are accepted (204), and nothing comes of them. */
  noProgress: z.optional(times),
  /** Status requests that are answered with half a document. */
  garbleStatus: z.optional(times),
  /** Status requests that are answered with a state and fields that nobody knows, and no last command. */
  oddStatus: z.optional(times),
  /** Status requests that are answered 500 with plain text. */
  breakStatus: z.optional(times),
  /** Reboots that are refused with systemd's text. */
  refuseReboot: z.optional(times),
  /** Reboots that are accepted and do not come. */
  ignoreReboot: z.optional(times),
  /** How long after its commit a changed setting reaches the update command. */
  settingsSeconds: z.optional(z.number().check(z.nonnegative())),
  /** How long a command holds the lock. */
  commandSeconds: z.optional(z.number().check(z.nonnegative())),
  /** How long the machine is down when it reboots. */
  rebootSeconds: z.optional(z.number().check(z.nonnegative())),
});
export type Faults = z.infer<typeof faultsSchema>;

/** What the repository offers under a version-lock. */
export function offeredVersion(faults: Faults, versionLock: string): string | null {
  const locked = versionLock === 'latest' ? (faults.offeredVersion ?? null) : versionLock.replace(/^v/, '');
  return locked === null || faults.withdrawn?.includes(locked) === true ? null : locked;
}

type Countable = {
  [Name in keyof Faults]-?: NonNullable<Faults[Name]> extends number | boolean
    ? boolean extends NonNullable<Faults[Name]>
      ? Name
      : never
    : never;
}[keyof Faults];

/** The faults of one machine: changed while it runs, and used up as they strike. */
export class LiveFaults {
  #faults: Faults;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  get now(): Faults {
    return this.#faults;
  }

  /** Changes some and leaves the others. */
  change(faults: Faults): void {
    this.#faults = { ...this.#faults, ...faults };
  }

  /** Whether the fault strikes this time; one that is counted is then one less. */
  strikes(name: Countable): boolean {
    const value = this.#faults[name] ?? false;
    if (typeof value === 'boolean') return value;
    if (value > 0) this.change({ [name]: value - 1 });
    return value > 0;
  }
}
