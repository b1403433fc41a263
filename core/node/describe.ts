/** A node as the API shows it: the same gates that decide also explain (DESIGN section 2 rule 10). */
import { canOfNode } from '../contract/can.ts';
import type { NodeJson } from '../contract/answers.ts';
import type { GroupView } from '../group/view.ts';
import { formatInstant, type Instant } from '../kit/time.ts';
import { nodeAttention } from './attention.ts';
import { blockedNow } from './blocks.ts';
import { explain } from './explain.ts';
import { nodePhase } from './phase.ts';
import type { NodeRecord } from './record.ts';
import { verbState } from './verbs.ts';
import { waitsFor } from './waits-for.ts';

/** The zone of a node that names none. */
const NO_ZONE = 'none';

export function describeNode(node: NodeRecord, group: GroupView, now: Instant): NodeJson {
  const { spec, status, crash } = node;
  const [first] = waitsFor(node, group, now);
  const attention = nodeAttention(node);
  const at = (when: Instant | null): string | null => (when === null ? null : formatInstant(when));
  return {
    nodeId: node.nodeId,
    group: node.group,
    spec: { state: spec.state, version: spec.version, generation: spec.generation, since: formatInstant(spec.since) },
    status:
      status === null
        ? null
        : {
            state: status.state,
            currentVersion: status.currentVersion,
            bootId: status.bootId,
            reportedAt: formatInstant(status.reportedAt),
            updateCheck: status.updateCheck,
            agentVersion: status.agentVersion,
            ...(status.progress === undefined ? {} : { progress: status.progress }),
            ...(status.drainBlockedBy === null ? {} : { drainBlockedBy: status.drainBlockedBy }),
          },
    crash: {
      count: crash.count,
      firstAt: at(crash.firstAt),
      lastAt: at(crash.lastAt),
      retryAfter: at(crash.retryAfter),
      resetAt: at(crash.resetAt),
      lastState: crash.lastState,
      lastReason: crash.lastReason,
      lastMessage: crash.lastMessage,
    },
    blockedVersions: blockedNow(node, now),
    heldBy: node.heldBy,
    zone: status?.zone ?? NO_ZONE,
    can: canOfNode(verbState(node)),
    phase: nodePhase(node, group, now),
    waitingFor:
      first === undefined
        ? null
        : { code: first.code, ...(first.until === null ? {} : { until: formatInstant(first.until) }) },
    ...(attention === null ? {} : { attention }),
    explanation: explain(node, group, now),
  };
}
