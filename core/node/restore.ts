/** A node after its record was restored from an older copy of the table (docs/runbooks/restore.md). */
import { type Fact, info, type Outcome, unchanged } from '../decision/fact.ts';
import { type Instant, formatInstant } from '../kit/time.ts';
import { conclude } from './conclude.ts';
import type { NodeContext } from './event.ts';
import { generationFloor } from './floor.ts';
import type { NodeRecord } from './record.ts';
import { endAttempt, moveSpec, type Step } from './spec.ts';

/**
 * Whatever it was on its way to is withdrawn and nothing is counted: its spec is Idle, in a generation above everything
 * that may have been issued in the history that was lost. Its crash record, its holds and its blocked versions stay.
 */
export function restoreNode(node: NodeRecord, at: Instant, context: NodeContext): Outcome<NodeRecord> {
  if (node.restored?.at === at) return unchanged;
  const { spec } = moveSpec(node, 'Idle', null, context.now).node;
  const generation = Math.max(spec.generation, generationFloor(at));
  const ended = endAttempt({ ...node, spec: { ...spec, generation } });
  return conclude(
    node,
    {
      node: {
        ...ended.node,
        restored: { at, heardAt: null },
        machine: null,
        // VMs may be in the copy that it knew nothing of.
        hosting: null,
        unreachableSince: null,
        silentSince: null,
        wakeFailure: null,
      },
      facts: [
        ...ended.facts,
        { kind: 'wake', hostId: node.nodeId, action: 'DriveNode', generation, decided: true },
        info(
          'Node Restored',
          `restored from an older copy: Idle is asked for, generation ${generation}, as of ${formatInstant(at)}`,
        ),
      ],
    },
    context,
  );
}

/** The first report after a recovery, whatever it says: its VMs learn that their host was heard. */
export function greet(node: NodeRecord, now: Instant): Step {
  const { restored } = node;
  if (restored == null || restored.heardAt !== null) return { node, facts: [] };
  const facts: Fact[] = [{ kind: 'hostReported', hostId: node.nodeId }];
  return { node: { ...node, restored: { ...restored, heardAt: now } }, facts };
}
