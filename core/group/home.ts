/**
 * Which table a deployment lives in, and its recovery when that table was restored from an older copy. Kept in the group
 * `default`, which there always is: a copy carries the name of the table it was made of, and so betrays itself.
 */
import { type Fact, refused, type Refusal } from '../decision/fact.ts';
import { formatInstant, type Instant } from '../kit/time.ts';

/** `at` names it; until it is finished nothing else is done with the table. */
export type Recovery = { at: Instant; by: string; finishedAt: Instant | null };

export type HomeEvent =
  /** A new deployment writes down its table. */
  | { kind: 'moveIn'; table: string }
  /** With `force` also when the table has its old name, or has been recovered before. */
  | { kind: 'recover'; by: string; table: string; force: boolean }
  | { kind: 'recovered'; table: string };

type Home = { home?: string; recovery?: Recovery; pausedBy: string | null };

/** Whether the control plane may act on what the table says. */
export function standing(known: Home | null, table: string): 'home' | 'new' | 'restored' {
  if (known?.recovery?.finishedAt === null) return 'restored';
  if (known?.home === undefined) return 'new';
  return known.home === table ? 'home' : 'restored';
}

/** Who has paused the groups; also those that the copy does not know, when a node names them later. */
export const pausedByRecovery = (known: Home | null): string | null =>
  known?.recovery !== undefined && known.pausedBy === pauserOf(known.recovery) ? known.pausedBy : null;

export const pauserOf = ({ at, by }: Recovery): string => `the recovery of ${formatInstant(at)} (${by})`;

type Outcome<H> =
  | { kind: 'changed'; next: H; facts: Fact[] }
  | { kind: 'unchanged' }
  | { kind: 'refused'; refusal: Refusal };

export function decideHome<H extends Home>(before: H, event: HomeEvent, now: Instant): Outcome<H> {
  switch (event.kind) {
    case 'moveIn':
      if (before.home !== undefined) return { kind: 'unchanged' };
      return { kind: 'changed', next: { ...before, home: event.table }, facts: [] };
    case 'recover':
      return begin(before, event, now);
    case 'recovered': {
      const { recovery } = before;
      if (recovery === undefined || recovery.finishedAt !== null) return { kind: 'unchanged' };
      const next = { ...before, home: event.table, recovery: { ...recovery, finishedAt: now } };
      return {
        kind: 'changed',
        next,
        facts: [said('Recovery Finished', 'info', 'all groups are paused; resume each when its nodes have reported')],
      };
    }
  }
}

/** Asked again it goes on with the one that is not finished, and changes nothing when it is. */
function begin<H extends Home>(before: H, event: Extract<HomeEvent, { kind: 'recover' }>, now: Instant): Outcome<H> {
  const where = standing(before, event.table);
  if (before.recovery?.finishedAt === null) return { kind: 'unchanged' };
  if (where !== 'restored' && !event.force) {
    if (before.recovery !== undefined) return { kind: 'unchanged' };
    return refused(
      409,
      'NotRestored',
      `table ${event.table} was not restored from a copy of another one; if it was restored under its own name, say force`,
    );
  }
  const recovery: Recovery = { at: now, by: event.by, finishedAt: null };
  const next = { ...before, recovery, pausedBy: before.pausedBy ?? pauserOf(recovery) };
  const from = before.home === undefined || before.home === event.table ? '' : ` of ${before.home}`;
  return {
    kind: 'changed',
    next,
    facts: [said('Recovery Begun', 'warning', `the table is an older copy${from}; begun by ${event.by}`)],
  };
}

const said = (type: 'Recovery Begun' | 'Recovery Finished', severity: 'info' | 'warning', message: string): Fact => ({
  kind: 'event',
  type,
  severity,
  message,
});
