/** What a boot proves of the version a node should run (DESIGN section 2 rule 5): a fall back is never a success. */
import { between, hours, type Instant } from '../kit/time.ts';
import { compareVersions } from '../kit/version-order.ts';
import type { Attempt, NodeRecord } from './record.ts';

/** For so long after its success an update may still turn out to have been rolled back. */
const JUDGED_FOR = hours(24);

/** The target, or on the way up a version newer than the one it left. What has no order is neither. */
function isReached({ version, fromVersion }: Attempt, running: string): boolean {
  if (running === fromVersion) return false;
  if (version === null) return compareVersions(running, fromVersion) !== -1;
  if (running === version) return true;
  return compareVersions(version, fromVersion) !== -1 && compareVersions(running, fromVersion) === 1;
}

/** What is seen of a boot. */
type Seen = { bootId: string; currentVersion: string };

/**
 * A new boot that is not in the version the attempt was to bring, in words; null when the attempt has begun no reboot, or
 * has crashed: no boot on the way back is judged.
 */
export function fellBack({ attempt, spec }: NodeRecord, { bootId, currentVersion }: Seen): string | null {
  if (attempt === null || bootId === attempt.fromBootId) return null;
  const judged =
    spec.state === 'RebootedIntoUpdate' ||
    spec.state === 'MonitoringUpdate' ||
    (spec.state === 'Idle' && attempt.succeeded);
  if (!judged || isReached(attempt, currentVersion)) return null;
  const { version, fromVersion } = attempt;
  const back = currentVersion === fromVersion ? 'back ' : '';
  return `booted ${back}into ${currentVersion}${version === null ? '' : ` instead of ${version}`}`;
}

/** A node that has completed an update within the last day, and now runs an older version after another boot. */
export function fellBackLate(node: NodeRecord, seen: Seen, now: Instant): { from: string } | null {
  return leftCompleted(node, seen, now) && !onItsWayBack(node) ? { from: seen.currentVersion } : null;
}

/** The same on its way back from a crash, which has been counted: then nothing is, but that update runs no longer. */
export const fellBackUncounted = (node: NodeRecord, seen: Seen, now: Instant): boolean =>
  leftCompleted(node, seen, now) && onItsWayBack(node);

const onItsWayBack = ({ spec, attempt }: NodeRecord): boolean =>
  spec.state === 'Idle' && attempt !== null && attempt.withdrawn === undefined;

function leftCompleted({ completed, attempt }: NodeRecord, seen: Seen, now: Instant): boolean {
  if (completed == null || between(completed.at, now) >= JUDGED_FOR || seen.bootId === completed.bootId) return false;
  const running = seen.currentVersion;
  if (running === completed.version || attempt?.version === running) return false;
  return compareVersions(running, completed.version) === -1 || running === completed.from;
}
