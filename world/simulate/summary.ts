/** What an operator asks when a simulation is over: how many starts, how fast, how long, and who is still in trouble. */
import type { Instant } from '../../core/kit/time.ts';
import type { Cause, Happening } from './happening.ts';
import type { World } from './world.ts';

export type Summary = {
  /** Instances started; of them those that nobody asked for at that moment: retries. */
  starts: { total: number; retries: number; busiestSecond: { at: number; retries: number } | null };
  failures: { start: number; unstable: number; nodeCrashes: number };
  /** Seconds from start at which the last VM or node recovered; null when none did. */
  lastRecoveredAt: number | null;
  /** The longest wait for a start or an attempt. */
  longestWait: { subject: string; seconds: number } | null;
  /** How timers that acted did, and how many nobody waited for any more. */
  timers: { vernier: number; scheduler: number; stale: number; latestSeconds: number };
  sweeps: { run: number; found: number };
  updates: { begun: number; completed: number; mostByOneNode: { subject: string; begun: number } | null };
  vms: Record<string, number>;
  nodes: Record<string, number>;
};

/** What is shown of things at the end, as the API gives it: `printableStatus` of VMs, `phase` of nodes. */
export type Shown = { vms: readonly string[]; nodes: readonly string[] };

/** Counts what happened in a world from its start. */
export function summarise(world: World, start: Instant, shown: Shown): Summary {
  const { happenings } = world;
  const from = (at: Instant): number => (at - start) / 1000;
  const ofType = (...types: string[]): Happening[] =>
    happenings.filter(({ event }) => event !== undefined && types.includes(event));
  const begun = tally(ofType('Node Update Started').map(({ subject }) => subject));
  const recovered = ofType('VM Recovered', 'VM Running', 'Node Updated').at(-1);
  const fired = happenings.flatMap((happening) => happening.fired ?? []);
  const metric = (name: Parameters<World['metrics']['get']>[0]): number => world.metrics.get(name) ?? 0;
  return {
    starts: startsOf(happenings, from),
    failures: {
      start: metric('VmStartFailure'),
      unstable: metric('VmUnstableRun'),
      nodeCrashes: metric('NodeCrash'),
    },
    lastRecoveredAt: recovered === undefined ? null : from(recovered.at),
    longestWait: longestWait(happenings),
    timers: {
      vernier: fired.filter(({ by }) => by === 'vernier').length,
      scheduler: fired.filter(({ by }) => by === 'scheduler').length,
      stale: world.staleFirings,
      latestSeconds: fired.reduce((most, { late }) => Math.max(most, late), 0) / 1000,
    },
    sweeps: { run: world.sweeps, found: happenings.filter(({ kind }) => kind === 'sweep').length },
    updates: {
      begun: ofType('Node Update Started').length,
      completed: ofType('Node Updated').length,
      mostByOneNode: most(begun, (subject, count) => ({ subject, begun: count })),
    },
    vms: Object.fromEntries(tally(shown.vms)),
    nodes: Object.fromEntries(tally(shown.nodes)),
  };
}

/** A start is a retry when a timer or the sweep set it off. */
function startsOf(happenings: readonly Happening[], from: (at: Instant) => number): Summary['starts'] {
  const causes = new Map<string, Cause['by']>();
  const perSecond = new Map<number, number>();
  let [total, retries] = [0, 0];
  for (const { at, subject, cause, wake } of happenings) {
    if (cause !== undefined) causes.set(subject, cause.by);
    if (wake?.action !== 'StartInstance' || !wake.decided) continue;
    total += 1;
    const by = causes.get(subject) ?? 'start';
    if (by === 'start' || by === 'call') continue;
    retries += 1;
    const second = Math.floor(from(at));
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  return { total, retries, busiestSecond: most(perSecond, (at, count) => ({ at, retries: count })) };
}

function longestWait(happenings: readonly Happening[]): Summary['longestWait'] {
  let longest: Summary['longestWait'] = null;
  for (const { at, subject, waits } of happenings) {
    if (waits?.retry !== true || subject.startsWith('group/')) continue;
    const seconds = (waits.until - at) / 1000;
    if (longest === null || seconds > longest.seconds) longest = { subject, seconds };
  }
  return longest;
}

function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function most<K, T>(counts: ReadonlyMap<K, number>, as: (key: K, count: number) => T): T | null {
  const [first, ...rest] = counts;
  if (first === undefined) return null;
  const [key, count] = rest.reduce((best, next) => (next[1] > best[1] ? next : best), first);
  return as(key, count);
}
