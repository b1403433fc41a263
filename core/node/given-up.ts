/** Whether automation has given up on a node (DESIGN section 2 rule 3). */
import type { NodeBackoff } from '../policy/backoff.ts';
import type { NodeRecord } from './record.ts';

/** After `giveUpAfter` crashes on record, unless a person has said `retry` since the last of them. */
export const givenUp = ({ crash }: NodeRecord, { giveUpAfter }: NodeBackoff): boolean =>
  giveUpAfter !== undefined && crash.count >= giveUpAfter && crash.waived !== true;
