/** What can go wrong, how often it does in one history, and how often it did. Each kind has a stream of its own. */
import type { ServiceFault } from '../../../world/aws/trouble.ts';
import { seededRandom } from '../../../world/random.ts';

/** Kind → how likely it is at each opportunity, in a history of ordinary intensity. */
const ODDS = {
  'scheduler minutes late': 0.06,
  'scheduler lost': 0.08,
  'scheduler twice': 0.08,
  'scheduler refused': 0.05,
  'scheduler clock ahead': 0.02,
  'vernier late': 0.3,
  'vernier early': 0.15,
  'vernier twice': 0.1,
  'vernier lost': 0.08,
  'vernier refused': 0.04,
  'command queue refused': 0.03,
  'ssm lost': 0.12,
  'ssm twice': 0.08,
  'ssm refused': 0.05,
  'ssm timed out': 0.05,
  'ssm said it failed': 0.05,
  'dynamodb throttled': 0.012,
  'dynamodb timed out after the write': 0.012,
  'dynamodb retried its own write': 0.012,
  'dynamodb index stale': 0.3,
  'dynamodb slow': 0.05,
  'bus refused': 0.03,
  'process died before a call': 0.012,
  'process died after a call': 0.012,
  'sweep missed': 0.15,
  'request lost': 0.04,
  'answer lost': 0.04,
  'request late': 0.05,
  'request twice': 0.05,
  'node clock off': 0.004,
  'update check failed': 0.04,
  'step failed': 0.1,
  'step hangs': 0.05,
  'drain blocked': 0.06,
  'rolled back': 0.05,
  'check failed in the soak time': 0.06,
  'machine rebooted': 0.02,
  'machine replaced': 0.006,
  'agent restarted': 0.03,
  'agent lost its record': 0.01,
  'machine died for good': 0.003,
  'launch failed': 0.3,
  'launch hangs': 0.06,
  'guest crashed': 0.25,
  'guest shut down': 0.06,
} as const satisfies Readonly<Record<ServiceFault, number> & Record<string, number>>;

export type FaultKind = keyof typeof ODDS;
export const FAULT_KINDS = Object.keys(ODDS) as FaultKind[]; // the keys of the object above

/** What guests and launches do by themselves, however healthy the services are. */
const OF_GUESTS: ReadonlySet<FaultKind> = new Set([
  'launch failed',
  'launch hangs',
  'guest crashed',
  'guest shut down',
]);

/** In a storm everything fails; then only guests do; in the end nothing does. */
export type Weather = 'storm' | 'guests only' | 'calm';

export class Faults {
  weather: Weather = 'storm';
  readonly struck = new Map<FaultKind, number>();
  readonly #odds = new Map<FaultKind, number>();
  readonly #streams = new Map<FaultKind, () => number>();

  /** @param without kinds that never strike: how a failure is shrunk */
  constructor(seed: number, without: ReadonlySet<FaultKind>) {
    const draw = seededRandom(seed ^ 0x9e3779b9);
    FAULT_KINDS.forEach((kind, index) => {
      const absent = draw() < 0.25;
      const intensity = 0.3 + 2 * draw();
      this.#odds.set(kind, absent || without.has(kind) ? 0 : Math.min(0.9, ODDS[kind] * intensity));
      this.#streams.set(kind, seededRandom(seed * 131 + index * 7919 + 17));
    });
  }

  strikes(kind: FaultKind): boolean {
    const strikes = this.threatens(kind);
    if (strikes) this.count(kind);
    return strikes;
  }

  /** As `strikes`, for a fault that is counted only when it comes true. */
  threatens(kind: FaultKind): boolean {
    const stream = this.#streams.get(kind);
    const possible = this.weather === 'storm' || (this.weather === 'guests only' && OF_GUESTS.has(kind));
    return possible && stream !== undefined && stream() < (this.#odds.get(kind) ?? 0);
  }

  count(kind: FaultKind): void {
    this.struck.set(kind, (this.struck.get(kind) ?? 0) + 1);
  }
}
