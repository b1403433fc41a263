/**
 * Watches the QEMU guests of this host through their QMP sockets and the events that their wrappers write down: when they
 * run and what keeps them from it, how they end, and asks them to end.
 */
import { isShortage, messageOf } from '../../failure.ts';
import type { Log } from '../../log.ts';
import { noteGuestEnd } from '../ends.ts';
import { type Instance, type InstanceKey, isLive, keyOf } from '../instance.ts';
import { type Watched as Looked, Looks, newlyWatched, PRESS_EVERY_MS } from '../looks.ts';
import type { Registry } from '../registry.ts';
import type { RunFolders } from '../run-folder.ts';
import { resetsSeen } from '../running.ts';
import { isSeen, runs } from '../turning-points.ts';
import { QMP_SOCKET } from './command.ts';
import { EventFile, type GuestEvents } from './events.ts';
import { Qmp } from './qmp.ts';
import { guestState, type GuestState } from './status.ts';

export type MonitorsOptions = {
  readonly registry: Registry;
  readonly runs: RunFolders;
  readonly now: () => number;
  /** When this host's guests were last known to be as they were said to be, before this agent; null: never. */
  readonly lastLookAt: number | null;
  readonly log: Log;
  /** An instance has changed: tell it, and look at the clock again. */
  readonly changed: (key: InstanceKey) => void;
  /** Whether the process of a guest is stopped. */
  readonly isStopped: (instance: Instance) => boolean;
  /** Ends a QEMU for good. */
  readonly kill: (instance: Instance) => void;
};

/** A guest that boots or ends is looked at this often, one that runs more rarely: its events come by themselves. */
const SOON_MS = 250;
const USUAL_MS = 2000;
const ANSWER_MS = 2000;
/** A QEMU that was told to quit and is still there after this is killed. */
const QUIT_PATIENCE_MS = 5000;
/** Between tries to let a guest go on that an I/O error has paused, and how long it has to run to be through with it. */
const CONTINUE_EVERY_MS = 5000;
const CONTINUED_MS = 1500;
/** A look that comes so much later than the last one says nothing of when things happened in between. */
const GAP_MS = 10_000;

type Watched = Looked & {
  qmp: Qmp | null;
  quitAt: number | null;
  continuedAt: number | null;
  seenAt: number | null;
  readonly events: EventFile;
};

export class Monitors {
  readonly #options: MonitorsOptions;
  readonly #looks: Looks<Watched>;

  constructor(options: MonitorsOptions) {
    this.#options = options;
    const { registry, now, lastLookAt } = options;
    this.#looks = new Looks<Watched>({
      now,
      soonMs: SOON_MS,
      usualMs: USUAL_MS,
      fresh: () => ({
        ...newlyWatched(),
        qmp: null,
        quitAt: null,
        continuedAt: null,
        seenAt: lastLookAt,
        events: new EventFile(),
      }),
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
    const { registry, isStopped, log } = this.#options;
    const before = registry.get(key);
    try {
      // Not asked: it could not answer.
      if (before !== undefined && isStopped(before)) {
        isSeen(this.#options, key, 'Stopped');
        return;
      }
      await this.#lookOnce(key, watched);
    } catch (error) {
      // Not listening yet, or gone: the process itself tells which.
      const instance = registry.get(key);
      if (instance?.runningAt == null || !isLive(instance)) return;
      log('warn', 'qmp does not answer', { instance: key, why: messageOf(error) });
      if (instance.guestEnd === null && !isShortage(error)) isSeen(this.#options, key, 'NotResponding');
    }
  }

  async #lookOnce(key: InstanceKey, watched: Watched): Promise<void> {
    const { registry, runs: folders, now } = this.#options;
    const process = registry.get(key)?.process;
    if (process == null) return;
    // Another agent's wrapper has claimed the run folder: the socket there is of its guest, and has room for one of us.
    const claimant = folders.pid(key, 'pid');
    if (claimant !== null && claimant !== process.pid) return;
    if (watched.qmp === null || watched.qmp.closed) {
      watched.qmp = await Qmp.open({
        // Through the process, because a socket's name has at most 107 bytes (unix(7)) and this one is always short.
        socket: `/proc/${process.pid}/cwd/${QMP_SOCKET}`,
        timeoutMs: ANSWER_MS,
        onEvent: () => void this.#looks.look(key),
      });
    }
    if (registry.get(key)?.process?.pid !== process.pid) {
      // Let go meanwhile: nobody else would close it.
      watched.qmp.close();
      return;
    }
    const status = await watched.qmp.status();
    const events = watched.events.read(folders.path(key));
    const seen = guestState(status, events.over?.reason);
    const instance = registry.get(key);
    if (instance === undefined || !isLive(instance)) return;
    registry.change(key, (present) => resetsSeen(present, events.resets.length, events.resets));
    if (seen.kind === 'ended') {
      await this.#ends(key, watched, watched.qmp, { ...seen, at: this.#endedAt(events, watched) });
      return;
    }
    watched.seenAt = now();
    await this.#lives(key, watched, watched.qmp, seen);
    const { stop } = registry.get(key) ?? {};
    if (stop != null && !stop.forced && now() - watched.pressedAt >= PRESS_EVERY_MS) {
      watched.pressedAt = now();
      await watched.qmp.execute('system_powerdown');
    }
  }

  async #lives(
    key: InstanceKey,
    watched: Watched,
    qmp: Qmp,
    seen: Exclude<GuestState, { kind: 'ended' }>,
  ): Promise<void> {
    const { now, registry } = this.#options;
    if (seen.kind === 'running') {
      runs(this.#options, key);
      // It may be paused again at once: a disk that is full is still full.
      const tried = watched.continuedAt !== null && now() - watched.continuedAt < CONTINUED_MS;
      if (!tried) isSeen(this.#options, key, null);
      return;
    }
    if (seen.condition === null) return;
    // What met an error had run, however shortly: nobody may have looked meanwhile.
    if (seen.condition === 'IoError') runs(this.#options, key);
    isSeen(this.#options, key, seen.condition);
    const due = watched.continuedAt === null || now() - watched.continuedAt >= CONTINUE_EVERY_MS;
    if (seen.condition !== 'IoError' || !due || registry.get(key)?.stop != null) return;
    watched.continuedAt = now();
    await qmp.execute('cont');
  }

  /** When it ended: as the wrapper noted it, else now, or as it was seen last when nobody has looked for a while. */
  #endedAt(events: GuestEvents, { seenAt }: Watched): number {
    const now = this.#options.now();
    if (events.over !== null) return events.over.at;
    return seenAt !== null && now - seenAt > GAP_MS ? seenAt : now;
  }

  /** How it ended is on record before QEMU is told to go. */
  async #ends(
    key: InstanceKey,
    watched: Watched,
    qmp: Qmp,
    { cause, message, at }: Extract<GuestState, { kind: 'ended' }> & { at: number },
  ): Promise<void> {
    const { registry, now, log, kill } = this.#options;
    const noted = registry.change(key, (present) => noteGuestEnd(present, { cause, message, at }));
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
