/** Groups: G4, and that a pause and a hold stop what they say they stop. Keeps its own account of who is under way. */
import { at, numberAt, type Report, type Stored, textAt, type Write } from './violation.ts';

/** A claim may start its node this long after it was given (DESIGN section 7), so an older limit may still act. */
const CLAIM_LIVES = 95_000;

type Policy = { from: number; limit: number; paused: boolean };

export class GroupCheck {
  readonly #underWay = new Map<string, string>();
  readonly #groups = new Map<string, Stored>();
  readonly #history = new Map<string, Policy[]>();

  group({ id, after, now }: Write): void {
    this.#groups.set(id, after);
    // An undeclared group follows default's policy.
    for (const name of this.#groups.keys()) this.#remember(name, now);
  }

  node(write: Write, report: Report): void {
    const { id, before, after, now, by, body } = write;
    const was = textAt(before, 'spec.state');
    const state = textAt(after, 'spec.state');
    const group = textAt(after, 'group') ?? '';
    // A removed node keeps the spec it had as its tombstone, and holds nothing, whatever is written to it afterwards.
    if (at(after, 'removed') !== null) {
      this.#underWay.delete(id);
      return;
    }
    if (was === 'Idle' && state === 'StagedUpdate') {
      this.#begins(id, group, now, report);
      if (this.#pausedThroughout(group, now))
        report('G4', `started while ${group} is paused`, { 'spec.state': 'Idle' });
      return;
    }
    // Rule 4: one that waits staged for a person or a VM gives its slot up, and claims again before it is activated.
    if (waitsWithoutSlot(after)) {
      this.#underWay.delete(id);
      return;
    }
    if (was === 'StagedUpdate' && (state === was || state === 'PerformedUpdate') && !this.#underWay.has(id))
      this.#begins(id, group, now, report);
    if (
      was === 'PerformedUpdate' &&
      state === 'RebootedIntoUpdate' &&
      at(before, 'heldBy') !== null &&
      at(after, 'heldBy') !== null
    )
      report('G4', 'a held node goes on to its reboot', { 'spec.state': 'PerformedUpdate' });
    const ended = state === 'Idle' && at(after, 'attempt') === null;
    const home = ended && by.endsWith('/reports') && textAt(body, 'state') === 'Idle';
    const crashed = was !== 'Idle' && at(after, 'crash.lastAt') !== at(before, 'crash.lastAt');
    // Rule 2's withdrawal frees the slot at once: of a step that nobody took up, or of one let go on (section 2b) that did not move.
    const untaken = numberAt(before, 'spec.acknowledgedAt') === null || numberAt(before, 'attempt.letOnAt') !== null;
    const timed = by.startsWith('timer') || by.startsWith('sweep');
    const withdrawn =
      was !== 'Idle' &&
      state === 'Idle' &&
      untaken &&
      !crashed &&
      (timed || numberAt(before, 'spec.acknowledgedAt') === null);
    const gaveUp = crashed && textAt(after, 'crash.lastReason') === 'DrainBlocked';
    if (home || withdrawn || gaveUp) this.#underWay.delete(id);
  }

  #begins(id: string, group: string, now: number, report: Report): void {
    const others = [...this.#underWay].filter(([node, of]) => of === group && node !== id).length;
    const limit = this.#most(group, now);
    if (others >= limit)
      report('G4', `${others} of ${group} are under way already and its limit is ${limit}`, { 'spec.state': 'Idle' });
    this.#underWay.set(id, group);
  }

  #remember(group: string, now: number): void {
    const history = this.#history.get(group) ?? [];
    const own = this.#groups.get(group);
    const declared = at(own, 'body') === null ? this.#groups.get('default') : own;
    const limit = limitOf(at(declared, 'body.maxConcurrentUpdates'), numberAt(own, 'memberCount'));
    const paused = at(own, 'pausedBy') !== null;
    const last = history.at(-1);
    if (last?.limit === limit && last.paused === paused) return;
    this.#history.set(group, [...history, { from: now, limit, paused }]);
  }

  /** The highest limit of those that a claim may still come from. */
  #most(group: string, now: number): number {
    const history = this.#history.get(group) ?? this.#history.get('default') ?? [];
    const current = history.filter(({ from }, index) => {
      const until = history[index + 1]?.from ?? Infinity;
      return from <= now && until >= now - CLAIM_LIVES;
    });
    return Math.max(1, ...current.map(({ limit }) => limit));
  }

  #pausedThroughout(group: string, now: number): boolean {
    const last = this.#history.get(group)?.at(-1);
    return last?.paused === true && last.from < now - CLAIM_LIVES;
  }
}

const waitsWithoutSlot = (node: Stored): boolean =>
  textAt(node, 'spec.state') === 'StagedUpdate' &&
  at(node, 'spec.reachedAt') !== null &&
  at(node, 'attempt.claimId') === null &&
  at(node, 'attempt.unlimited') !== true;

function limitOf(limit: unknown, members: number | null): number {
  if (limit === 'unlimited') return Infinity;
  if (typeof limit === 'string') return Math.max(1, Math.floor(((members ?? 0) * Number.parseInt(limit, 10)) / 100));
  return typeof limit === 'number' ? limit : 1;
}
