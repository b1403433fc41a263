/** What is offered to this host: refreshed at its pace while nothing is under way, under the lock that a pin asks for. */
import type { UpdateCheck } from '../../core/contract/agent-bodies.ts';
import type { Log } from '../log.ts';
import type { UpdateDriver } from '../updater/driver.ts';
import { type LockChange, pinLock, sayPinned } from '../updater/version-lock.ts';
import type { RecordKeeper } from './record-keeper.ts';
import { refreshOffer } from './refresh.ts';

export type OffersOptions = {
  readonly driver: UpdateDriver;
  readonly keeper: RecordKeeper;
  readonly now: () => number;
  readonly log: Log;
  readonly pause: () => Promise<void>;
  readonly interrupted: () => boolean;
  readonly refreshEveryMs: number;
  /** A changed setting shows in a refresh after this. */
  readonly settingsWithinMs: number;
};

const NOT_CHECKED: UpdateCheck = { result: 'Failed', message: 'not checked yet' };
/** A refresh that does not show within this is given up and said to have failed. */
const REFRESH_TIMEOUT_MS = 60_000;
/** One that failed is repeated sooner than a good one, but at minutes, not seconds. */
const FAILED_SHARE = 1 / 3;

export class Offers {
  readonly #options: OffersOptions;
  #current: UpdateCheck;
  #nextAt = Number.NEGATIVE_INFINITY;
  #lockChangedAt = Number.NEGATIVE_INFINITY;
  /** The pin asked for; undefined before the first answer: then nothing is changed. */
  #pin: string | null | undefined;
  #trouble: string | null = null;

  constructor(options: OffersOptions) {
    this.#options = options;
    const { memory } = options.keeper;
    this.#current = (memory.kind === 'kept' ? memory.record.updateCheck : null) ?? NOT_CHECKED;
  }

  get current(): UpdateCheck {
    return this.#current;
  }

  get nextAt(): number {
    return this.#nextAt;
  }

  /** Why the pin is not at work; null when it is. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** A step has refreshed for itself. */
  take(check: UpdateCheck): void {
    this.#current = check;
  }

  refreshSoon(): void {
    this.#nextAt = Number.NEGATIVE_INFINITY;
  }

  refreshLater(): void {
    this.#nextAt = this.#options.now() + this.#options.refreshEveryMs;
  }

  /** The lock has changed: what is offered under it shows some time later. */
  lockChanged(): void {
    this.#lockChangedAt = this.#options.now();
  }

  pin(version: string | null): void {
    if (version !== this.#pin && (version !== null || this.#options.keeper.held !== null)) this.refreshSoon();
    this.#pin = version;
  }

  /** Refreshes; true when something else is offered than before. Null: it was interrupted. */
  async refresh(): Promise<boolean | null> {
    const { driver, now, log, pause, interrupted, refreshEveryMs, settingsWithinMs } = this.#options;
    await this.#obeyPin();
    const result = await refreshOffer({ api: driver, now, pause, interrupted, timeoutMs: REFRESH_TIMEOUT_MS });
    if (result === null) return null;
    const differs = JSON.stringify(result) !== JSON.stringify(this.#current);
    this.#current = result;
    this.#nextAt = now() + refreshEveryMs * (result.result === 'Failed' ? FAILED_SHARE : 1);
    // This one may not have seen the new lock yet: once more when it must have.
    const shownAt = this.#lockChangedAt + settingsWithinMs;
    if (now() < shownAt) this.#nextAt = Math.min(this.#nextAt, shownAt);
    log(result.result === 'Failed' ? 'warn' : 'info', 'update check', { ...result });
    return differs;
  }

  async #obeyPin(): Promise<void> {
    const { driver, keeper } = this.#options;
    if (this.#pin === undefined || (this.#pin === null && keeper.held === null)) {
      this.#trouble = null;
      return;
    }
    const lock = await driver.versionLock();
    const change = pinLock(this.#pin, lock, keeper.held);
    this.#trouble = change === null ? sayPinned(this.#pin, lock) : null;
    if (change !== null) this.#trouble = await this.changeLock(change);
  }

  /** Null when it went well. Throws when it cannot be kept that a lock is ours: then it is not set. */
  async changeLock(change: LockChange): Promise<string | null> {
    const { driver, keeper, log } = this.#options;
    if (change.act === 'forget') {
      keeper.forgetLock();
      return null;
    }
    if (change.act === 'hold') keeper.holdLock(change.held);
    const failure = await driver.lockVersion(change.version);
    log(failure === null ? 'info' : 'warn', 'version lock', { version: change.version, why: failure });
    if (failure !== null) return `the version-lock ${change.version} was not set: ${failure}`;
    if (change.act === 'giveBack') keeper.forgetLock();
    this.lockChanged();
    return null;
  }
}
