/** The rollout of a group as the API shows it (DESIGN section 2b, group JSON). */
import type { GroupJson } from '../contract/answers.ts';
import type { GroupRecord } from '../group/record.ts';
import { formatInstant, type Instant, sayWhen } from '../kit/time.ts';
import type { RolloutPolicy } from '../policy/rollout.ts';
import { alarmsOf, ringing } from './alarm-states.ts';
import { type Openness, opennessAt } from './calendar.ts';
import { inForce } from './expedited.ts';

type Shown = Pick<GroupJson, 'window' | 'expedited' | 'alarms' | 'zone' | 'breakers' | 'settled' | 'rollout'>;

export function describeRollout(own: GroupRecord, policy: RolloutPolicy, now: Instant): Shown {
  const zone = Object.keys(own.slots).length > 0 && policy.spreadOverZones ? (own.zone?.zone ?? null) : null;
  return {
    window: windowShown(own, openness(own, policy, now), now),
    expedited: inForce(own.expedited ?? [], now).map((entry) => ({ ...entry, until: formatInstant(entry.until) })),
    alarms: alarmsOf(policy.haltOnAlarm, own.alarms),
    ...(zone === null ? {} : { zone }),
    breakers: (own.breaker?.open ?? []).map(({ version, openedAt, nodes }) => ({
      version,
      openedAt: formatInstant(openedAt),
      nodes: [...nodes],
    })),
    settled: (own.settled ?? []).flatMap(({ version, since }) =>
      since === null ? [] : [{ version, since: formatInstant(since) }],
    ),
    rollout:
      own.rollout === undefined ? null : { at: formatInstant(own.rollout.at), target: { ...own.rollout.target } },
  };
}

/** What a person has to know of it at once, each as a sentence. */
export function sayRollout(own: GroupRecord, policy: RolloutPolicy, now: Instant): string {
  const said: string[] = [];
  for (const { version, nodes } of own.breaker?.open ?? [])
    said.push(
      `The breaker is open for ${version}: ${nodes.length} of its nodes crashed on it, and nobody takes it until closeBreaker.`,
    );
  const rings = ringing(policy.haltOnAlarm, own.alarms);
  if (rings.length > 0)
    said.push(`Alarm ${rings.join(', ')} rings: nothing starts, is activated or goes on to its reboot until it is OK.`);
  const missing = alarmsOf(policy.haltOnAlarm, own.alarms).filter(({ state }) => state === 'Missing');
  if (missing.length > 0)
    said.push(
      `CloudWatch has no alarm ${missing.map(({ name }) => name).join(', ')}, or has not been asked yet: it halts nothing.`,
    );
  const open = openness(own, policy, now);
  if (!open.open) said.push(sayClosed(open, now));
  return said.map((sentence) => ` ${sentence}`).join('');
}

function sayClosed({ opensAt, frozen }: Extract<Openness, { open: false }>, now: Instant): string {
  const next = opensAt === null ? 'no window opens within five years' : `it may begin again ${sayWhen(opensAt, now)}`;
  if (frozen === null) return `Outside its windows: ${next}.`;
  return `Frozen until ${formatInstant(frozen.to)}${frozen.reason === null ? '' : ` (${frozen.reason})`}: ${next}.`;
}

const openness = (own: GroupRecord, { windows, freezes }: RolloutPolicy, now: Instant): Openness =>
  opennessAt({ windows, freezes, opened: own.opened ?? null }, now);

function windowShown({ opened }: GroupRecord, open: Openness, now: Instant): GroupJson['window'] {
  const by = opened != null && opened.until > now ? { openedBy: opened.by } : {};
  if (open.open) return { open: true, ...(open.until === null ? {} : { closesAt: formatInstant(open.until) }), ...by };
  const { frozen, opensAt } = open;
  const reason = frozen?.reason == null ? {} : { reason: frozen.reason };
  return {
    open: false,
    ...(opensAt === null ? {} : { opensAt: formatInstant(opensAt) }),
    ...by,
    ...(frozen === null ? {} : { frozen: { to: formatInstant(frozen.to), ...reason } }),
  };
}
