/** What happens in the demo, told from what the API says: one chapter for each thing that goes on, and what comes next. */
import type { GroupJson, NodeJson, VmJson } from '../../core/contract/answers.ts';
import { after, between, type Instant, parseInstant, sayDuration, seconds } from '../../core/kit/time.ts';
import { counted } from '../../present/text.ts';
import { NEW_VERSION } from './fleet.ts';
import { CANARY, FOLLOWER } from './rollout.ts';

/** How long a breaker stays open for a person to close it, before the demo does. */
export const PATIENCE = seconds(90);

/** What the API says at one instant. */
export type Seen = { nodes: readonly NodeJson[]; vms: readonly VmJson[]; groups: readonly GroupJson[] };
/** One chapter. `key` changes when something has happened; a text with the same key only counts down. */
export type Chapter = { key: string; text: string };

type Breaker = GroupJson['breakers'][number];
type Opening = { openedAt: string; closesAt: Instant };

export class Story {
  readonly #cli: string;
  #opening: Opening | null = null;
  #closed: 'by the demo' | 'by hand' | null = null;

  /** @param cli how the CLI is called in a second terminal */
  constructor(cli: string) {
    this.#cli = cli;
  }

  /** The version whose breaker nobody has closed in time: the demo is to close it now. Null: nothing to do. */
  overdue({ groups }: Seen, now: Instant): string | null {
    const breaker = breakerOf(groups);
    const opening = breaker === null ? null : this.#noted(breaker, now);
    return breaker !== null && opening !== null && now >= opening.closesAt ? breaker.version : null;
  }

  /** The demo has closed the breaker itself. */
  closedByDemo(): void {
    this.#closed = 'by the demo';
    this.#opening = null;
  }

  /** The chapters as they stand now: the rollout, then who crashes next. */
  tell(seen: Seen, now: Instant): Chapter[] {
    return [this.#rollout(seen, now), nextNodeCrash(seen, now), nextVmCrash(seen, now)].filter((told) => told !== null);
  }

  #rollout({ groups, nodes }: Seen, now: Instant): Chapter | null {
    const [canary, follower] = [CANARY, FOLLOWER].map((name) => groups.find(({ group }) => group === name));
    const members = nodes.filter(({ group }) => group === FOLLOWER);
    if (canary === undefined || follower === undefined || members.length === 0) return null;
    const breaker = breakerOf(groups);
    if (breaker !== null) return this.#open(breaker, members, now);
    if (this.#opening !== null) {
      this.#opening = null;
      this.#closed = 'by hand';
    }
    return this.#going(canary, follower, members);
  }

  #open(breaker: Breaker, members: readonly NodeJson[], now: Instant): Chapter {
    const { version, openedAt } = breaker;
    const { closesAt } = this.#noted(breaker, now);
    const crashed = `${breaker.nodes.length} of ${members.length} crashed on ${version}`;
    const waiting = members.filter(({ status }) => status?.currentVersion !== version).length;
    const then = closesAt > now ? `in ${sayDuration(between(now, closesAt))}` : 'now';
    return {
      key: `open ${openedAt}`,
      text: `group ${FOLLOWER}: breaker opened, ${crashed}; who was under way is withdrawn, ${waiting} wait. Close it with: ${this.#cli} groups close-breaker ${FOLLOWER} (if nobody does, the demo does ${then})`,
    };
  }

  #going(canary: GroupJson, follower: GroupJson, members: readonly NodeJson[]): Chapter {
    const size = counted(members.length, 'node');
    const closed = this.#closed;
    if (members.every(({ status, phase }) => status?.currentVersion === NEW_VERSION && phase === 'Idle'))
      return {
        key: `done ${closed}`,
        text: `rollout: done; ${CANARY} and the ${size} of ${FOLLOWER} run ${NEW_VERSION}${closed === null ? '' : ` (the breaker was closed ${closed})`}`,
      };
    if (closed !== null)
      return {
        key: `closed ${closed}`,
        text: `group ${FOLLOWER}: breaker closed ${closed}; what made the nodes crash is mended, and they are tried again`,
      };
    if (follower.underWay.length > 0 || canary.settled.some(({ version }) => version === NEW_VERSION))
      return {
        key: 'follows',
        text: `rollout: ${CANARY} has settled on ${NEW_VERSION}; the ${size} of ${FOLLOWER} follow. Two of them will crash`,
      };
    return {
      key: 'canary',
      text: `rollout: ${CANARY} goes to ${NEW_VERSION} first; the ${size} of ${FOLLOWER} wait until it has run that for 10 s without a crash`,
    };
  }

  #noted({ openedAt }: Breaker, now: Instant): Opening {
    if (this.#opening?.openedAt !== openedAt) this.#opening = { openedAt, closesAt: after(now, PATIENCE) };
    return this.#opening;
  }
}

const breakerOf = (groups: readonly GroupJson[]): Breaker | null =>
  groups.find(({ group }) => group === FOLLOWER)?.breakers[0] ?? null;

/** Of the nodes that wait for their next crash, the one that has the most behind it. */
function nextNodeCrash({ nodes }: Seen, now: Instant): Chapter | null {
  const [node] = nodes
    .filter(({ group, phase }) => group !== FOLLOWER && phase === 'BackingOff')
    .sort((a, b) => b.crash.count - a.crash.count);
  const wait = node === undefined ? null : until(node.crash.retryAfter, now);
  if (node === undefined || wait === null || node.blockedVersions.length > 0) return null;
  const { count } = node.crash;
  return {
    key: `${node.nodeId} ${count}`,
    text: `node ${shortId(node.nodeId)}: crashed ${times(count)}; it will crash again ${wait}, and then wait longer`,
  };
}

/** Of the VMs that start and die, the one that is next. */
function nextVmCrash({ vms }: Seen, now: Instant): Chapter | null {
  for (const { vmId, unstableRuns } of vms) {
    const wait = until(unstableRuns?.retryAfter ?? null, now);
    if (unstableRuns === null || wait === null) continue;
    return {
      key: `${vmId} ${unstableRuns.count}`,
      text: `VM ${vmId}: died early ${times(unstableRuns.count)}; it is started again ${wait}, and will die again`,
    };
  }
  return null;
}

function until(at: string | null, now: Instant): string | null {
  const instant = at === null ? null : parseInstant(at);
  return instant === null || instant <= now ? null : `in ${sayDuration(between(now, instant))}`;
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
/** Ids of the demo repeat one character: `b…`. */
const shortId = (nodeId: string): string => `${nodeId.slice(2, 3)}…`;
