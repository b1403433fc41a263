/**
 * The breaker of a group: distinct nodes that crashed on one version within a time open it for that version (DESIGN section
 * 2b). Kept in the group's item, so it is bounded: one crash a node and version, and the versions that crashed last.
 */
import type { NodeId } from '../kit/ids.ts';
import { between, type Instant } from '../kit/time.ts';
import { type Breaker, BREAKER_FAILURES_MAX, BREAKER_WITHIN_LONGEST } from '../policy/rollout.ts';

/** The last crash of a node towards a version. */
export type CountedCrash = { nodeId: NodeId; version: string; at: Instant };
export type OpenBreaker = { version: string; openedAt: Instant; nodes: readonly NodeId[] };
/** What a person forgave: crashes up to then count no more, however late they are heard of. */
export type Forgiven = { version: string | null; at: Instant };
export type BreakerState = {
  crashes: readonly CountedCrash[];
  open: readonly OpenBreaker[];
  forgiven?: readonly Forgiven[];
};

export const NO_CRASHES: BreakerState = { crashes: [], open: [] };

/** So many versions are kept: a fleet is on its way to one or two, and people step back a few. */
const VERSIONS_KEPT = 10;

/** What a change of the breaker is to be told of. */
export type BreakerChange = {
  state: BreakerState;
  opened: readonly OpenBreaker[];
  closed: readonly OpenBreaker[];
};

/** A node crashed on the way to a version. Each node counts once, with its last crash; what is open stays so. */
export function countCrash(state: BreakerState, breaker: Breaker, crash: CountedCrash): BreakerChange {
  const { nodeId, version, at } = crash;
  if (isForgiven(state, crash)) return { state, opened: [], closed: [] };
  const same = (other: CountedCrash): boolean => other.nodeId === nodeId && other.version === version;
  const last = state.crashes.find(same)?.at ?? at;
  const others = state.crashes.filter((other) => !same(other));
  const crashes = bounded([...others, { nodeId, version, at: last > at ? last : at }]);
  const nodes = nodesThatCount(crashes, version, breaker, at);
  const open = state.open.find((entry) => entry.version === version);
  if (open !== undefined) {
    const joined = open.nodes.includes(nodeId) ? open.nodes : [...open.nodes, nodeId].slice(-BREAKER_FAILURES_MAX);
    const entries = state.open.map((entry) => (entry === open ? { ...open, nodes: joined } : entry));
    return { state: { ...state, crashes, open: entries }, opened: [], closed: [] };
  }
  if (nodes.length < breaker.failures) return { state: { ...state, crashes }, opened: [], closed: [] };
  const opened = { version, openedAt: at, nodes };
  return { state: { ...state, crashes, open: [...state.open, opened] }, opened: [opened], closed: [] };
}

/** Other numbers are judged at once against the crashes still kept; a policy without a breaker closes and forgets. */
export function putBreaker(state: BreakerState, breaker: Breaker | null, now: Instant): BreakerChange {
  if (breaker === null) return { state: NO_CRASHES, opened: [], closed: state.open };
  const crashes = state.crashes.filter(({ at }) => between(at, now) < BREAKER_WITHIN_LONGEST);
  const before = new Map(state.open.map((entry) => [entry.version, entry]));
  const open = [...new Set(crashes.map(({ version }) => version))].flatMap((version) => {
    const nodes = nodesThatCount(crashes, version, breaker, now);
    return nodes.length < breaker.failures ? [] : [{ version, openedAt: before.get(version)?.openedAt ?? now, nodes }];
  });
  const stays = new Set(open.map(({ version }) => version));
  return {
    state: { ...state, crashes, open },
    opened: open.filter(({ version }) => !before.has(version)),
    closed: state.open.filter(({ version }) => !stays.has(version)),
  };
}

/** A person forgives a version, or all: the crashes that count towards it are forgotten here, not in the nodes' records. */
export function closeBreaker(state: BreakerState, version: string | null, now: Instant): BreakerChange {
  const meant = (entry: { version: string }): boolean => version === null || entry.version === version;
  const others = version === null ? [] : (state.forgiven ?? []).filter((entry) => entry.version !== version);
  return {
    state: {
      crashes: state.crashes.filter((crash) => !meant(crash)),
      open: state.open.filter((entry) => !meant(entry)),
      forgiven: [...others, { version, at: now }].slice(-VERSIONS_KEPT),
    },
    opened: [],
    closed: state.open.filter(meant),
  };
}

const isForgiven = ({ forgiven = [] }: BreakerState, crash: CountedCrash): boolean =>
  forgiven.some(({ version, at }) => (version === null || version === crash.version) && crash.at <= at);

function nodesThatCount(
  crashes: readonly CountedCrash[],
  version: string,
  { within }: Breaker,
  now: Instant,
): readonly NodeId[] {
  return crashes
    .filter((crash) => crash.version === version && between(crash.at, now) <= within)
    .toSorted((a, b) => a.at - b.at || (a.nodeId < b.nodeId ? -1 : 1))
    .map(({ nodeId }) => nodeId);
}

/** The crashes of the versions that crashed last, at most as many of each as any breaker counts. */
function bounded(crashes: readonly CountedCrash[]): CountedCrash[] {
  const newest = crashes.toSorted((a, b) => b.at - a.at);
  const versions = [...new Set(newest.map(({ version }) => version))].slice(0, VERSIONS_KEPT);
  return versions
    .flatMap((version) => newest.filter((crash) => crash.version === version).slice(0, BREAKER_FAILURES_MAX))
    .toReversed();
}
