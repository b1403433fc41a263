/** What happens to a group's rollout: its breaker, its windows, what it has settled on (DESIGN section 2b). */
import { mayGroup } from '../contract/can.ts';
import { type Fact, info, refused, type Refusal } from '../decision/fact.ts';
import { after, type Duration, formatDuration, formatInstant, type Instant } from '../kit/time.ts';
import type { Breaker } from '../policy/rollout.ts';
import type { Freeze } from '../policy/windows.ts';
import { hear, type HeardAlarms, ringing } from '../rollout/alarm-states.ts';
import {
  type BreakerChange,
  closeBreaker,
  countCrash,
  type CountedCrash,
  NO_CRASHES,
  putBreaker,
} from '../rollout/breaker-state.ts';
import { sayFrozen } from '../rollout/calendar.ts';
import { inForce } from '../rollout/expedited.ts';
import type { RolloutCount } from '../rollout/progress.ts';
import type { KeptZone } from '../rollout/zone.ts';
import type { Settled } from '../rollout/settling.ts';
import type { GroupRecord } from './record.ts';

export type RolloutEvent =
  /** Nodes crashed towards a version; also as the sweep finds them again, lest one was not heard of. */
  | { kind: 'crashed'; breaker: Breaker | null; crashes: readonly CountedCrash[] }
  | { kind: 'closeBreaker'; version: string | null; by: string }
  | { kind: 'openWindow'; freezes: readonly Freeze[]; for: Duration; by: string }
  | { kind: 'closeWindow'; by: string }
  | { kind: 'expedite'; version: string; for: Duration; by: string }
  /** Which zone is kept, and whom it makes way for. */
  | { kind: 'keepZone'; zone: KeptZone }
  /** When the group is to be looked at because a window opens; null: none is waited for. */
  | { kind: 'lookAt'; at: Instant | null }
  /** What was heard of the alarms that its policy names. */
  | { kind: 'alarms'; names: readonly string[]; news: HeardAlarms }
  /** What the sweep found, looking at all members. */
  | ({ kind: 'surveyed' } & Survey);

export type Survey = {
  members: number;
  down: number;
  rollout: RolloutCount;
  /** Null: no group comes after this one. */
  settled: readonly Settled[] | null;
  unsettled: Readonly<Record<string, string>>;
};

type Decision = { next: GroupRecord; facts: Fact[] } | null | { kind: 'refused'; refusal: Refusal };

/** Null when nothing changes. */
export function decideRollout(before: GroupRecord, event: RolloutEvent, now: Instant): Decision {
  switch (event.kind) {
    case 'crashed':
      return crashed(before, event);
    case 'closeBreaker':
      return personCloses(before, event, now);
    case 'openWindow':
      return openWindow(before, event, now);
    case 'closeWindow':
      if (before.opened == null || before.opened.until <= now) return null;
      return {
        next: { ...before, opened: null },
        facts: [info('Window Closed', `the window that ${before.opened.by} opened is closed by ${event.by}`)],
      };
    case 'expedite':
      return expedite(before, event, now);
    case 'keepZone':
      if (JSON.stringify(before.zone ?? null) === JSON.stringify(event.zone)) return null;
      return { next: { ...before, zone: event.zone }, facts: [] };
    case 'lookAt':
      return (before.lookAt ?? null) === event.at ? null : { next: { ...before, lookAt: event.at }, facts: [] };
    case 'alarms':
      return heardAlarms(before, event);
    case 'surveyed':
      return surveyed(before, event);
  }
}

function heardAlarms(before: GroupRecord, { names, news }: Extract<RolloutEvent, { kind: 'alarms' }>): Decision {
  const known = before.alarms ?? {};
  const alarms = hear(names, known, news);
  if (alarms === known) return null;
  const [was, is] = [ringing(names, known), ringing(names, alarms)];
  const begun = is.filter((name) => !was.includes(name));
  const over = was.filter((name) => !is.includes(name));
  const facts: Fact[] = [];
  if (begun.length > 0) {
    const message = `alarm ${begun.join(', ')} rings: nothing starts, is activated or goes on to its reboot until it is OK`;
    facts.push({ kind: 'event', type: 'Group Halted', severity: 'warning', message });
  }
  if (over.length > 0) facts.push(info('Group Halt Ended', `alarm ${over.join(', ')} rings no more`));
  if (over.length > 0 && is.length === 0) facts.push({ kind: 'fill', group: before.group });
  return { next: { ...before, alarms }, facts };
}

/** The breaker after a policy was put: other numbers are judged at once, none closes it. */
export function rejudge(
  before: GroupRecord,
  breaker: Breaker | null,
  now: Instant,
): { next: GroupRecord; facts: Fact[] } {
  if (before.breaker === undefined) return { next: before, facts: [] };
  return tell(before, putBreaker(before.breaker, breaker, now), 'by the policy that was put');
}

function crashed(before: GroupRecord, { breaker, crashes }: Extract<RolloutEvent, { kind: 'crashed' }>): Decision {
  if (breaker === null) return null;
  const state = before.breaker ?? NO_CRASHES;
  const change = crashes.reduce<BreakerChange>(
    (step, crash) => {
      const counted = countCrash(step.state, breaker, crash);
      return { ...counted, opened: [...step.opened, ...counted.opened] };
    },
    { state, opened: [], closed: [] },
  );
  return JSON.stringify(change.state) === JSON.stringify(state) ? null : tell(before, change, '');
}

function personCloses(
  before: GroupRecord,
  { version, by }: Extract<RolloutEvent, { kind: 'closeBreaker' }>,
  now: Instant,
): Decision {
  const open = before.breaker?.open ?? [];
  if (version !== null && !open.some((entry) => entry.version === version)) {
    const which =
      open.length === 0 ? 'no breaker is open' : `open is the one for ${open.map((entry) => entry.version).join(', ')}`;
    return refused(409, 'BreakerNotOpen', `group ${before.group} has no open breaker for ${version}: ${which}`);
  }
  if (before.breaker === undefined || (open.length === 0 && before.breaker.crashes.length === 0)) return null;
  return tell(before, closeBreaker(before.breaker, version, now), `by ${by}`);
}

function tell(
  before: GroupRecord,
  { state, opened, closed }: BreakerChange,
  how: string,
): { next: GroupRecord; facts: Fact[] } {
  const facts: Fact[] = [];
  for (const { version, nodes } of opened) {
    const message = `the breaker is open for ${version}: ${nodes.length} of its nodes have crashed on it (${nodes.slice(0, 5).join(', ')}); no other node takes it, and what is staged is withdrawn`;
    facts.push({ kind: 'event', type: 'Breaker Opened', severity: 'warning', message });
  }
  for (const { version } of closed) facts.push(info('Breaker Closed', `the breaker for ${version} is closed ${how}`));
  if (opened.length + closed.length > 0) facts.push({ kind: 'fill', group: before.group });
  return { next: { ...before, breaker: state }, facts };
}

function openWindow(before: GroupRecord, event: Extract<RolloutEvent, { kind: 'openWindow' }>, now: Instant): Decision {
  const { by } = event;
  const state = { group: before.group, isDefault: false, declared: true, frozen: sayFrozen(event.freezes, now) };
  const no = mayGroup('openWindow', state);
  if (no !== null) return refused(409, no.code, no.detail);
  const until = after(now, event.for);
  return {
    next: { ...before, opened: { at: now, until, by } },
    facts: [
      info(
        'Window Opened',
        `a window is opened by ${by} for ${formatDuration(event.for)}, until ${formatInstant(until)}`,
      ),
      { kind: 'fill', group: before.group },
    ],
  };
}

/** So many at a time: each is one line of the group's JSON. */
const EXPEDITED_MAX = 10;

function expedite(before: GroupRecord, event: Extract<RolloutEvent, { kind: 'expedite' }>, now: Instant): Decision {
  const { version, by } = event;
  const until = after(now, event.for);
  const others = inForce(before.expedited ?? [], now).filter((entry) => entry.version !== version);
  if (others.length >= EXPEDITED_MAX) {
    return refused(409, 'TooManyExpedited', `group ${before.group} has ${EXPEDITED_MAX} expedited versions already`);
  }
  return {
    next: { ...before, expedited: [...others, { version, by, until }] },
    facts: [
      info(
        'Version Expedited',
        `${version} may be taken whatever its age and promotion, until ${formatInstant(until)}; by ${by}`,
      ),
      { kind: 'fill', group: before.group },
    ],
  };
}

function surveyed(before: GroupRecord, survey: Survey): Decision {
  const { members, down, settled, unsettled } = survey;
  const same = JSON.stringify(before.rollout?.target) === JSON.stringify(survey.rollout.target);
  const rollout = same ? before.rollout : survey.rollout;
  const { down: _was, settled: _had, unsettled: _lacked, rollout: _counted, ...rest } = before;
  const next: GroupRecord = {
    ...rest,
    memberCount: members,
    ...(down === 0 ? {} : { down }),
    ...(settled === null || settled.length === 0 ? {} : { settled }),
    ...(settled === null || Object.keys(unsettled).length === 0 ? {} : { unsettled }),
    ...(rollout === undefined ? {} : { rollout }),
  };
  const changed = SURVEYED.some((key) => JSON.stringify(before[key]) !== JSON.stringify(next[key]));
  return changed ? { next, facts: [] } : null;
}

const SURVEYED = ['memberCount', 'down', 'settled', 'unsettled', 'rollout'] as const;
