/**
 * The heart of the shell: load, decide, one conditional write, effects. A lost race reloads and decides again; a write
 * whose answer was lost is recognised by its write id, so its effects still follow (DESIGN section 7).
 */
import { between } from '../core/kit/time.ts';
import type { Outcome, Refusal } from '../core/decision/fact.ts';
import { carryOut } from './effects.ts';
import type { AggregateKind, ControlPlane, Ids, Records } from './ports.ts';
import type { Fact } from '../core/decision/fact.ts';

/** Every attempt of a turn lost its race: the caller may simply try again. */
export class ContentionError extends Error {
  readonly code = 'Contention';
}

export type Turned<R> =
  | { kind: 'changed'; record: R; facts: Fact[] }
  | { kind: 'unchanged'; record: R | null }
  | { kind: 'refused'; record: R | null; refusal: Refusal };

/** How long a turn goes on losing before its caller is told to try again: well within a request's 15 s. */
const PATIENCE_MS = 9_000;
/** Losers are spread out over this many milliseconds, doubled with each loss: so many may be at one item. */
const SPREAD_MS = 20;
const SPREAD_MAX_MS = 640;

/**
 * How long the loser of a race stands back. It grows with each loss, until the crowd has room; who has waited for more
 * than a third of its patience comes back sooner than those who have just arrived, so that nobody loses for ever.
 *
 * @param attempt how often it was tried, from 1
 * @param waited milliseconds since the first try
 * @param draw from [0, 1)
 */
export function standBack(attempt: number, waited: number, draw: number): number {
  const spread =
    waited > PATIENCE_MS / 3 ? SPREAD_MS * 4 : Math.min(SPREAD_MAX_MS, SPREAD_MS * 2 ** Math.min(attempt, 6));
  return Math.ceil(draw * spread);
}

/**
 * @param decide pure, given the record as just read; called again after a lost race
 * @throws {ContentionError} when every attempt lost its race for as long as a request can wait
 */
export function turn<K extends AggregateKind>(
  plane: ControlPlane,
  kind: K,
  id: Ids[K],
  decide: Decide<K>,
): Promise<Turned<Records[K]>> {
  return turnRead(plane, { kind, id, read: null }, decide);
}

type Decide<K extends AggregateKind> = (
  record: Records[K] | null,
) => Outcome<Records[K]> | Promise<Outcome<Records[K]>>;

export type Subject<K extends AggregateKind> = {
  kind: K;
  id: Ids[K];
  /** As it was just read: it is not read again, unless it was changed since. Null: it is read now. */
  read: Records[K] | null;
  /** Who loses once stands back for so long at most before it looks again: there is a crowd. */
  crowdMs?: number;
};

/**
 * The same for an item of which more is known.
 * @throws {ContentionError} as `turn` does
 */
export async function turnRead<K extends AggregateKind>(
  plane: ControlPlane,
  { kind, id, read, crowdMs = 0 }: Subject<K>,
  decide: Decide<K>,
): Promise<Turned<Records[K]>> {
  let written: { writeId: string; before: Records[K] | null; next: Records[K]; facts: Fact[] } | null = null;
  const begun = plane.now();
  // Pauses count by themselves too: a clock that stands still must not make a turn endless.
  let paused = 0;
  for (let attempt = 0; ; attempt += 1) {
    const waited = Math.max(paused, between(begun, plane.now()));
    if (waited >= PATIENCE_MS) throw new ContentionError(`${kind} ${id}: ${attempt} attempts lost their race`);
    if (attempt > 1 || (attempt === 1 && crowdMs > 0)) {
      const drawn = plane.draw().delay;
      const pause = attempt === 1 ? Math.ceil(drawn * crowdMs) : standBack(attempt, waited, drawn);
      paused += Math.max(1, pause);
      await plane.pause(pause);
    }
    const known = attempt === 0 ? read : null;
    const loaded = known === null ? await plane.store.load(kind, id) : null;
    if (written !== null && loaded?.writeId === written.writeId) break;
    const before: Records[K] | null = known ?? loaded?.record ?? null;
    const outcome: Outcome<Records[K]> = await decide(before);
    if (outcome.kind === 'unchanged') return { kind: 'unchanged', record: before };
    if (outcome.kind === 'refused') return { kind: 'refused', record: before, refusal: outcome.refusal };
    written = { writeId: plane.draw().id, before, next: outcome.next, facts: outcome.facts };
    if (await plane.store.save(kind, outcome.next, before?.revision ?? 0, written.writeId)) break;
  }
  await carryOut(plane, kind, written.before, written.next, written.facts);
  return { kind: 'changed', record: written.next, facts: written.facts };
}
