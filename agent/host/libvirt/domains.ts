/** Launches, finds again and ends the libvirt domains behind the instances of type libvirt. */
import { AgentError, messageOf } from '../../failure.ts';
import type { Log } from '../../log.ts';
import type { Environment } from '../../settings.ts';
import { ended, endedUnlaunched, type Instance, type InstanceKey, isLive, keyOf } from '../instance.ts';
import { Looks, newlyWatched, PRESS_EVERY_MS, type Watched } from '../looks.ts';
import type { Registry } from '../registry.ts';
import { conclude, runs } from '../turning-points.ts';
import { consoleFile, tailOf } from './console.ts';
import { DomainEvents } from './events.ts';
import { domainState, type DomainState, type LibvirtRules } from './states.ts';
import { createVirsh, type Virsh } from './virsh.ts';

export type DomainsOptions = {
  readonly registry: Registry;
  readonly rules: LibvirtRules;
  readonly env: Environment;
  readonly bootId: () => string;
  readonly now: () => number;
  readonly log: Log;
  readonly changed: (key: InstanceKey) => void;
};

/** A domain that starts or ends is looked at this often, one that runs more rarely: its events come by themselves. */
const SOON_MS = 500;
const USUAL_MS = 3000;

type LibvirtInstance = Instance & { domain: NonNullable<Instance['domain']> };

export class Domains {
  readonly #options: DomainsOptions;
  readonly #virsh: Virsh;
  readonly #events: DomainEvents;
  readonly #looks: Looks<Watched>;
  /** Launches that this agent has begun: of any other nobody knows whether it is wanted still. */
  readonly #launching = new Set<InstanceKey>();

  constructor(options: DomainsOptions) {
    this.#options = options;
    const { rules, env, registry, now } = options;
    this.#looks = new Looks({
      now,
      soonMs: SOON_MS,
      usualMs: USUAL_MS,
      fresh: newlyWatched,
      look: (key, watched) => this.#look(key, watched),
      settled: (key) => {
        const instance = registry.get(key);
        return instance?.runningAt != null && instance.stop === null;
      },
    });
    this.#virsh = createVirsh(rules.virsh, rules.uri, env);
    this.#events = new DomainEvents({ ...options, onEvent: () => this.#lookAtAll() });
  }

  get watchEveryMs(): number | null {
    return this.#guests().length === 0 ? null : SOON_MS;
  }

  start(key: InstanceKey): void {
    const { registry, now } = this.#options;
    this.#launching.add(key);
    registry.change(key, (instance) => ({ ...instance, launchingAt: now() }));
    void this.#looks.look(key);
  }

  /** libvirt pulls the plug; the next look sees the end. */
  kill(instance: Instance): void {
    if (instance.domain === null) return;
    const key = keyOf(instance);
    this.#virsh('destroy', domainArgument(instance.domain.name)).then(
      () => this.#looks.look(key),
      (error: unknown) => this.#options.log('warn', 'domain not destroyed', { instance: key, why: messageOf(error) }),
    );
  }

  askToEnd(instance: Instance): void {
    void this.#looks.look(keyOf(instance));
  }

  watch(): void {
    const guests = this.#guests();
    if (guests.length > 0) this.#events.listen();
    this.#looks.watch(new Set(guests.map(keyOf)));
  }

  close(): void {
    this.#events.close();
  }

  #guests(): LibvirtInstance[] {
    return this.#options.registry.live().filter((instance) => isLaunched(instance));
  }

  #lookAtAll(): void {
    for (const guest of this.#guests()) void this.#looks.look(keyOf(guest));
  }

  async #look(key: InstanceKey, watched: Watched): Promise<void> {
    try {
      await this.#lookOnce(key, watched).catch(async (error: unknown) => {
        if (!NOT_DEFINED.test(messageOf(error))) throw error;
        await this.#undefined(key, messageOf(error));
      });
    } catch (error) {
      // A daemon that does not answer proves nothing of its domains.
      this.#options.log('warn', 'libvirt does not answer', { instance: key, why: messageOf(error) });
    }
  }

  /** libvirt answers that it has no such domain: it never starts, or it has ended and its definition went with it. */
  async #undefined(key: InstanceKey, why: string): Promise<void> {
    const instance = this.#present(key);
    if (instance === null) return;
    if (instance.domain.life === null) this.#notStarted(key, new AgentError('Host', why));
    else await this.#end(key, { cause: 'Killed', message: 'the domain is gone and no longer defined on its host' });
  }

  async #lookOnce(key: InstanceKey, watched: Watched): Promise<void> {
    const { registry, bootId } = this.#options;
    const instance = this.#present(key);
    if (instance === null) return;
    const { name, life } = instance.domain;
    if (life !== null && life.bootId !== bootId()) {
      await this.#end(key, { cause: 'Killed', message: 'its host has gone down and come up again' });
      return;
    }
    // The id first: a domain that ends between the two questions is seen to have ended.
    const id = life === null ? null : await this.#virsh('domid', domainArgument(name));
    const state = await this.#state(name);
    if (life === null) {
      await this.#launch(key, instance, state);
      return;
    }
    if (state.kind === 'ended') {
      if (state.remains) await this.#virsh('destroy', domainArgument(name));
      const panicked = state.cause === 'Killed' && this.#events.panicked(name);
      await this.#end(key, panicked ? { cause: 'GuestPanic', message: 'the guest has panicked' } : state);
      return;
    }
    // No id: it has just been started again, and the next look will see its new one.
    if (id === NO_ID) return;
    if (id !== life.id) {
      await this.#end(key, { cause: 'Killed', message: `the domain was started again by somebody else (id ${id})` });
      return;
    }
    if (state.kind === 'running') runs(this.#options, key);
    const { stop } = registry.get(key) ?? {};
    if (stop != null && this.#options.now() - watched.pressedAt >= PRESS_EVERY_MS) {
      watched.pressedAt = this.#options.now();
      // Also the plug: the first pull may have met a daemon that did not answer.
      await this.#virsh(stop.forced ? 'destroy' : 'shutdown', domainArgument(name));
    }
  }

  async #state(name: string): Promise<DomainState> {
    return domainState(await this.#virsh('domstate', domainArgument(name), '--reason'));
  }

  /**
   * Starts the domain. One that is active already is this VM's own guest, launched by an agent that was interrupted or
   * by somebody on the host: it is taken over, not started a second time.
   */
  async #launch(key: InstanceKey, { domain: { name }, stop }: LibvirtInstance, before: DomainState): Promise<void> {
    const { log, bootId, registry, changed } = this.#options;
    if (before.kind === 'ended') {
      if (stop !== null) {
        conclude(this.#options, key, (present) =>
          endedUnlaunched(present, stop.cause, 'ended before it was launched', this.#options.now()),
        );
        return;
      }
      if (!this.#launching.has(key)) {
        const why = 'the agent was interrupted before the launch';
        conclude(this.#options, key, (present) => endedUnlaunched(present, 'LaunchFailed', why, this.#options.now()));
        return;
      }
      this.#events.forget(name);
      if (before.remains) await this.#virsh('destroy', domainArgument(name));
      await this.#virsh('start', domainArgument(name)).catch((error: unknown) => this.#notStarted(key, error));
    }
    if (this.#present(key) === null) return;
    const id = await this.#virsh('domid', domainArgument(name));
    log('info', before.kind === 'ended' ? 'domain started' : 'domain found running', {
      instance: key,
      domain: name,
      id,
    });
    this.#launching.delete(key);
    registry.change(key, (present) => ({ ...present, domain: { name, life: { id, bootId: bootId() } } }));
    changed(key);
    await this.#looks.look(key);
  }

  #notStarted(key: InstanceKey, error: unknown): void {
    const why = messageOf(error);
    // Another start of the same domain was quicker: an agent before this one had asked for it.
    if (/already (?:active|running)/.test(why)) return;
    conclude(this.#options, key, (present) => endedUnlaunched(present, 'LaunchFailed', why, this.#options.now()));
  }

  async #end(
    key: InstanceKey,
    { cause, message }: Pick<NonNullable<Instance['guestEnd']>, 'cause' | 'message'>,
  ): Promise<void> {
    const instance = this.#present(key);
    if (instance === null) return;
    const console = await this.#console(instance.domain.name);
    conclude(this.#options, key, (present) =>
      ended({ ...present, guestEnd: { cause, message } }, { code: null, signal: null }, console, this.#options.now()),
    );
  }

  /** The last lines of the domain's console, where its definition sends them to a file. */
  async #console(name: string): Promise<string> {
    try {
      const file = consoleFile(await this.#virsh('dumpxml', domainArgument(name)));
      return file === null ? '' : tailOf(file);
    } catch (error) {
      this.#options.log('warn', 'console not read', { domain: name, why: messageOf(error) });
      return '';
    }
  }

  #present(key: InstanceKey): LibvirtInstance | null {
    const instance = this.#options.registry.get(key);
    return instance !== undefined && isLive(instance) && isLaunched(instance) ? instance : null;
  }
}

/** What virsh says instead of the id of a domain that is not active. */
const NO_ID = '-';
const NOT_DEFINED = /failed to get domain|Domain not found/;

const isLaunched = (instance: Instance): instance is LibvirtInstance =>
  instance.domain !== null && instance.launchingAt !== null;

/** In one word, so that a name that begins with a hyphen is no option. */
const domainArgument = (name: string): string => `--domain=${name}`;
