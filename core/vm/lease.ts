/**
 * Leases (DESIGN section 3 rule 6). A host that is cut off ends a leased instance by itself, so its end is known once the
 * longest lease and grace that the host may still hold have passed since its last written report.
 */
import type { InstanceSeen } from '../contract/agent-bodies.ts';
import { after, type Duration, type Instant, milliseconds, minutes } from '../kit/time.ts';
import { LEASE_MARGIN } from '../node/host-word.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import type { Hold, Instance, LeaseHeld, VmRecord } from './record.ts';

/** What the host is to hold an instance by; null: by no lease. */
function declaredHold({ body }: VmRecord): Hold | null {
  const { lease, grace } = vmPolicyOf(body);
  return lease === null ? null : { lease, grace };
}

export const isSame = (a: Hold | null, b: Hold | null): boolean => a?.lease === b?.lease && a?.grace === b?.grace;

const NONE: LeaseHeld = { echoed: null, sent: [] };
const SENT_KEPT = 8;

/** The host is told the lease as it is declared: from now on it may hold it. The same instance when that is nothing new. */
export function sendLease<I extends Instance>(vm: VmRecord, instance: I, now: Instant): I {
  const hold = declaredHold(vm);
  const held = instance.lease ?? NONE;
  const last = held.sent.at(-1)?.hold ?? (held.sent.length === 0 ? held.echoed : null);
  if (isSame(hold, last)) return instance;
  const sent = [...held.sent, { hold, at: now }];
  // More edits than are kept without one word of the host: what may be held is then the longest of them.
  const kept = sent.length <= SENT_KEPT ? sent : [...sent.slice(1, 2), ...sent.slice(-SENT_KEPT + 1)];
  return { ...instance, lease: { ...held, sent: kept } };
}

/** No request is under way for longer than the API answers: what was sent before cannot arrive after a later echo. */
const IN_FLIGHT = minutes(1);

/** What a host says that it holds an instance by. */
export const holdSeen = ({ leaseSeconds, graceSeconds }: InstanceSeen): Hold | null =>
  leaseSeconds === undefined
    ? null
    : {
        lease: milliseconds(Math.round(leaseSeconds * 1000)),
        grace: milliseconds(Math.round((graceSeconds ?? 0) * 1000)),
      };

/**
 * What the host holds, once it has echoed what it was sent and nobody has missed it; undefined: its word is still awaited.
 */
export function settledHold(vm: VmRecord, { lease }: Instance): Hold | null | undefined {
  const { echoed, sent, lookAt } = lease ?? NONE;
  return sent.length === 0 && lookAt == null && isSame(echoed, declaredHold(vm)) ? echoed : undefined;
}

/** What the host says it holds; what it was sent since then it may hold as well. */
export function echoLease<I extends Instance>(instance: I, seen: InstanceSeen, now: Instant): I {
  const echoed = holdSeen(seen);
  const held = instance.lease ?? NONE;
  const last = held.sent.at(-1);
  const settled =
    last !== undefined && isSame(last.hold, echoed) && (held.sent.length === 1 || now >= after(last.at, IN_FLIGHT));
  const sent = settled ? [] : held.sent;
  const missed = held.lookAt != null;
  if (isSame(echoed, held.echoed) && sent === held.sent && !missed) return instance;
  return { ...instance, lease: { echoed, sent } };
}

/** The longest that the host may go on without a word of ours; null: for ever, or nobody knows. */
export function longestHold({ lease }: Instance): Duration | null {
  // A first lease counts only once it was echoed: an older agent holds none.
  if (lease?.echoed == null) return null;
  let longest = lease.echoed.lease + lease.echoed.grace;
  for (const { hold } of lease.sent) {
    // A lease that was taken away again: from then on it may run for ever.
    if (hold === null) return null;
    longest = Math.max(longest, hold.lease + hold.grace);
  }
  return milliseconds(longest);
}

/**
 * When the end of the instance is known without a word of its host; null: never.
 * @param heardAt the host's last written report
 */
export function leaseOverAt(vm: VmRecord, instance: Instance, heardAt: Instant): Instant | null {
  const hold = longestHold(instance);
  if (hold === null) return null;
  // What was renewed in the history that was lost was renewed before the recovery.
  const from = vm.recoveredAt !== undefined && vm.recoveredAt > heardAt ? vm.recoveredAt : heardAt;
  return after(from, milliseconds(hold + LEASE_MARGIN));
}
