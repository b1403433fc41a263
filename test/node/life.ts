/** One node and the decision about it, without a store, a clock or a transport around them. */
import { expect } from 'vitest';
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import type { NodeJson } from '../../core/contract/answers.ts';
import type { Fact, Outcome, Refusal } from '../../core/decision/fact.ts';
import { DEFAULT_GROUP, parseNodeId } from '../../core/kit/ids.ts';
import { decideNode } from '../../core/node/decide.ts';
import type { GroupView } from '../../core/group/view.ts';
import { describeNode } from '../../core/node/describe.ts';
import type { NodeEvent } from '../../core/node/event.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { after, type Instant, instant, milliseconds } from '../../core/kit/time.ts';
import { calmRollout } from '../rollout/calm.ts';

export const NODE = parseNodeId('i-0000000000000000a') ?? expect.fail('a node id');
export const START: Instant = instant(Date.UTC(2026, 0, 5));
/** An instant in seconds from the start, and how the API writes it. */
export const at = (seconds: number): Instant => after(START, milliseconds(seconds * 1000));
export const iso = (seconds: number): string => new Date(at(seconds)).toISOString();

export const AVAILABLE = { result: 'Available', version: '1.1' } as const;
/** After the reboot: a new boot with the new version. */
export const UPDATED = { bootId: 'b2', currentVersion: '1.1', updateCheck: { result: 'UpToDate' } } as const;

type Event = Extract<Fact, { kind: 'event' }>;

/** What a test says of the group. */
export type GroupSituation = { paused: boolean; free: number | null; declared: boolean; holders: readonly string[] };

export class NodeLife {
  now: Instant = START;
  paused = false;
  /** When the group's policy was put. */
  putAt: Instant | null = null;
  policy = groupPolicyOf({});
  /** The last recovery of the deployment. */
  recoveredAt: Instant | null = null;
  /** VMs of the node that keep it from rebooting, where a decision looks at them. */
  blockers: readonly string[] | null = null;
  /** What the last decision established; nothing when it changed nothing or was refused. */
  facts: readonly Fact[] = [];
  #node: NodeRecord | null = null;
  #uptime = 0;

  get node(): NodeRecord {
    return this.#node ?? expect.fail('the node is not enrolled');
  }

  /** Puts a record there that this test begins with. */
  set node(node: NodeRecord) {
    this.#node = node;
  }

  get events(): Event[] {
    return this.facts.flatMap((fact) => (fact.kind === 'event' ? [fact] : []));
  }

  get messages(): string[] {
    return this.events.map(({ type, message }) => `${type}: ${message}`);
  }

  kinds(): string[] {
    return this.facts.map(({ kind }) => kind);
  }

  send(event: NodeEvent): Outcome<NodeRecord> {
    const group = this.group();
    const outcome = decideNode(this.#node, event, {
      nodeId: NODE,
      now: this.now,
      group,
      recoveredAt: this.recoveredAt,
      ...(this.blockers === null ? {} : { blockers: this.blockers }),
    });
    this.facts = outcome.kind === 'changed' ? outcome.facts : [];
    if (outcome.kind === 'changed') this.#node = outcome.next;
    return outcome;
  }

  refused(event: NodeEvent): Refusal {
    const outcome = this.send(event);
    return outcome.kind === 'refused' ? outcome.refusal : expect.fail(`not refused but ${outcome.kind}`);
  }

  /** On version 1.0 of boot b1 with 1.1 offered, of the present state and generation, unless said otherwise. */
  report(more: Partial<NodeReport> = {}): Outcome<NodeRecord> {
    this.#uptime += 1;
    const spec = this.#node?.spec;
    const report: NodeReport = {
      state: spec?.state ?? 'Idle',
      generation: spec?.generation ?? 1,
      bootId: 'b1',
      currentVersion: '1.0',
      updateCheck: AVAILABLE,
      uptime: this.#uptime,
      ...more,
    };
    return this.send({ kind: 'report', report });
  }

  /** A report that names no generation, as an agent sends it that lost its record. */
  reportWithoutGeneration(more: Partial<NodeReport> = {}): Outcome<NodeRecord> {
    this.#uptime += 1;
    const report = { state: 'Idle', bootId: 'b1', currentVersion: '1.0', updateCheck: AVAILABLE } as const;
    return this.send({ kind: 'report', report: { ...report, uptime: this.#uptime, ...more } });
  }

  /** Gives the node a slot, as the answer to its report or not. */
  start(told = true): Outcome<NodeRecord> {
    return this.send({ kind: 'start', claim: { claimId: 'claim-1', at: this.now }, told });
  }

  to(seconds: number): this {
    this.now = at(seconds);
    return this;
  }

  due(): Outcome<NodeRecord> {
    return this.send({ kind: 'due' });
  }

  /** Everybody who had to hear what became of the host has heard it, as the shell sees to. */
  told(): this {
    const { untold } = this.node;
    if (untold != null) this.send({ kind: 'told', at: untold.at });
    return this;
  }

  /** Its group as it is looked at: one slot free, unless said otherwise. */
  group({ free = 1, declared = true, paused = this.paused, holders = [] }: Partial<GroupSituation> = {}): GroupView {
    return {
      group: this.#node?.group ?? DEFAULT_GROUP,
      declared,
      policy: this.policy,
      putAt: this.putAt,
      pausedBy: paused ? 'ann' : null,
      slots: { limit: free === null ? null : 1, holders, uncounted: 0, counting: false, room: null, free },
      rollout: calmRollout(this.policy, this.now),
    };
  }

  shown(group: Partial<GroupSituation> = {}): NodeJson {
    return describeNode(this.node, this.group(group), this.now);
  }
}

/** A node that stands where the steps of an update lead, each of them reported at the start. */
export function nodeAt(state: 'Idle' | 'StagedUpdate' | 'PerformedUpdate' | 'RebootedIntoUpdate' | 'MonitoringUpdate') {
  const life = new NodeLife();
  life.report();
  if (state !== 'Idle') life.start();
  for (let step = 0; step < 4 && life.node.spec.state !== state; step += 1)
    life.report(life.node.spec.state === 'RebootedIntoUpdate' ? UPDATED : {});
  expect(life.node.spec.state).toBe(state);
  expect(life.node.group).toBe(DEFAULT_GROUP);
  return life;
}

/** A node that failed on its way to a state. */
export function crashedAt(state: 'StagedUpdate' | 'PerformedUpdate' | 'RebootedIntoUpdate' | 'MonitoringUpdate') {
  const life = nodeAt(state);
  const more = state === 'MonitoringUpdate' ? UPDATED : {};
  life.report({ ...more, state: 'ErrorReset', error: { reason: 'Broken', message: 'it broke' } });
  return life;
}
