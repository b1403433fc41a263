/** Watches the QEMU guests of this host through their QMP sockets: when they run, how they end, and asks them to end. */
import { messageOf } from '../../failure.ts';
import type { Log } from '../../log.ts';
import { type Instance, type InstanceKey, isLive, keyOf } from '../instance.ts';
import { type Watched as Looked, Looks, newlyWatched, PRESS_EVERY_MS } from '../looks.ts';
import type { Registry } from '../registry.ts';
import { runs } from '../turning-points.ts';
import { QMP_SOCKET } from './command.ts';
import { Qmp } from './qmp.ts';
import { guestState } from './status.ts';

export type MonitorsOptions = {
  readonly registry: Registry;
  readonly now: () => number;
  readonly log: Log;
  /** An instance has changed: tell it, and look at the clock again. */
  readonly changed: (key: InstanceKey) => void;
  /** Ends a QEMU for good. */
  readonly kill: (instance: Instance) => void;
};

/** A guest that boots or ends is looked at this often, one that runs more rarely: its events come by themselves. */
const SOON_MS = 250;
const USUAL_MS = 2000;
const ANSWER_MS = 2000;
/** A QEMU that was told to quit and is still there after this is killed. */
const QUIT_PATIENCE_MS = 5000;

type Watched = Looked & { qmp: Qmp | null; quitAt: number | null };

export class Monitors {
  readonly #options: MonitorsOptions;
  readonly #looks: Looks<Watched>;

  constructor(options: MonitorsOptions) {
    this.#options = options;
    const { registry, now } = options;
    this.#looks = new Looks<Watched>({
      now,
      soonMs: SOON_MS,
      usualMs: USUAL_MS,
      fresh: () => ({ ...newlyWatched(), qmp: null, quitAt: null }),
      look: (key, watched) => this.#look(key, watched),
      settled: (key) => {
        const instance = registry.get(key);
        return instance?.runningAt != null && instance.stop === null && instance.guestEnd === null;
      },
    });
  }

  /** How soon `watch` has to be called again; null when there is no QEMU. */
  get watchEveryMs(): number | null {
    return this.#guests().length === 0 ? null : SOON_MS;
  }

  /** Looks at every guest whose time has come, and forgets those that are gone. */
  watch(): void {
    for (const { qmp } of this.#looks.watch(new Set(this.#guests().map(keyOf)))) qmp?.close();
  }

  /** Presses the power button, now and until it has worked or the grace is over. */
  askToEnd(instance: Instance): void {
    void this.#looks.look(keyOf(instance));
  }

  close(): void {
    for (const { qmp } of this.#looks.states()) qmp?.close();
    this.#looks.clear();
  }

  #guests(): Instance[] {
    return this.#options.registry.live().filter(({ driver, process }) => driver === 'qemu' && process !== null);
  }

  async #look(key: InstanceKey, watched: Watched): Promise<void> {
    try {
      await this.#lookOnce(key, watched);
    } catch (error) {
      // Not listening yet, or gone: the process itself tells which.
      const instance = this.#options.registry.get(key);
      if (instance?.runningAt != null && isLive(instance))
        this.#options.log('warn', 'qmp does not answer', { instance: key, why: messageOf(error) });
    }
  }

  async #lookOnce(key: InstanceKey, watched: Watched): Promise<void> {
    const { registry, now } = this.#options;
    const process = registry.get(key)?.process;
    if (process == null) return;
    if (watched.qmp === null || watched.qmp.closed) {
      watched.qmp = await Qmp.open({
        // Through the process, because a socket's name has at most 107 bytes (unix(7)) and this one is always short.
        socket: `/proc/${process.pid}/cwd/${QMP_SOCKET}`,
        timeoutMs: ANSWER_MS,
        onEvent: () => void this.#looks.look(key),
      });
    }
    const seen = guestState(await watched.qmp.status());
    const instance = registry.get(key);
    if (instance === undefined || !isLive(instance)) return;
    if (seen.kind === 'ended') await this.#ends(key, watched, watched.qmp, seen);
    else if (seen.kind === 'running') runs(this.#options, key);
    const { stop } = registry.get(key) ?? {};
    if (seen.kind !== 'ended' && stop != null && !stop.forced && now() - watched.pressedAt >= PRESS_EVERY_MS) {
      watched.pressedAt = now();
      await watched.qmp.execute('system_powerdown');
    }
  }

  /** How it ended is on record before QEMU is told to go. */
  async #ends(
    key: InstanceKey,
    watched: Watched,
    qmp: Qmp,
    { cause, message }: Extract<ReturnType<typeof guestState>, { kind: 'ended' }>,
  ): Promise<void> {
    const { registry, now, log, kill } = this.#options;
    const noted = registry.change(key, (present) =>
      isLive(present) && present.guestEnd === null ? { ...present, guestEnd: { cause, message } } : present,
    );
    if (noted !== null) log('info', 'guest has ended', { instance: key, cause, message });
    if (watched.quitAt === null) {
      watched.quitAt = now();
      await qmp.execute('quit');
      return;
    }
    const instance = registry.get(key);
    if (instance !== undefined && now() - watched.quitAt >= QUIT_PATIENCE_MS) kill(instance);
  }
}
