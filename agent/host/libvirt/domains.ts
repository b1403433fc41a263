/** Launches, finds again and ends the libvirt domains behind the instances of type libvirt. */
import type { Unexpected } from '../../../core/contract/agent-bodies.ts';
import { AgentError, messageOf } from '../../failure.ts';
import type { Log } from '../../log.ts';
import type { Environment } from '../../settings.ts';
import { ended, endedUnlaunched, endedWithHost } from '../ends.ts';
import { type Instance, type InstanceKey, isLive, keyOf } from '../instance.ts';
import { Looks, newlyWatched, PRESS_EVERY_MS, type Watched as Looked } from '../looks.ts';
import { leftToAnother, RAN_BEFORE } from '../claims.ts';
import { isStopped } from '../process.ts';
import type { Registry } from '../registry.ts';
import type { RunFolders } from '../run-folder.ts';
import { resetsSeen } from '../running.ts';
import { conclude, isSeen, runs } from '../turning-points.ts';
import { consoleFile, tailOf } from './console.ts';
import { DomainEvents } from './events.ts';
import { domainState, type DomainState, type LibvirtRules } from './states.ts';
import { Strangers } from './strangers.ts';
import { createVirsh, type Virsh } from './virsh.ts';
import { qemuOf, Wrappers, type WrapperState } from './wrappers.ts';

export type DomainsOptions = {
  readonly registry: Registry;
  readonly runs: RunFolders;
  readonly rules: LibvirtRules;
  readonly env: Environment;
  readonly bootId: () => string;
  readonly now: () => number;
  /** When this host's guests were last known to be as they were said to be, before this agent; null: never. */
  readonly lastLookAt: number | null;
  readonly log: Log;
  readonly changed: (key: InstanceKey) => void;
  /** There is something to watch, or to tell, from now on. */
  readonly watching: () => void;
};

/** A domain that starts or ends is looked at this often, one that runs more rarely: its events come by themselves. */
const SOON_MS = 500;
const USUAL_MS = 3000;
/** Between tries to let a guest go on that an I/O error has paused. */
const CONTINUE_EVERY_MS = 5000;
/** A look that comes so much later than the last one says nothing of when things happened in between. */
const GAP_MS = 10_000;

type LibvirtInstance = Instance & { domain: NonNullable<Instance['domain']> };
type Watched = Looked & { continuedAt: number | null; seenAt: number | null; qemu: number | null; guarded: boolean };

export class Domains {
  readonly #options: DomainsOptions;
  readonly #virsh: Virsh;
  readonly #events: DomainEvents;
  readonly #looks: Looks<Watched>;
  readonly #wrappers: Wrappers;
  readonly #strangers: Strangers;
  /** Launches that this agent has begun: of any other nobody knows whether it is wanted still. */
  readonly #launching = new Set<InstanceKey>();

  constructor(options: DomainsOptions) {
    this.#options = options;
    const { rules, env, registry, now, lastLookAt } = options;
    this.#looks = new Looks<Watched>({
      now,
      soonMs: SOON_MS,
      usualMs: USUAL_MS,
      fresh: () => ({ ...newlyWatched(), continuedAt: null, seenAt: lastLookAt, qemu: null, guarded: false }),
      look: (key, watched) => this.#look(key, watched),
      settled: (key) => {
        const instance = registry.get(key);
        return instance?.runningAt != null && instance.stop === null;
      },
    });
    this.#virsh = createVirsh(rules.virsh, rules.uri, env);
    this.#events = new DomainEvents({ ...options, onEvent: () => this.#lookAtAll() });
    this.#wrappers = new Wrappers(options);
    this.#strangers = new Strangers({ ...options, virsh: this.#virsh });
  }

  get watchEveryMs(): number | null {
    return this.#guests().length === 0 ? null : SOON_MS;
  }

  /** What runs here although it should not, or may begin to by itself, as it was seen last; null: not looked yet. */
  unexpected(): readonly Unexpected[] | null {
    return this.#strangers.seen();
  }

  start(key: InstanceKey): void {
    const { registry, now } = this.#options;
    this.#launching.add(key);
    try {
      registry.changeFirst(key, (instance) => ({ ...instance, launchingAt: now() }));
    } catch (error) {
      void this.#refuse(key, `cannot be launched: ${messageOf(error)}`);
      return;
    }
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
    this.#strangers.watch();
  }

  close(): void {
    this.#events.close();
  }

  /** The last of a domain's console, where its definition sends it to a file. */
  async console({ domain }: Instance, bytes?: number): Promise<string> {
    if (domain === null) return '';
    try {
      const file = consoleFile(await this.#virsh('dumpxml', domainArgument(domain.name)));
      return file === null ? '' : tailOf(file, bytes);
    } catch (error) {
      this.#options.log('warn', 'console not read', { domain: domain.name, why: messageOf(error) });
      return '';
    }
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
    if (instance.domain.life === null) await this.#notStarted(key, new AgentError('Host', why));
    else await this.#end(key, { cause: 'Killed', message: 'the domain is gone and no longer defined on its host' });
  }

  async #lookOnce(key: InstanceKey, watched: Watched): Promise<void> {
    const { registry, bootId, now } = this.#options;
    const instance = this.#present(key);
    if (instance === null) return;
    const { name, life } = instance.domain;
    if (life !== null && life.bootId !== bootId()) {
      conclude(this.#options, key, (present) => endedWithHost(present, now()));
      return;
    }
    if (life === null && this.#launching.has(key) && !(await this.#guard(key, instance, watched))) return;
    // The id first: a domain that ends between the two questions is seen to have ended.
    const id = life === null ? null : await this.#virsh('domid', domainArgument(name));
    const state = await this.#state(name);
    if (life === null) {
      await this.#launch(key, instance, state, watched);
      return;
    }
    if (state.kind === 'ended') {
      if (state.remains) await this.#virsh('destroy', domainArgument(name));
      const panicked = state.cause === 'Killed' && this.#events.panicked(name);
      const at = this.#endedAt(watched);
      await this.#end(key, { ...(panicked ? { cause: 'GuestPanic', message: 'the guest has panicked' } : state), at });
      return;
    }
    // No id: it has just been started again, and the next look will see its new one.
    if (id === NO_ID) return;
    if (id !== life.id) {
      await this.#end(key, { cause: 'Killed', message: `the domain was started again by somebody else (id ${id})` });
      return;
    }
    watched.seenAt = now();
    await this.#guard(key, instance, watched);
    await this.#lives(key, name, state, watched);
    const { stop } = registry.get(key) ?? {};
    if (stop != null && now() - watched.pressedAt >= PRESS_EVERY_MS) {
      watched.pressedAt = now();
      // Also the plug: the first pull may have met a daemon that did not answer.
      await this.#virsh(stop.forced ? 'destroy' : 'shutdown', domainArgument(name));
    }
  }

  async #lives(key: InstanceKey, name: string, state: DomainState, watched: Watched): Promise<void> {
    const { registry, now } = this.#options;
    const heard = this.#events.takeResets(name);
    if (heard.length > 0)
      registry.change(key, (present) =>
        resetsSeen(present, present.resets.count + heard.length, [...present.resets.at, ...heard]),
      );
    if (watched.qemu !== null && isStopped(watched.qemu)) {
      isSeen(this.#options, key, 'Stopped');
      return;
    }
    if (state.kind === 'running') {
      runs(this.#options, key);
      isSeen(this.#options, key, null);
    }
    if (state.kind !== 'present' || state.condition === null) return;
    if (state.condition === 'IoError') runs(this.#options, key);
    isSeen(this.#options, key, state.condition);
    const due = watched.continuedAt === null || now() - watched.continuedAt >= CONTINUE_EVERY_MS;
    if (state.condition !== 'IoError' || !due || registry.get(key)?.stop != null) return;
    watched.continuedAt = now();
    await this.#virsh('resume', domainArgument(name));
  }

  /** Nothing is started without a wrapper that holds the lock and would end it; false when there is none. */
  async #guard(key: InstanceKey, instance: LibvirtInstance, watched: Watched): Promise<boolean> {
    const { life } = instance.domain;
    if (watched.guarded && life === null) return true;
    const state = await this.#wrappers.ensure(instance, life !== null);
    if (state === 'watches') {
      watched.guarded = true;
      this.#options.registry.change(key, (present) => (present.guarded ? present : { ...present, guarded: true }));
      if (life !== null && watched.qemu === null) await this.#findQemu(instance, life.id, watched);
      return true;
    }
    if (life !== null) {
      this.#options.log('warn', 'domain without a wrapper', { instance: key, why: state });
      return true;
    }
    this.#launching.delete(key);
    if (state === 'claimed' && leftToAnother(this.#options, key)) return false;
    if (state === 'claimed') this.#ran(key);
    else await this.#refuse(key, NOT_GUARDED[state]);
    return false;
  }

  /** Which process it is: looked for when the domain has got a life, and by an agent that finds it again. */
  async #findQemu(instance: LibvirtInstance, id: string, watched: Watched): Promise<void> {
    const qemu = qemuOf(await this.#virsh('domuuid', domainArgument(instance.domain.name)));
    watched.qemu = qemu?.pid ?? null;
    this.#wrappers.saysLife(instance, id, qemu);
  }

  async #state(name: string): Promise<DomainState> {
    return domainState(await this.#virsh('domstate', domainArgument(name), '--reason'));
  }

  /**
   * Starts the domain. One that is active already is this VM's own guest, launched by an agent that was interrupted or
   * by somebody on the host: it is taken over, not started a second time.
   */
  async #launch(key: InstanceKey, instance: LibvirtInstance, before: DomainState, watched: Watched): Promise<void> {
    const { log, bootId, registry, changed, now } = this.#options;
    const { name } = instance.domain;
    const { stop } = instance;
    if (before.kind === 'ended') {
      if (stop !== null) {
        const why = 'ended before it was launched';
        conclude(this.#options, key, (present) => endedUnlaunched(present, stop.cause, why, now()));
        return;
      }
      if (!this.#launching.has(key)) {
        await this.#refuse(key, 'the agent was interrupted before the launch');
        return;
      }
      if (instance.terms?.elsewhere === true && (await this.#strangers.startsByItself(name))) {
        await this.#refuse(key, autostartRefusal(name));
        return;
      }
      this.#events.forget(name);
      if (before.remains) await this.#virsh('destroy', domainArgument(name));
      await this.#virsh('start', domainArgument(name)).catch((error: unknown) => this.#notStarted(key, error));
    }
    if (this.#present(key) === null) return;
    const id = await this.#virsh('domid', domainArgument(name));
    const said = before.kind === 'ended' ? 'domain started' : 'domain found running';
    log('info', said, { instance: key, domain: name, id });
    this.#launching.delete(key);
    registry.change(key, (present) => ({ ...present, domain: { name, life: { id, bootId: bootId() } } }));
    await this.#findQemu(instance, id, watched);
    changed(key);
    await this.#looks.look(key);
  }

  async #notStarted(key: InstanceKey, error: unknown): Promise<void> {
    const why = messageOf(error);
    // Another start of the same domain was quicker: an agent before this one had asked for it.
    if (!/already (?:active|running)/.test(why)) await this.#refuse(key, why);
  }

  /** It never ran: its wrapper goes first, so that the lock is free when that is told. */
  async #refuse(key: InstanceKey, why: string): Promise<void> {
    const instance = this.#options.registry.get(key);
    if (instance === undefined) return;
    try {
      await this.#wrappers.end(instance);
    } catch (error) {
      this.#options.log('warn', 'wrapper not ended', { instance: key, why: messageOf(error) });
    }
    conclude(this.#options, key, (present) => endedUnlaunched(present, 'LaunchFailed', why, this.#options.now()));
  }

  #ran(key: InstanceKey): void {
    conclude(this.#options, key, (present) => endedUnlaunched(present, 'Unknown', RAN_BEFORE, this.#options.now()));
  }

  /** Now, or as it was seen last when nobody has looked for a while. */
  #endedAt({ seenAt }: Watched): number {
    const now = this.#options.now();
    return seenAt !== null && now - seenAt > GAP_MS ? seenAt : now;
  }

  async #end(
    key: InstanceKey,
    { cause, message, at }: Pick<NonNullable<Instance['guestEnd']>, 'cause' | 'message' | 'at'>,
  ): Promise<void> {
    const { now, runs: folders } = this.#options;
    const instance = this.#present(key);
    if (instance === null) return;
    const console = await this.console(instance);
    const over = folders.expired(key);
    // Its VM's next instance may be asked for as soon as the end is told.
    await this.#wrappers.end(instance);
    const guestEnd = { cause, message, at: at ?? now() };
    conclude(this.#options, key, (present) => {
      const lost = over === null ? null : { cause: 'HostLost' as const, killAt: over.killAt, forced: false };
      return ended(
        { ...present, guestEnd: present.guestEnd ?? guestEnd, stop: present.stop ?? lost },
        NO_EXIT,
        console,
        now(),
      );
    });
  }

  #present(key: InstanceKey): LibvirtInstance | null {
    const instance = this.#options.registry.get(key);
    return instance !== undefined && isLive(instance) && isLaunched(instance) ? instance : null;
  }
}

const NOT_GUARDED: Readonly<Record<Exclude<WrapperState, 'watches' | 'claimed'>, string>> = {
  locked: 'another instance of this VM still lives on this host: the lock of the VM is held',
  failed: 'its wrapper, which would end it without its agent, could not be started',
};
const autostartRefusal = (name: string): string =>
  `domain ${name} starts by itself with its host (autostart), and its VM may be started on another host meanwhile: ` +
  `turn it off with virsh autostart --disable ${name}`;

const NO_EXIT = { code: null, signal: null };
/** What virsh says instead of the id of a domain that is not active. */
const NO_ID = '-';
const NOT_DEFINED = /failed to get domain|Domain not found/;

const isLaunched = (instance: Instance): instance is LibvirtInstance =>
  instance.domain !== null && instance.launchingAt !== null;

/** In one word, so that a name that begins with a hyphen is no option. */
const domainArgument = (name: string): string => `--domain=${name}`;
