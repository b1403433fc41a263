/** Why a person should look at a group (DESIGN sections 2b and 6). */
import type { Attention } from '../contract/answer-parts.ts';
import { sayCause } from '../kit/cause.ts';
import { between, type Instant, minutes } from '../kit/time.ts';
import type { GroupRecord } from './record.ts';

/** A zone that is kept for longer than this keeps all others waiting: a node there does not come back. */
const ZONE_KEPT_OF_NOTE = minutes(90);

/** The first, in the order of attention; null: no reason. */
export function groupAttention(group: GroupRecord, now: Instant): Attention | null {
  const broken = group.breaker?.open ?? [];
  if (broken.length > 0)
    return { code: 'BreakerOpen', cause: sayCause(broken.map(({ version }) => version).join(', ')) };
  const rings = Object.entries(group.alarms ?? {}).flatMap(([name, { state }]) => (state === 'ALARM' ? [name] : []));
  if (rings.length > 0) return { code: 'AlarmRinging', cause: sayCause(rings.sort().join(', ')) };
  if (group.pausedBy === null && zoneIsKept(group, now))
    return { code: 'ZoneKept', cause: sayCause(`zone ${group.zone?.zone ?? 'not known'}`) };
  return group.pausedBy === null ? null : { code: 'Paused', cause: sayCause(`by ${group.pausedBy}`) };
}

const zoneIsKept = ({ zone, slots }: GroupRecord, now: Instant): boolean =>
  zone != null && Object.values(slots).some(({ at }) => between(at, now) > ZONE_KEPT_OF_NOTE);
