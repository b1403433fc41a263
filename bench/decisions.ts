/** Decisions per second and core: `tsx bench/decisions.ts` (DESIGN section 10: at least 100 000). */
import { Bench } from 'tinybench';
import type { NodeReport } from '../core/contract/agent-bodies.ts';
import { DEFAULT_GROUP, type NodeId, parseNodeId } from '../core/kit/ids.ts';
import { newGroup } from '../core/group/record.ts';
import { viewGroup } from '../core/group/view.ts';
import { decideNode } from '../core/node/decide.ts';
import type { NodeRecord } from '../core/node/record.ts';
import { instant } from '../core/kit/time.ts';

function nodeIdOf(text: string): NodeId {
  const id = parseNodeId(text);
  if (id === null) throw new Error('not a node id');
  return id;
}

const now = instant(Date.UTC(2026, 0, 5));
const group = newGroup(DEFAULT_GROUP);
const context = { nodeId: nodeIdOf('i-0000000000000000a'), now, group: viewGroup(group, group, now) };
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

const idle = after(null, { kind: 'report', report: report({}) });
const underWay = after(idle, { kind: 'start', claim: null, told: true });
const { generation } = underWay.spec;

const bench = new Bench({ time: 1000 })
  .add(
    'a report that changes nothing',
    () => void decideNode(idle, { kind: 'report', report: report({ generation: 1 }) }, context),
  )
  .add(
    'a crash',
    () => void decideNode(underWay, { kind: 'report', report: report({ state: 'ErrorReset', generation }) }, context),
  )
  .add(
    'a step reached',
    () => void decideNode(underWay, { kind: 'report', report: report({ state: 'StagedUpdate', generation }) }, context),
  );
await bench.run();
// A table of figures is what a bench is for.
process.stdout.write(
  `${bench.tasks.map((task) => `${task.name.padEnd(32)} ${Math.round(task.result.state === 'completed' ? task.result.throughput.mean : 0).toLocaleString('en')} decisions/s`).join('\n')}\n`,
);
