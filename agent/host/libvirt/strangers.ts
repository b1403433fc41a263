/** Domains that run although they should not, or start by themselves with their host (DESIGN section 3 rule 11). */
import type { Unexpected } from '../../../core/contract/agent-bodies.ts';
import { messageOf } from '../../failure.ts';
import type { Log } from '../../log.ts';
import { isLive } from '../instance.ts';
import type { Registry } from '../registry.ts';
import type { Virsh } from './virsh.ts';

export type StrangersOptions = {
  readonly registry: Registry;
  readonly virsh: Virsh;
  readonly now: () => number;
  readonly log: Log;
  /** Something may be to be told. */
  readonly watching: () => void;
};

const LOOK_EVERY_MS = 30_000;

export class Strangers {
  readonly #options: StrangersOptions;
  #seen: readonly Unexpected[] | null = null;
  #lookAt = Number.NEGATIVE_INFINITY;

  constructor(options: StrangersOptions) {
    this.#options = options;
  }

  /** As seen last; null: nobody has looked yet. */
  seen(): readonly Unexpected[] | null {
    return this.#seen;
  }

  /** Looks now and then, as long as this host knows a domain of ours: those of others are not our affair. */
  watch(): void {
    const { registry, now, log, watching } = this.#options;
    if (now() - this.#lookAt < LOOK_EVERY_MS) return;
    if (![...registry.all().values()].some(({ domain }) => domain !== null)) {
      this.#seen = [];
      return;
    }
    this.#lookAt = now();
    this.#look()
      .then(watching)
      .catch((error: unknown) => log('warn', 'domains not listed', { why: messageOf(error) }));
  }

  async startsByItself(domain: string): Promise<boolean> {
    return (await this.#names('--all', '--autostart')).has(domain);
  }

  async #look(): Promise<void> {
    const [active, byItself] = [await this.#names(), await this.#names('--all', '--autostart')];
    const known = [...this.#options.registry.all().values()];
    const names = new Set(known.flatMap(({ domain }) => domain?.name ?? []));
    this.#seen = [...names].flatMap((name): Unexpected[] => {
      const ours = known.filter(({ domain }) => domain?.name === name);
      const live = ours.find((instance) => isLive(instance));
      const { vmId } = live ?? ours.toSorted((a, b) => b.order - a.order)[0] ?? {};
      const whose = { name, ...(vmId === undefined ? {} : { vmId }) };
      const autostart = byItself.has(name) ? { autostart: true } : {};
      if (live !== undefined)
        return byItself.has(name) ? [{ ...whose, instanceId: live.instanceId, ...autostart }] : [];
      return active.has(name) || byItself.has(name) ? [{ ...whose, ...autostart }] : [];
    });
  }

  async #names(...which: string[]): Promise<ReadonlySet<string>> {
    const text = await this.#options.virsh('list', '--name', ...which);
    return new Set(
      text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
    );
  }
}
