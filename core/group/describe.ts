/** A group as the API shows it (DESIGN section 6). */
import { canOfGroup } from '../contract/can.ts';
import { groupAttention } from './attention.ts';
import { verbState } from './group.ts';
import type { GroupJson } from '../contract/answers.ts';
import { formatDuration, type Instant } from '../kit/time.ts';
import { drainTimeout } from '../policy/drain.ts';
import { sayFrozen } from '../rollout/calendar.ts';
import { describeRollout, sayRollout } from '../rollout/describe.ts';
import { type GroupBody, groupPolicyOf } from '../policy/group-policy.ts';
import type { RolloutBody } from '../policy/rollout.ts';
import { type GroupRecord, policyInForce } from './record.ts';
import { type Slots, slotsOf } from './slots.ts';

/** @param slotless nodes that are under way without a slot, as the index names them; asked only where `mustCount` */
export function describeGroup(
  own: GroupRecord,
  fallback: GroupRecord,
  now: Instant,
  slotless: readonly string[] = [],
): GroupJson {
  const policy = policyInForce(own, fallback);
  const body = own.body ?? fallback.body ?? {};
  const slots = slotsOf(own, fallback, policy, now);
  const underWay = [...new Set([...slots.holders, ...slotless])].sort();
  const attention = groupAttention(own, now);
  const paused =
    own.pausedBy === null
      ? ''
      : ` Paused by ${own.pausedBy}: nothing starts, is activated or goes on to its reboot until it is resumed.`;
  const declared = own.body === null ? ' Not declared: it has the policy of default.' : '';
  return {
    group: own.group,
    declared: own.body !== null,
    policy: describePolicy(body),
    paused: own.pausedBy !== null,
    memberCount: own.memberCount,
    limit: slots.limit,
    underWay,
    can: canOfGroup(verbState(own, sayFrozen(policy.rollout.freezes, now))),
    ...describeRollout(own, policy.rollout, now),
    ...(attention === null ? {} : { attention }),
    explanation: `${sayUse(slots, underWay.length)}.${paused}${sayRollout(own, policy.rollout, now)}${declared}`,
  };
}

/** A policy with its defaults filled in, as it is shown. */
export function describePolicy(body: GroupBody): GroupJson['policy'] {
  const { deadlines, soak } = groupPolicyOf(body);
  const text = (state: keyof typeof deadlines): string => formatDuration(deadlines[state]);
  return {
    maxConcurrentUpdates: body.maxConcurrentUpdates ?? 1,
    backoff: body.backoff ?? { preset: 'seed' },
    deadlines: {
      Idle: text('Idle'),
      StagedUpdate: text('StagedUpdate'),
      PerformedUpdate: text('PerformedUpdate'),
      RebootedIntoUpdate: text('RebootedIntoUpdate'),
      MonitoringUpdate: text('MonitoringUpdate'),
    },
    monitor: {
      soak: formatDuration(soak),
      checks: body.monitor?.checks ?? [],
      onFailure: body.monitor?.onFailure ?? 'rollback',
    },
    drain:
      body.drain === undefined
        ? null
        : {
            steps: body.drain.steps,
            timeout: formatDuration(drainTimeout(body.drain)),
            onTimeout: body.drain.onTimeout ?? 'abort',
          },
    ...rolloutOf(body),
  };
}

/** What the policy says of rollouts, as it was put. */
const ROLLOUT_KEYS = [
  'windows',
  'freezes',
  'breaker',
  'version',
  'after',
  'order',
  'maxUnavailable',
  'spread',
  'haltOnAlarm',
] as const;
const rolloutOf = (body: GroupBody): RolloutBody =>
  Object.fromEntries(ROLLOUT_KEYS.flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]])));

function sayUse({ limit, holders, uncounted, counting }: Slots, underWay: number): string {
  if (limit === null)
    return `No limit on concurrent updates${underWay === 0 ? '' : `; ${underWay} ${underWay === 1 ? 'is' : 'are'} under way`}`;
  const used = `${holders.length} of ${limit} slots in use`;
  if (counting) return `${used}; nodes that began without a limit are being counted before another one starts`;
  return uncounted === 0 ? used : `${used}, and ${uncounted} under way that began without a limit`;
}
