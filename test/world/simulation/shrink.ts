/** Makes a failing history small: the same guarantee must break with fewer machines, fewer VMs, less time and fewer kinds of fault. */
import { FAULT_KINDS, type FaultKind } from './faults.ts';
import { type History, type Plan, simulate } from './simulation.ts';

/**
 * @param budget how many histories may be tried
 * @returns the smallest plan found, with its history
 */
export async function shrink(failing: History, budget = 60): Promise<History> {
  const guarantee = failing.violations[0]?.guarantee;
  let best = failing;
  let left = budget;
  const tryPlan = async (plan: Plan): Promise<boolean> => {
    if (left <= 0) return false;
    left -= 1;
    const history = await simulate(plan);
    if (history.violations[0]?.guarantee !== guarantee) return false;
    best = history;
    return true;
  };
  if (!best.plan.alone) await tryPlan({ ...best.plan, alone: true });
  for (const [field, least] of [
    ['machines', 1],
    ['vms', 0],
    ['minutes', 10],
  ] as const) {
    let step = Math.ceil((best.plan[field] - least) / 2);
    while (step > 0 && left > 0) {
      const value = Math.max(least, best.plan[field] - step);
      const smaller = value < best.plan[field] && (await tryPlan({ ...best.plan, [field]: value }));
      if (!smaller) step = Math.floor(step / 2);
    }
  }
  let kinds: FaultKind[] = FAULT_KINDS.filter((kind) => (best.struck.get(kind) ?? 0) > 0);
  for (let size = Math.ceil(kinds.length / 2); size >= 1 && left > 0; size = Math.floor(size / 2)) {
    for (let from = 0; from < kinds.length && left > 0; from += size) {
      const without = [...best.plan.without, ...kinds.slice(from, from + size)];
      if (await tryPlan({ ...best.plan, without })) {
        kinds = kinds.filter((kind) => !without.includes(kind));
        from -= size;
      }
    }
  }
  return best;
}
