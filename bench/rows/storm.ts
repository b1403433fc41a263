/**
 * A retry storm: 10,000 VMs fail at the same instant, and again at each start, for an hour. How their starts spread under our
 * curve, under KubeVirt's as it ships (the jitter is cut at the cap), under full jitter, and if they came evenly.
 * `tsx bench/storm.ts FILE` draws it.
 */
import { VM_BACKOFF_SEED, vmRetryDelay } from '../../core/policy/backoff.ts';
import { seededRandom } from '../../world/random.ts';
import type { Figure, Row } from './row.ts';

const VMS = 10_000;
const HOUR_S = 3_600;
/** A start fails so long after it was made. */
const FAILS_AFTER_S = 1;
const BASE_S = 10;
const CAP_S = 300;

/** Seconds until the next start, after so many failures in a row. */
type Curve = (count: number, draw: () => number) => number;

/** KubeVirt #5905 as shipped: quadratic, half the base of jitter, and all of it cut at the cap. */
const kubevirt: Curve = (count, draw) => {
  const base = BASE_S * count * count;
  return Math.min(CAP_S, base + Math.floor(draw() * (base / 2 + 1)));
};
const ours: Curve = (count, draw) => vmRetryDelay(VM_BACKOFF_SEED, count, draw()) / 1_000;
const fullJitter: Curve = (count, draw) => draw() * Math.min(CAP_S, BASE_S * 2 ** Math.min(count, 10));

export const CURVES: readonly { name: string; perSecond: () => number[] }[] = [
  { name: 'ours', perSecond: () => play(ours) },
  { name: 'KubeVirt as shipped', perSecond: () => play(kubevirt) },
  { name: 'full jitter', perSecond: () => play(fullJitter) },
  { name: 'evenly, by chance', perSecond: () => evenly(play(ours)) },
];

/** As `infra/commands.ts` has it: so many senders, each with a batch, each call of SSM so long (assumed). */
const SENDERS = 2;
const BATCH = 50;
const CALL_S = 0.3;

/** The instants, sorted, at which the command queue has handed on what came to it at these, sorted. */
function paced(asked: readonly number[]): number[] {
  const freeAt = Array.from({ length: SENDERS }, () => 0);
  const done: number[] = [];
  for (let next = 0; next < asked.length;) {
    const sender = freeAt.indexOf(Math.min(...freeAt));
    const from = Math.max(freeAt[sender] ?? 0, asked[next] ?? 0);
    let taken = 0;
    while (taken < BATCH && (asked[next + taken] ?? Infinity) <= from) taken += 1;
    freeAt[sender] = from + CALL_S;
    for (let one = 0; one < taken; one += 1) done.push(from + CALL_S);
    next += taken;
  }
  return done;
}

/** What the queue makes of the first minutes, in which the waves are steep: starts a second, and how much later they are. */
function firstMinutes(): { busiest: number; pacedBusiest: number; late: number[] } {
  const draw = seededRandom(11);
  const asked: number[] = [];
  for (let vm = 0; vm < VMS; vm += 1) {
    let failedAt = 0;
    for (let count = 1; ; count += 1) {
      const startsAt = failedAt + ours(count, draw);
      if (startsAt >= FIRST_S) break;
      asked.push(startsAt);
      failedAt = startsAt + FAILS_AFTER_S;
    }
  }
  asked.sort((a, b) => a - b);
  const handed = paced(asked);
  const late = handed.map((at, index) => at - (asked[index] ?? at)).sort((a, b) => a - b);
  return { busiest: busiestSecond(asked), pacedBusiest: busiestSecond(handed), late };
}

const FIRST_S = 300;

function busiestSecond(instants: readonly number[]): number {
  const perSecond = new Map<number, number>();
  for (const at of instants) perSecond.set(Math.floor(at), (perSecond.get(Math.floor(at)) ?? 0) + 1);
  return Math.max(...perSecond.values());
}

/** Starts in each second of the hour. */
function play(curve: Curve): number[] {
  const draw = seededRandom(11);
  const starts = Array.from({ length: HOUR_S }, () => 0);
  for (let vm = 0; vm < VMS; vm += 1) {
    let failedAt = 0;
    for (let count = 1; ; count += 1) {
      const startsAt = failedAt + curve(count, draw);
      const second = Math.floor(startsAt);
      if (second >= HOUR_S) break;
      starts[second] = (starts[second] ?? 0) + 1;
      failedAt = startsAt + FAILS_AFTER_S;
    }
  }
  return starts;
}

/** As many starts in the late minutes as there, each at a second of its own choice. */
function evenly(like: readonly number[]): number[] {
  const draw = seededRandom(13);
  const [from, to] = LATE;
  const many = like.slice(from, to).reduce((sum, one) => sum + one, 0);
  const starts = Array.from({ length: HOUR_S }, () => 0);
  for (let start = 0; start < Math.round((many * HOUR_S) / (to - from)); start += 1) {
    const second = Math.floor(draw() * HOUR_S);
    starts[second] = (starts[second] ?? 0) + 1;
  }
  return starts;
}

/** Minutes 40 to 60: the first waves have run out. */
const LATE = [2_400, 3_600] as const;

/** The busiest second of the late minutes by their mean second. */
export function peakToMean(perSecond: readonly number[]): number {
  const late = perSecond.slice(...LATE);
  const mean = late.reduce((sum, one) => sum + one, 0) / late.length;
  return Math.max(...late) / mean;
}

export const storm: Row = {
  name: 'storm',
  about: `${VMS.toLocaleString('en')} VMs fail together for an hour: busiest second ÷ mean second in minutes 40–60`,
  measure: async () => {
    const peaks = new Map(CURVES.map(({ name, perSecond }) => [name, peakToMean(perSecond())]));
    const theirs = peaks.get('KubeVirt as shipped') ?? Number.NaN;
    const { busiest, pacedBusiest, late } = firstMinutes();
    const paces: Figure[] = [
      { what: 'first 5 minutes, busiest second: due', target: null, measured: busiest, unit: 'starts' },
      {
        what: 'first 5 minutes, busiest second: handed on by the command queue',
        target: null,
        measured: pacedBusiest,
        unit: 'wakes',
        note: `${SENDERS} senders, ${BATCH} nodes a call, ${CALL_S} s a call (assumed); each VM on a host of its own, the worst case`,
      },
      { what: 'what that costs, p50', target: null, measured: shareOf(late, 0.5), unit: 's late' },
      { what: 'what that costs, p99', target: null, measured: shareOf(late, 0.99), unit: 's late' },
    ];
    return [...peaks]
      .map(([name, measured]): Figure => ({
        what: name,
        target: name === 'ours' ? { most: 0.75 * theirs } : null,
        measured,
        unit: '',
        ...(name === 'evenly, by chance' ? { note: 'the floor: as many starts, at seconds drawn at random' } : {}),
      }))
      .concat(paces);
  },
};

const shareOf = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
