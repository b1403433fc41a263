/** Asks guests whether they are alive, as their VMs' declarations say (DESIGN section 3 rule 11). */
import { connect } from 'node:net';
import { isShortage, messageOf } from '../failure.ts';
import { type Instance, type InstanceKey, keyOf } from './instance.ts';
import type { Registry } from './registry.ts';
import type { Liveness } from './terms.ts';

export type ProbesOptions = {
  readonly registry: Registry;
  readonly now: () => number;
  /** A guest has not answered as often as its VM allows. */
  readonly unhealthy: (key: InstanceKey, message: string) => void;
};

type Asked = { at: number; failures: number; answered: boolean; busy: boolean };

/** How long an answer may take. */
const ANSWER_MS = 5000;
/** A guest that has not answered yet may still be booting for this long. */
const BOOT_MS = 5 * 60_000;

export class Probes {
  readonly #options: ProbesOptions;
  readonly #asked = new Map<InstanceKey, Asked>();

  constructor(options: ProbesOptions) {
    this.#options = options;
  }

  /** How soon `watch` has to be called again; null when nobody is to be asked. */
  get watchEveryMs(): number | null {
    const every = this.#guests().map(({ liveness }) => liveness.everyMs);
    return every.length === 0 ? null : Math.min(1000, ...every);
  }

  /** Asks those whose time has come. */
  watch(): void {
    const guests = this.#guests();
    const keys = new Set(guests.map(({ key }) => key));
    for (const key of this.#asked.keys()) if (!keys.has(key)) this.#asked.delete(key);
    for (const { key, liveness, runningAt } of guests) {
      const asked = this.#asked.get(key) ?? { at: Number.NEGATIVE_INFINITY, failures: 0, answered: false, busy: false };
      this.#asked.set(key, asked);
      if (!asked.busy && this.#options.now() - asked.at >= liveness.everyMs)
        void this.#ask(key, liveness, runningAt, asked);
    }
  }

  /** One that is to end, or does not run and is known not to, is not asked. */
  #guests(): { key: InstanceKey; liveness: Liveness; runningAt: number }[] {
    return this.#options.registry.live().flatMap((instance: Instance) => {
      const { runningAt, stop, condition, terms } = instance;
      if (runningAt === null || stop !== null || condition !== null || terms?.liveness == null) return [];
      return [{ key: keyOf(instance), liveness: terms.liveness, runningAt }];
    });
  }

  async #ask(key: InstanceKey, liveness: Liveness, runningAt: number, asked: Asked): Promise<void> {
    const { now, unhealthy } = this.#options;
    asked.busy = true;
    asked.at = now();
    const failure = await askOnce(liveness.probe);
    asked.busy = false;
    if (failure === 'not asked') return;
    if (failure === null) {
      asked.failures = 0;
      asked.answered = true;
      return;
    }
    if (!asked.answered && now() - runningAt < BOOT_MS) return;
    asked.failures += 1;
    if (asked.failures < liveness.failures) return;
    unhealthy(key, `${sayProbe(liveness.probe)} has failed ${asked.failures} times in a row: ${failure}`);
  }
}

const sayProbe = (probe: Liveness['probe']): string =>
  'http' in probe ? `liveness probe ${probe.http}` : `liveness probe tcp ${probe.tcp.host}:${probe.tcp.port}`;

/** Null when the guest has answered; `not asked` where this host lacked what it takes to ask: that is no fault of the guest. */
export async function askOnce(probe: Liveness['probe']): Promise<string | null> {
  return 'http' in probe ? askHttp(probe.http) : askTcp(probe.tcp);
}

const failureOf = (error: unknown): string => (isShortage(error) ? 'not asked' : messageOf(error));

async function askHttp(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) });
    await response.body?.cancel();
    return response.status < 400 ? null : `it answers ${response.status}`;
  } catch (error) {
    return failureOf(error);
  }
}

function askTcp({ host, port }: { host: string; port: number }): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ANSWER_MS });
    const done = (failure: string | null): void => {
      socket.destroy();
      resolve(failure);
    };
    socket.once('connect', () => done(null));
    socket.once('timeout', () => done('no connection within 5 s'));
    socket.once('error', (error) => done(failureOf(error)));
  });
}
