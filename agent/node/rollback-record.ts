/** What the record holds of a way back to the version before. */
import * as z from 'zod/mini';

export const rollbackRecordSchema = z.object({
  to: z.string(),
  startedAt: z.number(),
  /** The version-lock before ours, as an agent kept it that had no file for that; null since. */
  lockBefore: z._default(z.nullable(z.string()), null),
  /** Since when our lock has been set and has not shown in a refresh yet; null: not set, or shown. */
  lockedAt: z._default(z.nullable(z.number()), null),
  /** Whether a refresh has succeeded under our lock. */
  refreshed: z.boolean(),
  /** Why the last try of a command went wrong. */
  trouble: z.nullable(z.string()),
  /** How it ended; from then on only the tidying is left. */
  outcome: z.nullable(z.string()),
});
export type RollbackRecord = z.infer<typeof rollbackRecordSchema>;
