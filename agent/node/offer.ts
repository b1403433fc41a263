/**
 * What a node is offered, judged by what it runs. With version-lock `latest` a node above the newest version of its
 * repository is offered an older one (facts, section 2.6): nobody has asked for that. An owner's own lock asks for it. Pure.
 */
import type { UpdateCheck } from '../../core/contract/agent-bodies.ts';
import { compareVersions } from '../../core/kit/version-order.ts';
import type { UpdateStatus } from '../updater/update-status.ts';

const LATEST = 'latest';

/** `older`: it is not to be taken; `unclear`: that cannot be said before more can be read. */
export type Offer = { kind: 'taken' } | { kind: 'older' | 'unclear'; message: string };

/** @param running null when /os does not answer  @param lock settings.updates.version-lock; null when it cannot be read */
export function judgeOffer(version: string, running: string | null, lock: string | null): Offer {
  if (running === null)
    return { kind: 'unclear', message: `${version} is offered, and /os does not say what runs here` };
  if (compareVersions(version, running) !== -1) return { kind: 'taken' };
  const older = `${version} is offered, which is older than ${running}`;
  if (lock === null) return { kind: 'unclear', message: `${older}, and settings.updates.version-lock cannot be read` };
  if (lock !== LATEST) return { kind: 'taken' };
  return {
    kind: 'older',
    message: `${older}: not taken while settings.updates.version-lock is ${LATEST}; set it to ${version} to go back`,
  };
}

/** What a successful refresh says. In Idle nothing is chosen, whatever an older refresh has left behind. */
export function updateCheckOf(
  { state, chosen }: UpdateStatus,
  running: string | null,
  lock: string | null,
): UpdateCheck {
  if (state === 'Idle' || chosen === null) {
    // An owner who has locked the version is told that this is why nothing newer is offered.
    if (lock === null || lock === LATEST) return { result: 'UpToDate' };
    return { result: 'UpToDate', message: `settings.updates.version-lock is ${lock}` };
  }
  const offer = judgeOffer(chosen, running, lock);
  switch (offer.kind) {
    case 'taken':
      return { result: 'Available', version: chosen };
    case 'older':
      return { result: 'UpToDate', message: offer.message };
    case 'unclear':
      return { result: 'Failed', message: offer.message };
  }
}
