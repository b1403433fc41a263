/** The phase of a member as its line of the index tells it: for counting a group without loading its nodes. */
import type { NodePhase } from '../contract/words.ts';
import type { Instant } from '../kit/time.ts';
import type { Digest } from '../node/digest.ts';
import { whyNotAllowed } from '../rollout/version-rules.ts';
import type { GroupView } from './view.ts';

/** What is counted of a member; null: it has not reported. */
export function phaseOfDigest(digest: Digest | null, { rollout }: GroupView, now: Instant): NodePhase {
  if (digest === null) return 'Idle';
  const stage = digest.stage ?? stageBefore(digest);
  if (stage === 'Idle' || stage === 'Queued') {
    if (digest.retryAfter !== null && now < digest.retryAfter && !digest.underWay) return 'BackingOff';
  }
  if (stage !== 'Queued') return stage;
  const { offered, version } = digest;
  if (offered !== null && whyNotAllowed(rollout.policy.version, offered, version) !== null) return 'Idle';
  return rollout.openness.open ? 'Queued' : 'WaitingForWindow';
}

/** Of a line that the release before wrote. */
function stageBefore({ unreachable, held, underWay, offered, idle }: Digest): NodePhase {
  if (unreachable) return 'Unreachable';
  if (held) return 'Held';
  if (underWay) return 'Updating';
  return idle && offered !== null ? 'Queued' : 'Idle';
}
