/** What a drain step's adapter does. Each call is one try, may be repeated after any crash, and may throw. */
import type { DrainOutcome } from '../node/drain-record.ts';

export type DrainAdapter = {
  /** Reads what is there before anything is touched, and says what would be ours. */
  survey(): Promise<DrainOutcome>;
  /** Begins, or goes on; `mine` is what the survey said, and is on record. */
  drain(mine: readonly string[]): Promise<DrainOutcome>;
  /** Gives back what is ours. Null: the record was lost, and only what can be proved ours is given back. */
  undo(mine: readonly string[] | null): Promise<DrainOutcome>;
};

export const DONE: DrainOutcome = { kind: 'done' };
