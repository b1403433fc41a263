/** One look at all members of a group, from the index alone (DESIGN section 2b): in each sweep. */
import type { GroupRecord } from '../../core/group/record.ts';
import type { Duration } from '../../core/kit/time.ts';
import type { GroupPolicy } from '../../core/policy/group-policy.ts';
import { crashesOf, survey } from '../../core/rollout/survey.ts';
import { decideNode } from '../../core/node/decide.ts';
import type { Digest } from '../../core/node/digest.ts';
import type { ControlPlane } from '../ports.ts';
import { turn } from '../turn.ts';
import { skipping } from '../unreadable.ts';
import { turnGroup } from './groups.ts';

/** So many nodes learn of another pin in one sweep: the rest in the next. */
const PINS_AT_ONCE = 200;

/** Each node is told the pin in the answer to its report, which reads nothing but the node. */
async function tellPin(plane: ControlPlane, members: readonly Digest[], pin: string | null): Promise<void> {
  const others = members.filter((member) => member.pin !== pin).slice(0, PINS_AT_ONCE);
  for (const { nodeId } of others) {
    await skipping(plane, 'node', nodeId, () =>
      turn(plane, 'node', nodeId, (record) =>
        decideNode(record, { kind: 'pin', pin }, { nodeId, now: plane.now(), group: null }),
      ),
    );
  }
}

/** @param soak the shortest for which a group waits that comes after this one; null: none does */
export async function surveyGroup(
  plane: ControlPlane,
  own: GroupRecord,
  { rollout }: GroupPolicy,
  soak: Duration | null,
): Promise<void> {
  const lines = await plane.store.members(own.group);
  const members = lines.flatMap(({ digest }) => digest ?? []);
  const now = plane.now();
  const { breaker } = rollout;
  if (breaker !== null) {
    const crashes = crashesOf(members, now);
    if (crashes.length > 0) await turnGroup(plane, own.group, { kind: 'crashed', breaker, crashes });
  }
  await tellPin(plane, members, rollout.version.pin);
  const found = survey(own, { members, total: lines.length, soak }, now);
  await turnGroup(plane, own.group, { kind: 'surveyed', ...found });
}
