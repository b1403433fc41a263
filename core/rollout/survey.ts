/** What a look at all members of a group shows: who is down, how far it is, what it has settled on (DESIGN section 2b). */
import type { Survey } from '../group/rollout-events.ts';
import type { GroupRecord } from '../group/record.ts';
import { between, type Duration, type Instant } from '../kit/time.ts';
import type { Digest } from '../node/digest.ts';
import { BREAKER_WITHIN_LONGEST } from '../policy/rollout.ts';
import type { CountedCrash } from './breaker-state.ts';
import { countProgress } from './progress.ts';
import { missing, sayMissing, settle } from './settling.ts';

/**
 * @param members all that have reported; `total` counts the others, too
 * @param soak the shortest for which a group that comes after this one waits; null: none does
 */
export function survey(
  own: GroupRecord,
  { members, total, soak }: { members: readonly Digest[]; total: number; soak: Duration | null },
  now: Instant,
): Survey {
  const down = members.filter(({ silent, unreachable, holdsSlot }) => (silent || unreachable) && !holdsSlot).length;
  const base = { members: total, down, rollout: countProgress(members, now) };
  if (soak === null) return { ...base, settled: null, unsettled: {} };
  const broken = (own.breaker?.open ?? []).map(({ version }) => version);
  const settled = settle(own.settled ?? [], { members, broken, soak, now });
  return { ...base, settled, unsettled: Object.fromEntries(whatIsMissing(members, soak, now)) };
}

const VERSIONS_MAX = 10;

/** By version, of those that members run or are offered. */
function whatIsMissing(members: readonly Digest[], soak: Duration, now: Instant): [string, string][] {
  const versions = new Set(
    members.flatMap(({ version, offered }) => (offered === null ? [version] : [version, offered])),
  );
  return [...versions].slice(0, VERSIONS_MAX).flatMap((version): [string, string][] => {
    const problems = missing(version, members, soak, now);
    return problems.length === 0 ? [] : [[version, sayMissing(problems)]];
  });
}

/** The crashes that may count towards a breaker, lest one was not heard of when it happened. */
export const crashesOf = (members: readonly Digest[], now: Instant): CountedCrash[] =>
  members.flatMap(({ nodeId, lastCrash }) =>
    lastCrash === null || between(lastCrash.at, now) > BREAKER_WITHIN_LONGEST ? [] : [{ nodeId, ...lastCrash }],
  );
