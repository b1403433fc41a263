/** What a VM's body means once every default is filled in (DESIGN section 3). */
import { type Duration, minutes, seconds } from '../kit/time.ts';
import { validated, type VmBackoff, type VmBackoffBody, vmBackoffOf } from './backoff.ts';

/** The part of a VM's body that is policy. */
type VmPolicyBody = {
  backoff?: VmBackoffBody | undefined;
  stableFor?: string | undefined;
  startDeadline?: string | undefined;
  grace?: string | undefined;
};

export type VmPolicy = {
  backoff: VmBackoff;
  stableFor: Duration;
  /** Time from Scheduled to Running; null when the VM has no start deadline. */
  startDeadline: Duration | null;
  grace: Duration;
};

export function vmPolicyOf(body: VmPolicyBody): VmPolicy {
  return {
    backoff: vmBackoffOf(body.backoff),
    stableFor: body.stableFor === undefined ? minutes(10) : validated(body.stableFor),
    startDeadline:
      body.startDeadline === 'none'
        ? null
        : body.startDeadline === undefined
          ? minutes(5)
          : validated(body.startDeadline),
    grace: body.grace === undefined ? seconds(30) : validated(body.grace),
  };
}
