/** Wakes that are repeated while nobody has answered them (DESIGN section 5). */
import { type Outcome, unchanged } from '../decision/fact.ts';
import { after, type Instant, seconds } from '../kit/time.ts';
import { conclude } from './conclude.ts';
import type { NodeContext } from './event.ts';
import { type NodeRecord, type NodeSpec, WAKE_EVERY, WAKE_REPEATS } from './record.ts';
import type { Step } from './spec.ts';

export function repeatWake(node: NodeRecord, now: Instant): Step {
  const { spec } = node;
  if (spec.nextWakeAt === null || now < spec.nextWakeAt) return { node, facts: [] };
  return {
    node: { ...node, spec: { ...spec, ...nextRepeat(spec, node.attempt?.letOnAt ?? spec.since, now) } },
    facts: [{ kind: 'wake', hostId: node.nodeId, action: 'DriveNode', generation: spec.generation, decided: false }],
  };
}

/** The first of 1, 4 and 10 min after the step began that is still to come, then hourly. */
function nextRepeat(spec: NodeSpec, from: Instant, now: Instant): Pick<NodeSpec, 'nextWakeAt' | 'wakesRepeated'> {
  for (let wakesRepeated = spec.wakesRepeated + 1; ; wakesRepeated += 1) {
    const wait = WAKE_REPEATS[wakesRepeated];
    if (wait === undefined) return { nextWakeAt: after(now, WAKE_EVERY), wakesRepeated };
    if (after(from, wait) > now) return { nextWakeAt: after(from, wait), wakesRepeated };
  }
}

/** How soon a failed wake is repeated. */
const SOON = seconds(30);

/** A negative status is shown, and brings the next repeat forward once for each step: a host that is off is not hammered. */
export function wakeFailed(
  node: NodeRecord,
  status: string,
  generation: number | null,
  context: NodeContext,
): Outcome<NodeRecord> {
  const { spec } = node;
  if (generation !== null && generation !== spec.generation) return unchanged;
  if (spec.nextWakeAt === null) return unchanged;
  const known = node.wakeFailure?.status === status;
  if (spec.broughtForward === true && known) return unchanged;
  const soon = after(context.now, SOON);
  const nextWakeAt = spec.broughtForward === true || spec.nextWakeAt < soon ? spec.nextWakeAt : soon;
  const wakeFailure = { status, at: context.now };
  return conclude(
    node,
    { node: { ...node, spec: { ...spec, nextWakeAt, broughtForward: true }, wakeFailure }, facts: [] },
    context,
  );
}
