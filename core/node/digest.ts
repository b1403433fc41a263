/**
 * A node in a line of its group's index: what a survey of all members needs, so that nobody loads ten thousand items for
 * it (DESIGN section 2b, Promotion). It changes with the node's state, never with a quiet report.
 */
import { NODE_PHASES, type NodePhase } from '../contract/words.ts';
import { wellFormed } from '../kit/text.ts';
import { type Instant, instant } from '../kit/time.ts';
import type { Counted } from '../rollout/progress.ts';
import type { NodeId } from '../kit/ids.ts';
import { zoneOf } from '../rollout/zone.ts';
import { type NodeRecord, underWay } from './record.ts';
import { isStopped } from './signs.ts';
import { stageOf } from './stage.ts';

/** A member as its digest shows it. */
export type Digest = Counted & {
  zone: string;
  /** The version that it knows its group to be pinned to. */
  pin: string | null;
  unreachable: boolean;
  /** It holds a slot, or began without a limit. */
  holdsSlot: boolean;
  /** The last crash on record, if it counts towards a breaker. */
  lastCrash: { version: string; at: Instant } | null;
  /** Its phase as far as its own record tells; null: written by a release that did not say. */
  stage: NodePhase | null;
  /** Before then it is not tried again. */
  retryAfter: Instant | null;
};

/** A sort key holds 1,024 bytes; what is longer than this is of no use to anybody either. */
const TEXT_MAX = 120;
const CRASHES_MAX = 3;
const SEPARATOR = ',';
const FLAGS = ['idle', 'held', 'stopped', 'silent', 'unreachable', 'underWay', 'holdsSlot', 'completed'] as const;

/** Escaped, and cut between two characters. */
function written(text: string): string {
  let escaped = '';
  for (const character of wellFormed(text)) {
    const next = encodeURIComponent(character);
    if (escaped.length + next.length > TEXT_MAX) break;
    escaped += next;
  }
  return escaped;
}

export function digestOf(node: NodeRecord): string {
  const { status, spec, attempt, crash, completed } = node;
  if (status === null) return '';
  const check = status.updateCheck;
  const runsCompleted = completed != null && completed.version === status.currentVersion;
  const flags: Record<(typeof FLAGS)[number], boolean> = {
    idle: spec.state === 'Idle' && spec.reachedAt !== null && status.state === 'Idle' && attempt === null,
    held: node.heldBy !== null,
    stopped: isStopped(node),
    silent: node.silentSince !== null,
    unreachable: node.unreachableSince !== null,
    underWay: underWay(node),
    holdsSlot: attempt !== null && (attempt.claimId !== null || attempt.unlimited),
    completed: runsCompleted,
  };
  const towards = crash.towards ?? [];
  const counts = crash.lastAt !== null && crash.lastReason !== 'DrainBlocked' && towards.length > 0;
  return [
    written(status.currentVersion),
    check.result === 'Available' && check.version !== undefined ? written(check.version) : '',
    FLAGS.map((flag) => (flags[flag] ? '1' : '0')).join(''),
    String(runsCompleted ? completed.at : (node.enrolledAt ?? spec.since)),
    counts ? String(crash.lastAt) : '',
    towards.slice(-CRASHES_MAX).map(written).join(';'),
    written(zoneOf(node)),
    written(node.policy.pin ?? ''),
    stageOf(node),
    crash.retryAfter === null ? '' : String(crash.retryAfter),
  ].join(SEPARATOR);
}

/** Null for a node that has not reported, and for what a release before this wrote. */
export function readDigest(nodeId: NodeId, text: string): Digest | null {
  const [version, offered = '', flags = '', since = '0', crashedAt = '', crashes = '', zone = '', pin = '', ...more] =
    text.split(SEPARATOR);
  const [stage = '', retryAfter = ''] = more;
  if (version === undefined || version === '' || flags.length !== FLAGS.length) return null;
  const is = (flag: (typeof FLAGS)[number]): boolean => flags[FLAGS.indexOf(flag)] === '1';
  const crashedTowards = crashes === '' ? [] : crashes.split(';').map(read);
  const last = crashedTowards.at(-1);
  return {
    nodeId,
    version: read(version),
    offered: offered === '' ? null : read(offered),
    zone: read(zone),
    pin: pin === '' ? null : read(pin),
    idle: is('idle'),
    held: is('held'),
    stopped: is('stopped'),
    silent: is('silent'),
    unreachable: is('unreachable'),
    underWay: is('underWay'),
    holdsSlot: is('holdsSlot'),
    completed: is('completed'),
    since: instant(Number(since)),
    crashedTowards,
    lastCrash: crashedAt === '' || last === undefined ? null : { version: last, at: instant(Number(crashedAt)) },
    stage: NODE_PHASES.find((phase) => phase === stage) ?? null,
    retryAfter: retryAfter === '' ? null : instant(Number(retryAfter)),
  };
}

/** What cannot be read was changed by hand, and is shown as it stands. */
function read(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
