/** What a node's report says of its VMs, and when it has to be said before the next report is due. */
import type { NodeReport, Unexpected } from '../../core/contract/agent-bodies.ts';
import type { Delivery } from './delivery.ts';
import type { Guests } from './guests.ts';
import { isLive } from './instance.ts';
import type { Prompt } from './listing.ts';
import type { Registry } from './registry.ts';
import { seenOf } from './told.ts';

type VmsFields = Pick<NodeReport, 'instances' | 'unexpected' | 'vmsTag'>;

/** What is to be done with the answer to a report, too. */
export type VmsReport = {
  readonly fields: VmsFields;
  readonly answered: (answer: { readonly leaseSeconds?: number; readonly listing: Prompt | null }) => void;
};

/** What a report has room for (core/contract/agent-bodies.ts). */
const INSTANCES_MAX = 1000;
const UNEXPECTED_MAX = 100;
/** A guest that resets itself again and again makes its host report no more often than this. */
const NEWS_EVERY_MS = 5000;

type VmsReporterOptions = {
  readonly registry: Registry;
  readonly delivery: Pick<Delivery, 'orphans'>;
  readonly guests: Pick<Guests, 'unexpected'>;
  readonly now: () => number;
};

export class VmsReporter {
  readonly #options: VmsReporterOptions;
  #told: string | null = null;
  #nextNewsAt = Number.NEGATIVE_INFINITY;

  constructor(options: VmsReporterOptions) {
    this.#options = options;
  }

  /** For a report that is about to be sent. */
  fields(sentAt: number): VmsFields {
    const instances = [...this.#options.registry.all().values()].flatMap((instance) => seenOf(instance, sentAt) ?? []);
    const unexpected = this.#unexpected();
    this.#told = this.#news();
    return {
      ...(instances.length === 0 ? {} : { instances: instances.slice(0, INSTANCES_MAX) }),
      // Said when it is nothing, too: what was known before stands until then.
      ...(unexpected === null ? {} : { unexpected }),
    };
  }

  /**
   * Whether something is to be said that only a node's report says, and that a person should see at once: what keeps a
   * guest from running, its resets, and what runs although it should not (DESIGN section 3 rule 11).
   */
  hasNews(): boolean {
    const now = this.#options.now();
    if (this.#told === null || now < this.#nextNewsAt || this.#news() === this.#told) return false;
    this.#nextNewsAt = now + NEWS_EVERY_MS;
    return true;
  }

  #news(): string {
    const ailing = this.#options.registry.live().flatMap(({ instanceId, condition, resets }) => {
      if (condition === null && resets.count === 0) return [];
      return [[instanceId, condition?.kind ?? null, resets.count]];
    });
    const unexpected = this.#unexpected();
    return JSON.stringify([ailing, unexpected]);
  }

  #unexpected(): Unexpected[] | null {
    const { registry, delivery, guests } = this.#options;
    const found = guests.unexpected();
    if (found === null) return null;
    const orphans = [...delivery.orphans()].flatMap((key): Unexpected[] => {
      const instance = registry.get(key);
      if (instance === undefined || !isLive(instance)) return [];
      const { vmId, instanceId, domain } = instance;
      return [{ name: domain?.name ?? vmId, vmId, instanceId }];
    });
    return [...found, ...orphans].slice(0, UNEXPECTED_MAX);
  }
}
