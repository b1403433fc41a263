/** What follows once status has reached the spec (DESIGN sections 2 and 2b). */
import type { SpecState } from '../contract/words.ts';
import { info } from '../decision/fact.ts';
import type { GroupView } from '../group/view.ts';
import { after, type Instant, minutes } from '../kit/time.ts';
import { type Stop, stopsAt } from '../rollout/gates.ts';
import { soakEnds } from './deadline.ts';
import { type Attempt, type NodeRecord, WAKE_REPEATS } from './record.ts';
import { giveUpSlot, moveSpec, NEXT_STATE, type Step, withdraw } from './spec.ts';

/** After an offer was refused nothing new begins for so long, if nothing else changes. */
const REFUSED_FOR = minutes(20);

/** The node has reported that it is where the spec wants it: on to the next step, unless a gate says stop. */
export function goOn(node: NodeRecord, group: GroupView | null, now: Instant): Step {
  const { spec, attempt } = node;
  if (attempt === null || spec.reachedAt === null) return { node, facts: [] };
  switch (spec.state) {
    case 'StagedUpdate':
      return group === null ? { node, facts: [] } : leaveStaged(node, attempt, group, now);
    case 'PerformedUpdate':
      return group === null ? { node, facts: [] } : (disarm(node, group, now) ?? reboot(node, attempt, group, now));
    case 'RebootedIntoUpdate':
      return next(node, attempt, now);
    case 'MonitoringUpdate': {
      const ends = soakEnds(node);
      return ends !== null && now < ends ? { node, facts: [] } : next(node, attempt, now);
    }
    case 'Idle':
      return { node, facts: [] };
  }
}

/** Told to reboot, until its group's window closes. */
function reboot(node: NodeRecord, attempt: Attempt, { rollout }: GroupView, now: Instant): Step {
  const { openness } = rollout;
  const moved = next(node, attempt, now);
  if (!openness.open || openness.until === null) return moved;
  return { ...moved, node: { ...moved.node, spec: { ...moved.node.spec, beginsUntil: openness.until } } };
}

function next(node: NodeRecord, attempt: Attempt, now: Instant): Step {
  const { spec, status } = node;
  const state: SpecState = NEXT_STATE[spec.state];
  const moved = moveSpec(node, state, state === 'Idle' ? null : spec.version, now);
  const reboots = state === 'RebootedIntoUpdate' && status !== null && status.currentVersion === attempt.fromVersion;
  return {
    node: {
      ...moved.node,
      attempt: {
        ...attempt,
        letOnAt: null,
        fromBootId: reboots ? status.bootId : attempt.fromBootId,
        succeeded: state === 'Idle',
      },
    },
    facts: [...moved.facts, info('Node Update Step', `${spec.state} reached; now ${state}`)],
  };
}

/** A staged node is activated, waits, or begins anew. */
function leaveStaged(node: NodeRecord, attempt: Attempt, group: GroupView, now: Instant): Step {
  const { version } = node.spec;
  const changed = offerChanged(node, attempt);
  if (changed !== null) return withdraw(node, changed, now);
  if (version !== null && version === node.status?.currentVersion) {
    const refused = withdraw(node, `${version} was staged, which runs already`, now);
    return { ...refused, node: refuse(refused.node, version, null, now) };
  }
  const stops = stopsAt('activation', { node, group, version, now });
  const [first] = stops;
  if (first === undefined) return next(node, attempt, now);
  const ends = stops.find(({ endsAttempt }) => endsAttempt);
  if (ends !== undefined && version !== null) {
    const ended = withdraw(node, ends.words, now);
    return { ...ended, node: refuse(ended.node, version, ends.code, now) };
  }
  return waitStaged(node, attempt, stops, now);
}

/** What a node that had to wait staged would take has become another version, or none: one reboot, not two. */
function offerChanged({ spec, status }: NodeRecord, { stagedSince }: Attempt): string | null {
  const check = status?.updateCheck;
  if (stagedSince === undefined || check === undefined || check.result === 'Failed') return null;
  const staged = spec.version ?? 'what is staged';
  if (check.result === 'UpToDate') return `${staged} is offered no more`;
  const offered = check.version;
  return offered === undefined || offered === spec.version ? null : `${offered} is offered instead of ${staged}`;
}

function refuse(node: NodeRecord, version: string, code: Stop['code'] | null, now: Instant): NodeRecord {
  const offer = node.status?.updateCheck.version ?? null;
  return { ...node, refusedOffer: { version, offer, code, at: now, until: after(now, REFUSED_FOR) } };
}

/** It keeps its slot only when the whole group stands still and nobody holds the node itself. */
function waitStaged(node: NodeRecord, attempt: Attempt, stops: readonly Stop[], now: Instant): Step {
  const keeps = stops.some(({ keepsSlot }) => keepsSlot) && node.heldBy === null;
  const begins = attempt.stagedSince === undefined;
  const settled = attempt.letOnAt == null && node.spec.nextWakeAt === null;
  const waiting: NodeRecord =
    begins || !settled
      ? {
          ...node,
          spec: { ...node.spec, nextWakeAt: null },
          attempt: { ...attempt, stagedSince: attempt.stagedSince ?? now, letOnAt: null },
        }
      : node;
  const freed = keeps || !holdsSlot(attempt) ? { node: waiting, facts: [] } : giveUpSlot(waiting);
  const [first] = stops;
  const said = begins ? [info('Node Update Step', `StagedUpdate reached; waits there: ${first?.words ?? ''}`)] : [];
  return { node: freed.node, facts: [...freed.facts, ...said] };
}

const holdsSlot = ({ claimId, unlimited }: Attempt): boolean => claimId !== null || unlimited;

/** Activated and not told to reboot: what says stop withdraws it; null when nothing does. */
export function disarm(node: NodeRecord, group: GroupView, now: Instant): Step | null {
  const [first] = stopsAt('reboot', { node, group, version: node.spec.version, now });
  return first === undefined ? null : withdraw(node, first.words, now);
}

/**
 * Something has changed around the node, and nobody has reported: a staged node that may go on is woken, one that is
 * activated and may not is withdrawn.
 */
export function reconsider(node: NodeRecord, group: GroupView, now: Instant): Step {
  const { spec, attempt } = node;
  if (attempt === null) return { node, facts: [] };
  // One of a release before this stood activated and reached: it goes on, or is withdrawn.
  if (spec.state === 'PerformedUpdate')
    return (
      disarm(node, group, now) ?? (spec.reachedAt === null ? { node, facts: [] } : reboot(node, attempt, group, now))
    );
  if (spec.state !== 'StagedUpdate') return { node, facts: [] };
  if (spec.reachedAt === null) return recall(node, group, now);
  const stops = stopsAt('activation', { node, group, version: spec.version, now });
  if (stops.length === 0) return attempt.letOnAt == null ? letOn(node, attempt, now) : { node, facts: [] };
  return leaveStaged(node, attempt, group, now);
}

/** What is only being staged goes on, unless a gate says that nobody is to have it. */
function recall(node: NodeRecord, group: GroupView, now: Instant): Step {
  const { version } = node.spec;
  const stop = stopsAt('activation', { node, group, version, now }).find(({ recalls }) => recalls === true);
  if (stop === undefined || version === null) return { node, facts: [] };
  const ended = withdraw(node, stop.words, now);
  return { ...ended, node: refuse(ended.node, version, stop.code, now) };
}

/** Woken; the spec moves with its next report, and unheard for 35 min it is withdrawn. */
export function letOn(node: NodeRecord, attempt: Attempt, now: Instant): Step {
  const { broughtForward: _ofTheStepBefore, ...spec } = node.spec;
  const { generation } = spec;
  return {
    node: {
      ...node,
      wakeFailure: null,
      spec: { ...spec, nextWakeAt: after(now, WAKE_REPEATS[0]), wakesRepeated: 0 },
      attempt: { ...attempt, letOnAt: now },
    },
    facts: [{ kind: 'wake', hostId: node.nodeId, action: 'DriveNode', generation, decided: false }],
  };
}
