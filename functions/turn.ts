/**
 * The heart of the shell: load, decide, one conditional write, effects. A lost race reloads and decides again; a write
 * whose answer was lost is recognised by its write id, so its effects still follow (DESIGN section 7).
 */
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

const ATTEMPTS_MAX = 12;
/** Losers of a race are spread out over this many milliseconds × attempt. */
const SPREAD_MS = 20;

/**
 * @param decide pure, given the record as just read; called again after a lost race
 * @throws {ContentionError} when every attempt lost its race
 */
export async function turn<K extends AggregateKind>(
  plane: ControlPlane,
  kind: K,
  id: Ids[K],
  decide: (record: Records[K] | null) => Outcome<Records[K]> | Promise<Outcome<Records[K]>>,
): Promise<Turned<Records[K]>> {
  let written: { writeId: string; before: Records[K] | null; next: Records[K]; facts: Fact[] } | null = null;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (attempt > 1) await plane.pause(Math.round(plane.draw().delay * SPREAD_MS * attempt));
    const loaded = await plane.store.load(kind, id);
    if (written !== null && loaded?.writeId === written.writeId) break;
    const before: Records[K] | null = loaded?.record ?? null;
    const outcome: Outcome<Records[K]> = await decide(before);
    if (outcome.kind === 'unchanged') return { kind: 'unchanged', record: before };
    if (outcome.kind === 'refused') return { kind: 'refused', record: before, refusal: outcome.refusal };
    written = { writeId: plane.draw().id, before, next: outcome.next, facts: outcome.facts };
    if (await plane.store.save(kind, outcome.next, before?.revision ?? 0, written.writeId)) break;
    if (attempt === ATTEMPTS_MAX - 1) written = null;
  }
  if (written === null) throw new ContentionError(`${kind} ${id}: ${ATTEMPTS_MAX} attempts lost their race`);
  await carryOut(plane, kind, written.before, written.next, written.facts);
  return { kind: 'changed', record: written.next, facts: written.facts };
}
