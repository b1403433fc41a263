/**
 * When a group has settled on a version, so that groups which come after it may take it (DESIGN section 2b, Promotion).
 * Judged by the sweep, from what the index says of the members.
 */
import type { NodeId } from '../kit/ids.ts';
import { after, between, type Duration, type Instant, milliseconds } from '../kit/time.ts';
import { compareVersions } from '../kit/version-order.ts';
import { sameVersion } from './version-rules.ts';

/** What is asked of a member. */
export type Member = {
  nodeId: NodeId;
  version: string;
  /** Its spec is Idle and reached, and its status says so. */
  idle: boolean;
  held: boolean;
  stopped: boolean;
  silent: boolean;
  underWay: boolean;
  /** The versions that crashes on its record were towards. */
  crashedTowards: readonly string[];
  /** Since when it runs its version, as far as is known. */
  since: Instant;
  /** It was updated to its version here; else it enrolled with it. */
  completed: boolean;
};

/**
 * A version on which the group has settled, or had. `longest`: the longest time for which it stayed so before something
 * ended it; who comes after needs its soak in one piece, and what it has had once stays (latched).
 */
export type Settled = { version: string; since: Instant | null; longest: Duration };

const KEPT = 10;

export type Situation = {
  members: readonly Member[];
  /** Versions for which a breaker of the group is open. */
  broken: readonly string[];
  /** The shortest soak of the groups that come after this one. */
  soak: Duration;
  now: Instant;
};

/** What the group has settled on now, given what it had; the versions that came last are kept. */
export function settle(before: readonly Settled[], { members, broken, soak, now }: Situation): readonly Settled[] {
  const kept = before.filter(({ version }) => !broken.some((other) => sameVersion(other, version)));
  const candidates = [...new Set([...kept.map(({ version }) => version), ...members.map(({ version }) => version)])];
  const settled = candidates.flatMap((version): Settled[] => {
    const known = kept.find((entry) => entry.version === version) ?? null;
    const isBroken = broken.some((other) => sameVersion(other, version));
    const holds = !isBroken && missing(version, members, soak, now).length === 0;
    if (holds) return [{ version, since: known?.since ?? now, longest: known?.longest ?? milliseconds(0) }];
    if (known === null) return [];
    const longest = known.since === null ? known.longest : longer(known.longest, between(known.since, now));
    return [{ version, since: crashedOn(version, members) || known.since === null ? null : known.since, longest }];
  });
  return settled.slice(-KEPT);
}

const longer = (a: Duration, b: Duration): Duration => (a > b ? a : b);

const crashedOn = (version: string, members: readonly Member[]): boolean =>
  members.some(({ crashedTowards }) => crashedTowards.some((other) => sameVersion(other, version)));

/** Whether a version may be taken by a group that waits so long for this one; `until` when that is known. */
export function promoted(
  settled: readonly Settled[],
  version: string,
  soak: Duration,
  now: Instant,
): { may: true } | { may: false; until: Instant | null } {
  const entry = settled.find((other) => sameVersion(other.version, version));
  if (entry === undefined) return { may: false, until: null };
  if (entry.longest >= soak) return { may: true };
  if (entry.since === null) return { may: false, until: null };
  const until = after(entry.since, soak);
  return until <= now ? { may: true } : { may: false, until };
}

/** What keeps a group from being settled on a version, node by node; empty when nothing does. */
export function missing(version: string, members: readonly Member[], soak: Duration, now: Instant): readonly string[] {
  const asked = members.filter(counts).toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
  const problems = asked.flatMap((member) => {
    const why = whyNotSettled(member, version);
    return why === null ? [] : [`${member.nodeId} ${why}`];
  });
  const proven = asked.some(
    (member) => sameVersion(member.version, version) && (member.completed || between(member.since, now) >= soak),
  );
  return problems.length > 0 || proven ? problems : [`no node there has completed ${version} yet`];
}

/** A held, stopped or silent member is not waited for; one that fell silent under way, or with a crash, is. */
function counts(member: Member): boolean {
  if (member.held || member.stopped) return false;
  return !member.silent || member.underWay || member.crashedTowards.length > 0;
}

function whyNotSettled(member: Member, version: string): string | null {
  if (member.crashedTowards.some((other) => sameVersion(other, version))) return `has crashed on ${version}`;
  const order = compareVersions(member.version, version);
  if (member.version !== version && (order === null || order === -1)) return `runs ${member.version}`;
  if (member.silent) return 'is silent';
  return member.idle ? null : 'is still under way';
}

/** At most three, then how many more. */
export function sayMissing(problems: readonly string[]): string {
  const named = problems.slice(0, 3).join(', ');
  return problems.length > 3 ? `${named} and ${problems.length - 3} more` : named;
}
