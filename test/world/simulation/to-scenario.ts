/** A failing history as a scenario file that `holdoff simulate` replays: what was asked of the control plane, and what it should have shown. */
import { readScenario } from '../../../world/simulate/scenario.ts';
import { runScenario } from '../../../world/simulate/run.ts';
import type { Call } from './call.ts';
import type { History } from './simulation.ts';

type Step = Record<string, unknown> & { at: number };

/** What a scenario can say of a call; null for reads and for callers that it does not know. */
function stepOf(call: Call, status: number | null, seconds: number): Step | null {
  const [, kinds = '', id = '', verb] = /^\/v1\/(nodes|vms|groups)\/([^/?]+)(?:\/([^/?]+))?/.exec(call.path) ?? [];
  if (kinds === '' || call.method === 'GET' || call.wrongHost === true) return null;
  const subject = { at: seconds, [kinds.slice(0, -1)]: id };
  const expected = { status: status ?? { oneOf: [200, 201, 202, 404, 409] } };
  if (call.method === 'PUT') return { ...subject, put: call.body, ...expected };
  if (call.method === 'DELETE') return { ...subject, delete: true, ...expected };
  if (verb === 'reports') return call.caller.kind === 'node' ? { ...subject, report: call.body, ...expected } : null;
  const body = call.body === undefined ? {} : { body: call.body };
  return call.caller.kind === 'operator' && verb !== undefined ? { ...subject, verb, ...body, ...expected } : null;
}

export type Replay = {
  text: string;
  /** Whether the scenario fails as the history did: without it the fault needs a process or a service to fail. */
  fails: boolean;
};

/**
 * @returns the smallest scenario that still fails; when none does, all steps, which then show the way there
 */
export async function toScenario(history: History, budget = 150): Promise<Replay> {
  const [violation] = history.violations;
  if (violation === undefined) throw new Error('a history without a violation');
  const [kind = '', id = ''] = violation.subject.split('/');
  const known = ['node', 'vm', 'group'].includes(kind);
  const seconds = (at: number): number => Math.round(at - history.start) / 1000;
  const steps = history.handled.flatMap(({ at, call, status }) => {
    const step = stepOf(call, status, seconds(at));
    return step === null ? [] : [step];
  });
  const last = seconds(violation.at) + 0.001;
  const expect =
    known && violation.expected !== null ? [{ at: last, expect: { [kind]: id, match: violation.expected } }] : [];
  const text = (some: readonly Step[]): string =>
    JSON.stringify(
      {
        name: `${violation.guarantee}: ${violation.what}`,
        description: `Shrunk from seed ${history.plan.seed}: npm run test:simulation -- --seed ${history.plan.seed}`,
        start: new Date(history.start).toISOString(),
        seed: history.plan.seed,
        steps: [...some, ...expect],
      },
      null,
      2,
    );
  const fails = async (some: readonly Step[]): Promise<boolean> => {
    const { failures } = await runScenario(readScenario(text(some)));
    return failures.some(({ step }) => step !== null && step >= some.length);
  };
  if (expect.length === 0 || !(await fails(steps))) return { text: text(steps), fails: false };
  let kept = steps;
  let left = budget;
  for (let size = Math.ceil(kept.length / 2); size >= 1 && left > 0; size = Math.floor(size / 2)) {
    for (let from = 0; from < kept.length && left > 0; left -= 1) {
      const fewer = [...kept.slice(0, from), ...kept.slice(from + size)];
      if (await fails(fewer)) kept = fewer;
      else from += size;
    }
  }
  return { text: text(kept), fails: true };
}
