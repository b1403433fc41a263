/** Decisions per second and core (DESIGN section 10: at least 100,000), by CPU time. */
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import { newGroup } from '../../core/group/record.ts';
import { viewGroup } from '../../core/group/view.ts';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import { instant } from '../../core/kit/time.ts';
import { decideNode } from '../../core/node/decide.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { nodeIdAt } from './fleet.ts';
import { cpuMs, type Figure, type Row } from './row.ts';

const LEAST = 100_000;
const WARM_UP = 20_000;
const TIMES = 200_000;

const now = instant(Date.UTC(2026, 0, 5));
const group = newGroup(DEFAULT_GROUP);
const context = { nodeId: nodeIdAt(0), now, group: viewGroup(group, group, now) };
const report = (more: Partial<NodeReport>): NodeReport => ({
  state: 'Idle',
  bootId: 'b1',
  currentVersion: '1.0',
  updateCheck: { result: 'Available', version: '1.1' },
  ...more,
});

function after(node: NodeRecord | null, event: Parameters<typeof decideNode>[1]): NodeRecord {
  const outcome = decideNode(node, event, context);
  if (outcome.kind !== 'changed') throw new Error(`the bench's own set-up is wrong: ${outcome.kind}`);
  return outcome.next;
}

function figure(what: string, node: NodeRecord, given: NodeReport): Figure {
  const decide = (times: number): void => {
    for (let time = 0; time < times; time += 1) decideNode(node, { kind: 'report', report: given }, context);
  };
  decide(WARM_UP);
  const from = cpuMs();
  decide(TIMES);
  const measured = TIMES / ((cpuMs() - from) / 1000);
  return { what, target: { least: LEAST }, measured, unit: '/s' };
}

export const decisions: Row = {
  name: 'decisions',
  about: 'decisions per second of CPU, on one core',
  measure: async () => {
    const idle = after(null, { kind: 'report', report: report({}) });
    const underWay = after(idle, { kind: 'start', claim: null, told: true });
    const { generation } = underWay.spec;
    return Promise.resolve([
      figure('a report that changes nothing', idle, report({ generation: 1 })),
      figure('a crash', underWay, report({ state: 'ErrorReset', generation })),
      figure('a step reached', underWay, report({ state: 'StagedUpdate', generation })),
    ]);
  },
};
