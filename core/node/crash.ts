/** What a crash does to a node (DESIGN section 2 rules 2 to 5). */
import type { SpecState } from '../contract/words.ts';
import type { Fact } from '../decision/fact.ts';
import { type Instant, sayWhen } from '../kit/time.ts';
import { nodeResetAt, nodeRetryAfter } from '../policy/backoff.ts';
import { HEALTH_CHECK_FAILED } from '../policy/monitor.ts';
import { block } from './blocks.ts';
import type { NodeRecord } from './record.ts';
import { giveUpSlot, moveSpec, type Step } from './spec.ts';

export type Failure = {
  reason: string;
  message: string | null;
  /** The version that it was towards, where that is not the one of the attempt. */
  towards?: string;
};

/** How many versions of failed attempts are remembered. */
const TOWARDS_MAX = 20;

/**
 * ErrorReset, a passed deadline, or a rollback: spec becomes Idle, the crash is recorded; the slot stays with the node
 * until it is Idle again, except when its drain was blocked.
 */
export function crash(node: NodeRecord, { reason, message, towards }: Failure, now: Instant): Step {
  const failed = node.spec.state;
  const count = node.crash.count + 1;
  const firstAt = node.crash.firstAt ?? now;
  const { backoff } = node.policy;
  const target = towards ?? node.spec.version ?? node.attempt?.version ?? null;
  const disruptive = isDisruptive(failed, reason);
  const retryAfter = nodeRetryAfter(backoff, { count, firstAt, lastAt: now, disruptive });
  const moved = moveSpec(node, 'Idle', null, now);
  const facts: Fact[] = [
    ...moved.facts,
    { kind: 'metric', name: 'NodeCrash', group: node.group, value: 1 },
    {
      kind: 'event',
      type: 'Node Crashed',
      severity: 'warning',
      message: `failed to reach ${failed}: ${reason}${message === null ? '' : `: ${message}`}; crash ${count}, on its way back to Idle, ${sayNext(retryAfter, now)}`,
    },
  ];
  if (node.policy.breaker === true && reason !== 'DrainBlocked' && target !== null) {
    facts.push({ kind: 'crashed', group: node.group, version: target, at: now });
  }
  const freed = reason === 'DrainBlocked' ? giveUpSlot(moved.node) : { node: moved.node, facts: [] };
  const { attempt } = freed.node;
  const kept = blocksVersion(node, reason) ? block(freed.node, target, now) : freed.node;
  return {
    node: {
      ...kept,
      attempt: attempt === null ? null : { ...attempt, succeeded: false, letOnAt: null },
      crash: {
        count,
        firstAt,
        lastAt: now,
        retryAfter,
        resetAt: nodeResetAt(backoff, firstAt),
        lastState: failed,
        lastReason: reason,
        lastMessage: message,
        towards: remembered(node, target),
      },
    },
    facts: [...facts, ...freed.facts],
  };
}

/** The attempt had begun what disturbs workloads; a late rollback did so, too (lastState Idle). */
const isDisruptive = (failed: SpecState, reason: string): boolean =>
  reason === 'DrainBlocked' || (failed !== 'StagedUpdate' && failed !== 'PerformedUpdate');

function remembered({ crash: { towards = [] } }: NodeRecord, target: string | null): string[] {
  return target === null ? towards : [...towards.filter((known) => known !== target), target].slice(-TOWARDS_MAX);
}

/** The node is on its old version again, or on its way there: what took it away is not tried again at once (rule 5). */
export const blocksVersion = ({ policy }: NodeRecord, reason: string): boolean =>
  reason === 'RolledBack' || (reason === HEALTH_CHECK_FAILED && policy.monitor?.onFailure !== 'report');

const sayNext = (retryAfter: Instant, now: Instant): string =>
  retryAfter <= now
    ? 'where the next attempt may begin'
    : `where the next attempt may begin ${sayWhen(retryAfter, now)}`;
