/**
 * A retry storm: 10,000 VMs fail at the same instant, and again at each start, for an hour. How their starts spread under our
 * curve, under KubeVirt's as it ships (the jitter is cut at the cap), under full jitter, and if they came evenly.
 * `tsx bench/storm.ts FILE` draws it.
 */
import { VM_BACKOFF_SEED, vmRetryDelay } from '../../core/policy/backoff.ts';
import { seededRandom } from '../../world/random.ts';
import type { Row } from './row.ts';

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
    return [...peaks].map(([name, measured]) => ({
      what: name,
      target: name === 'ours' ? { most: 0.75 * theirs } : null,
      measured,
      unit: '',
      ...(name === 'evenly, by chance' ? { note: 'the floor: as many starts, at seconds drawn at random' } : {}),
    }));
  },
};
