/** How a decision about a node ends: its place in the queue, its revision and its log. */
import { type Fact, logEvents, type Outcome, unchanged } from '../decision/fact.ts';
import { settle } from './advance.ts';
import type { NodeContext } from './event.ts';
import { maintenanceFacts } from './maintenance.ts';
import type { NodeRecord } from './record.ts';
import type { Step } from './spec.ts';

export const info = (type: Extract<Fact, { kind: 'event' }>['type'], message: string): Fact => ({
  kind: 'event',
  type,
  severity: 'info',
  message,
});

/** Settles the queue, gives the record its revision, and writes the events into its log. */
export function conclude(before: NodeRecord, step: Step, context: NodeContext): Outcome<NodeRecord> {
  const settled = settle(before, step.node, context.now);
  const facts = dedupeFills([...step.facts, ...settled.facts, ...maintenanceFacts(before, settled.node)]);
  if (settled.node === before && facts.length === 0) return unchanged;
  const revision = before.revision + 1;
  const events = logEvents(settled.node.events, facts, `node/${before.nodeId}`, revision, context.now);
  return { kind: 'changed', next: { ...settled.node, revision, events }, facts };
}

function dedupeFills(facts: Fact[]): Fact[] {
  const released = new Set(facts.flatMap((fact) => (fact.kind === 'slotReleased' ? [fact.group] : [])));
  let filled = false;
  return facts.filter((fact) => {
    if (fact.kind !== 'fill') return true;
    if (released.has(fact.group) || filled) return false;
    filled = true;
    return true;
  });
}
