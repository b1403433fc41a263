/** A story told to the real control plane on its virtual clock, as a scenario file tells it. */
import { expect } from 'vitest';
import { runScenario } from '../../world/simulate/run.ts';
import { readScenario } from '../../world/simulate/scenario.ts';

export const A = 'i-0000000000000000a';
export const B = 'i-0000000000000000b';

type NodeReport = {
  state: string;
  boot?: string;
  version?: string;
  offered?: string | null;
  error?: { reason: string; message?: string };
  generation?: string | null;
};

/** A node's report, as its agent sends it. */
export function reports(at: number | string, node: string, report: NodeReport): object {
  const { state, boot = 'boot-1', version = '1.20.5', offered = '1.21.0', error, generation = '$current' } = report;
  return {
    at,
    node,
    report: {
      state,
      bootId: boot,
      currentVersion: version,
      updateCheck: offered === null ? { result: 'UpToDate' } : { result: 'Available', version: offered },
      ...(error === undefined ? {} : { error }),
      ...(generation === null ? {} : { generation }),
    },
  };
}

export const looksLike = (at: number | string, node: string, match: object): object => ({
  at,
  expect: { node, match },
});
export const crashes = (at: number | string, node: string, reason = 'ActivateFailed'): object =>
  reports(at, node, { state: 'ErrorReset', error: { reason, message: 'exit 1' } });

/** Runs the steps; every expectation in them must hold. */
export async function tell(steps: readonly object[], more: object = {}): Promise<void> {
  const { failures } = await runScenario(
    readScenario(JSON.stringify({ start: '2026-01-05T00:00:00Z', steps, ...more })),
  );
  expect(failures).toEqual([]);
}
