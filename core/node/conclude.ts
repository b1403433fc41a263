/** How a decision about a node ends: its place in the queue, its revision and its log. */
import { type Fact, logEvents, type Outcome, unchanged } from '../decision/fact.ts';
import type { NodeContext } from './event.ts';
import { maintenanceFacts } from './maintenance.ts';
import { requeue } from './queue.ts';
import type { NodeRecord } from './record.ts';
import type { Step } from './spec.ts';
import { withSilenceLook } from './timing.ts';

export function conclude(before: NodeRecord, step: Step, context: NodeContext): Outcome<NodeRecord> {
  const placed = requeue(before, step.node, context.now);
  const facts = onceEach([...step.facts, ...placed.facts, ...maintenanceFacts(before, placed.node)]);
  if (placed.node === before && facts.length === 0) return unchanged;
  const revision = before.revision + 1;
  const events = logEvents(placed.node.events, facts, `node/${before.nodeId}`, revision, context.now);
  const next = { ...withSilenceLook(before, placed.node, context.now), revision, events };
  return { kind: 'changed', next, facts };
}

/** One fill is enough, and a slot that is released is filled anyway. */
function onceEach(facts: Fact[]): Fact[] {
  const released = new Set(facts.flatMap((fact) => (fact.kind === 'slotReleased' ? [fact.group] : [])));
  let filled = false;
  return facts.filter((fact) => {
    if (fact.kind !== 'fill') return true;
    if (released.has(fact.group) || filled) return false;
    filled = true;
    return true;
  });
}
