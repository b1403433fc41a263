/** What a VM's body means once every default is filled in (DESIGN section 3). */
import * as z from 'zod/mini';
import { positiveDuration, text } from '../kit/schema.ts';
import { type Duration, hours, minutes, parseDuration, seconds } from '../kit/time.ts';
import { validated, type VmBackoff, type VmBackoffBody, vmBackoffOf } from './backoff.ts';

/** The shortest lease: a host that reports three times within it has time for its reports (DESIGN section 3 rule 6). */
const LEASE_MIN = minutes(5);
const LEASE_MAX = hours(7 * 24);

export const leaseSchema = () =>
  positiveDuration().check(
    z.refine((given) => {
      const lease = parseDuration(given);
      return lease !== null && lease >= LEASE_MIN && lease <= LEASE_MAX;
    }, 'must be from 5m to 7d: a host has to report three times within its lease'),
  );

const asked = {
  every: z.optional(positiveDuration()),
  failures: z.optional(z.int().check(z.gte(1), z.lte(100))),
};

/** How the host asks the guest whether it lives: a port of the host, `host:port`, or a URL (rule 11). */
export const livenessSchema = /* @__PURE__ */ z.lazy(() =>
  z.union([
    z.strictObject({
      tcp: z.union([
        z.int().check(z.gte(1), z.lte(65_535)),
        text(1, 300).check(z.refine((target) => /^.+:\d{1,5}$|^\d{1,5}$/.test(target), 'must be a port or host:port')),
      ]),
      ...asked,
    }),
    z.strictObject({
      http: text(1, 2000).check(z.refine((url) => /^https?:\/\/[^\s]+$/.test(url), 'must be an http or https URL')),
      ...asked,
    }),
  ]),
);
export type LivenessProbe = z.infer<typeof livenessSchema>;

/** The part of a VM's body that is policy. */
type VmPolicyBody = {
  backoff?: VmBackoffBody | undefined;
  stableFor?: string | undefined;
  startDeadline?: string | undefined;
  grace?: string | undefined;
  lease?: string | undefined;
};

export type VmPolicy = {
  backoff: VmBackoff;
  /** So many failures in a row and no more is tried by itself; null: never given up. */
  giveUpAfter: number | null;
  stableFor: Duration;
  /** Time from Scheduled to Running; null when the VM has no start deadline. */
  startDeadline: Duration | null;
  grace: Duration;
  /** Without a word of the control plane its host ends it after so long; null: it may run for ever. */
  lease: Duration | null;
};

export function vmPolicyOf(body: VmPolicyBody): VmPolicy {
  return {
    backoff: vmBackoffOf(body.backoff),
    giveUpAfter: body.backoff?.giveUpAfter ?? null,
    stableFor: body.stableFor === undefined ? minutes(10) : validated(body.stableFor),
    startDeadline:
      body.startDeadline === 'none'
        ? null
        : body.startDeadline === undefined
          ? minutes(5)
          : validated(body.startDeadline),
    grace: body.grace === undefined ? seconds(30) : validated(body.grace),
    lease: body.lease === undefined ? null : validated(body.lease),
  };
}
