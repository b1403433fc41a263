/**
 * The two back-off curves: nodes (seed: Brupop #160) and VMs (seed: KubeVirt #5905).
 * Exponents are capped before they are used and no shift operator appears: `2^n` in 64-bit integers wrapped to
 * nothing in the peer (facts/bottlerocket-updates.md section 1.B).
 */
import * as z from 'zod/mini';
import { notTiny, positiveDuration } from '../kit/schema.ts';
import {
  after,
  type Duration,
  hours,
  type Instant,
  milliseconds,
  minutes,
  parseDuration,
  seconds,
} from '../kit/time.ts';

/** After so many crashes, or failures in a row, nothing is tried by itself any more. */
export const giveUpAfter = () => z.optional(z.int().check(z.gte(1), z.lte(1000)));

export const nodeBackoffSchema = /* @__PURE__ */ z.lazy(() =>
  z.union([
    z.strictObject({ preset: z.enum(['seed', 'brupop']), giveUpAfter: giveUpAfter() }),
    z.strictObject({
      giveUpAfter: giveUpAfter(),
      unit: positiveDuration(),
      from: z.enum(['firstCrash', 'lastCrash']),
      cap: positiveDuration(),
      resetAfter: z.union([z.literal('none'), positiveDuration()]),
    }),
  ]),
);
export type NodeBackoffBody = z.infer<typeof nodeBackoffSchema>;

/** After so many failures in a row it is tried no more; never, when it is left out (DESIGN section 3 rule 2). */
const vmGiveUpAfter = () => ({ giveUpAfter: giveUpAfter() });

export const vmBackoffSchema = /* @__PURE__ */ z.lazy(() =>
  z.union([
    z.strictObject({ preset: z.enum(['seed', 'kubevirt']), ...vmGiveUpAfter() }),
    z.strictObject({
      base: positiveDuration(),
      factor: z.number().check(z.gte(1), z.lte(10)),
      cap: positiveDuration(),
      jitter: z.number().check(z.gte(0), z.lte(1), notTiny()),
      ...vmGiveUpAfter(),
    }),
  ]),
);
export type VmBackoffBody = z.infer<typeof vmBackoffSchema>;

/** A wait of `unit × 2^count + plus` from the first or the last crash, at most `cap`; the record forgotten after `resetAfter`. */
export type NodeBackoff = {
  unit: Duration;
  /** Absent: nothing. */
  plus?: Duration;
  from: 'firstCrash' | 'lastCrash';
  cap: Duration;
  resetAfter: Duration | null;
  /** Absent: it is never given up. */
  giveUpAfter?: number;
};

/** Seed: "2^crash_count seconds since the first crash", reset after 24 hours. */
export const NODE_BACKOFF_SEED: NodeBackoff = {
  unit: seconds(1),
  from: 'firstCrash',
  cap: hours(24),
  resetAfter: hours(24),
};

/**
 * As Brupop shipped it: more than 2^count whole minutes since the last crash, at most 24 h, never reset by time. The peer
 * compares whole minutes and strictly, which is one minute more (facts/bottlerocket-updates.md section 1.B).
 */
export const NODE_BACKOFF_BRUPOP: NodeBackoff = {
  unit: minutes(1),
  plus: minutes(1),
  from: 'lastCrash',
  cap: hours(24),
  resetAfter: null,
};

export function nodeBackoffOf(body: NodeBackoffBody | undefined): NodeBackoff {
  if (body === undefined) return NODE_BACKOFF_SEED;
  const givesUp = body.giveUpAfter === undefined ? {} : { giveUpAfter: body.giveUpAfter };
  if ('preset' in body) return { ...(body.preset === 'brupop' ? NODE_BACKOFF_BRUPOP : NODE_BACKOFF_SEED), ...givesUp };
  return {
    unit: validated(body.unit),
    from: body.from,
    cap: validated(body.cap),
    resetAfter: body.resetAfter === 'none' ? null : validated(body.resetAfter),
    ...givesUp,
  };
}

const EXPONENT_MAX = 60;

export type Crashes = {
  count: number;
  firstAt: Instant;
  lastAt: Instant;
  /** The last attempt had begun its disruptive step, a blocked drain too. */
  disruptive: boolean;
};

/** What disturbs workloads waits as Brupop ships it, whatever the preset: 2^count minutes, at most a day. */
const DISRUPTIVE_UNIT = minutes(1);
const DISRUPTIVE_CAP = hours(24);

/** When a node that has crashed `count` times may try again (DESIGN section 2 rule 3). */
export function nodeRetryAfter(backoff: NodeBackoff, { count, firstAt, lastAt, disruptive }: Crashes): Instant {
  const power = 2 ** Math.min(Math.max(count, 0), EXPONENT_MAX);
  const wait = milliseconds(Math.min(backoff.cap, backoff.unit * power + (backoff.plus ?? 0)));
  const curve = after(backoff.from === 'firstCrash' ? firstAt : lastAt, wait);
  if (!disruptive) return curve;
  const calm = after(lastAt, milliseconds(Math.min(DISRUPTIVE_CAP, DISRUPTIVE_UNIT * power)));
  return calm > curve ? calm : curve;
}

/** When a node's crash record is forgotten; null when the policy never forgets. */
export const nodeResetAt = (backoff: NodeBackoff, firstAt: Instant): Instant | null =>
  backoff.resetAfter === null ? null : after(firstAt, backoff.resetAfter);

/** Delay before automatic start number n+1: `base × factor^(n−1)` or `base × n²`, with jitter, never above the cap. */
export type VmBackoff = {
  growth: { kind: 'exponential'; factor: number } | { kind: 'quadratic' };
  base: Duration;
  cap: Duration;
  /** The share of the base that is drawn on top of it, 0 to 1. */
  jitter: number;
};

export const VM_BACKOFF_SEED: VmBackoff = {
  growth: { kind: 'exponential', factor: 2 },
  base: seconds(10),
  cap: seconds(300),
  jitter: 0.5,
};

/** KubeVirt's quadratic curve (cases/kubevirt-backoff-delay.json), with our jitter at the cap. */
export const VM_BACKOFF_KUBEVIRT: VmBackoff = { ...VM_BACKOFF_SEED, growth: { kind: 'quadratic' } };

export function vmBackoffOf(body: VmBackoffBody | undefined): VmBackoff {
  if (body === undefined) return VM_BACKOFF_SEED;
  if ('preset' in body) return body.preset === 'kubevirt' ? VM_BACKOFF_KUBEVIRT : VM_BACKOFF_SEED;
  return {
    growth: { kind: 'exponential', factor: body.factor },
    base: validated(body.base),
    cap: validated(body.cap),
    jitter: body.jitter,
  };
}

/**
 * The delay after the n-th failure in a row.
 * Jitter that is cut at the cap is no jitter (the reviewer's point on KubeVirt #5905): where base and jitter could
 * pass the cap the delay is drawn evenly between the base and the cap; where the base alone reaches it, between
 * `cap / (1 + jitter)` (two thirds of it by default) and the cap.
 * @param random a draw from [0, 1)
 */
export function vmRetryDelay(backoff: VmBackoff, failures: number, random: number): Duration {
  const n = Math.max(1, failures);
  const { base, cap, jitter, growth } = backoff;
  const grown =
    growth.kind === 'quadratic'
      ? base * Math.min(n, 1_000_000) ** 2
      : base * Math.min(growth.factor ** Math.min(n - 1, EXPONENT_MAX), Number.MAX_SAFE_INTEGER);
  const spread = (from: number, to: number): Duration => milliseconds(Math.round(from + random * (to - from)));
  if (grown >= cap) return spread(cap / (1 + jitter), cap);
  return spread(grown, Math.min(cap, grown * (1 + jitter)));
}

/** A duration that the contract has already accepted; a year is its own upper bound, so a miss reads as the longest. */
export const validated = (text: string): Duration => parseDuration(text) ?? hours(365 * 24);
