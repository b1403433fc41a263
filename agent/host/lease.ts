/**
 * How long an instance may run without word from the control plane (DESIGN section 3 rule 6). It is counted from the
 * sending of the report whose answer renewed it, on the boot clock. Pure.
 */
import { type Instance, isLive } from './instance.ts';

/** When a guest is to be stopped, and when to be killed; milliseconds of the boot clock. */
export type Lease = { readonly stopAt: number; readonly killAt: number };

/** What its wrapper is told; null: it may run for ever. */
export function leaseOf({ lease, graceMs }: Instance): Lease | null {
  if (lease === null) return null;
  const stopAt = lease.from + lease.ms;
  return { stopAt, killAt: stopAt + graceMs };
}

/** An end that has begun is not taken back, and a lease that nobody would enforce is none. */
const holds = (instance: Instance): boolean => isLive(instance) && instance.stop === null && instance.guarded;

/** A report that was sent at this instant has been answered with a renewal, for each VM of its own length. */
export function renewed(instance: Instance, sentAt: number): Instance {
  const { lease } = instance;
  if (lease === null || !holds(instance) || sentAt <= lease.from) return instance;
  return { ...instance, lease: { ...lease, from: sentAt } };
}

/** The list that was asked for at this instant says how long its lease and its grace are; null: it has none. */
export function leaseListed(
  instance: Instance,
  said: { leaseSeconds?: number; graceSeconds?: number },
  askedAt: number,
): Instance {
  if (!holds(instance)) return instance;
  const { lease } = instance;
  if (said.leaseSeconds === undefined) return lease === null ? instance : { ...instance, lease: null };
  const ms = said.leaseSeconds * 1000;
  const graceMs = said.graceSeconds === undefined ? instance.graceMs : said.graceSeconds * 1000;
  if (lease?.ms === ms && instance.graceMs === graceMs) return instance;
  return { ...instance, graceMs, lease: { ms, from: lease?.from ?? askedAt } };
}
