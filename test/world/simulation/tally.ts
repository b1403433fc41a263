/** Sums of many histories, for the table that a run prints. */
import { FAULT_KINDS, type FaultKind } from './faults.ts';
import type { History } from './simulation.ts';
import type { Guarantee } from './violation.ts';

export type Tally = {
  histories: number;
  virtualHours: number;
  externalCalls: number;
  requests: number;
  clicks: number;
  intrusions: number;
  struck: Partial<Record<FaultKind, number>>;
  checked: Partial<Record<Guarantee, number>>;
};

export const noTally = (): Tally => ({
  histories: 0,
  virtualHours: 0,
  externalCalls: 0,
  requests: 0,
  clicks: 0,
  intrusions: 0,
  struck: {},
  checked: {},
});

const sum = <K extends string>(
  a: Partial<Record<K, number>>,
  b: Iterable<readonly [K, number]>,
): Partial<Record<K, number>> => {
  const result = { ...a };
  for (const [key, count] of b) result[key] = (result[key] ?? 0) + count;
  return result;
};

export const withHistory = (tally: Tally, { figures, struck, checked }: History): Tally => ({
  histories: tally.histories + 1,
  virtualHours: tally.virtualHours + figures.virtualHours,
  externalCalls: tally.externalCalls + figures.externalCalls,
  requests: tally.requests + figures.requests,
  clicks: tally.clicks + figures.clicks,
  intrusions: tally.intrusions + figures.intrusions,
  struck: sum(tally.struck, struck),
  checked: sum(tally.checked, checked),
});

export const together = (a: Tally, b: Tally): Tally => ({
  histories: a.histories + b.histories,
  virtualHours: a.virtualHours + b.virtualHours,
  externalCalls: a.externalCalls + b.externalCalls,
  requests: a.requests + b.requests,
  clicks: a.clicks + b.clicks,
  intrusions: a.intrusions + b.intrusions,
  // The keys of a tally are kinds and guarantees: it was made from them.
  struck: sum(a.struck, Object.entries(b.struck) as [FaultKind, number][]),
  checked: sum(a.checked, Object.entries(b.checked) as [Guarantee, number][]),
});

/** A table for a person. */
export function sayTally(tally: Tally): string {
  const count = (value: number): string => Math.round(value).toLocaleString('en');
  const guarantees = Object.entries(tally.checked)
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([name, times]) => `${name} ${count(times)}`);
  const faults = FAULT_KINDS.map((kind) => `  ${kind.padEnd(36)} ${count(tally.struck[kind] ?? 0).padStart(10)}`);
  const all = FAULT_KINDS.reduce((total, kind) => total + (tally.struck[kind] ?? 0), 0);
  return [
    `histories            ${count(tally.histories)}, ${count(tally.virtualHours)} virtual hours`,
    `external calls       ${count(tally.externalCalls)}`,
    `API requests         ${count(tally.requests)}, of them ${count(tally.clicks)} by operators and ${count(tally.intrusions)} by intruders`,
    `checks               ${guarantees.join(', ')}`,
    `faults injected      ${count(all)}`,
    ...faults,
  ].join('\n');
}
