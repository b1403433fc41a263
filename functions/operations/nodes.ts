/** What happens to a node: its own reports, an operator's verbs, and the passing of time. */
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import type { Fact, Outcome, Refusal } from '../../core/decision/fact.ts';
import type { GroupId, NodeId } from '../../core/kit/ids.ts';
import { policyInForce } from '../../core/group/record.ts';
import { decideNode } from '../../core/node/decide.ts';
import type { NodeEvent } from '../../core/node/event.ts';
import { heeds } from '../../core/node/host-word.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { type HostEntry, isAsKnown } from '../../core/vm/host-entry.ts';
import type { ControlPlane } from '../ports.ts';
import { turn, type Turned } from '../turn.ts';
import { skipping } from '../unreadable.ts';
import { loadGroup, turnGroup, turnGroupRead } from './groups.ts';
import { lastRecovery } from './home.ts';
import { leftToSweep } from './left-to-sweep.ts';
import { contextOf, type LookedAt } from './node-context.ts';
import { startOwn, type Trial } from './start-own.ts';
import { hearHost, tellVms } from './vms.ts';

/** One decision about a node and everything that follows from it: slots freed, its group filled, its VMs told. */
export async function turnNode(plane: ControlPlane, nodeId: NodeId, event: NodeEvent): Promise<Turned<NodeRecord>> {
  return (await turnLooking(plane, nodeId, event)).result;
}

type Looked = { result: Turned<NodeRecord>; entries: HostEntry[] | null };

async function turnLooking(plane: ControlPlane, nodeId: NodeId, event: NodeEvent): Promise<Looked> {
  let looked = null as LookedAt | null; // assigned in the closure below
  const result = await turn(plane, 'node', nodeId, async (record) => {
    const context = await contextOf(plane, nodeId, record, event);
    looked = context;
    const outcome = decideNode(record, event, context);
    // The group first: a node in a group that nobody has written down would be found by no sweep.
    for (const group of context.own?.revision === 0 ? joined(outcome) : [])
      await turnGroup(plane, group, { kind: 'ensure', pausedBy: (await lastRecovery(plane)).pausedBy });
    return outcome;
  });
  const entries = looked?.entries ?? null;
  if (result.kind !== 'changed') return { result, entries };
  const trial = { told: event.kind === 'report', own: looked?.own ?? null };
  const started = await followUp(plane, result.record, result.facts, trial);
  return { result: started === null ? result : { ...result, record: started }, entries };
}

const joined = (outcome: Outcome<NodeRecord>): GroupId[] =>
  outcome.kind === 'changed' ? outcome.facts.flatMap((fact) => (fact.kind === 'enrolled' ? [fact.group] : [])) : [];

/** @returns the node as it is after its own start, if filling the group started it */
async function followUp(
  plane: ControlPlane,
  node: NodeRecord,
  facts: readonly Fact[],
  trial: Trial,
): Promise<NodeRecord | null> {
  let started: NodeRecord | null = null;
  for (const fact of facts) {
    const what = `what follows for node ${node.nodeId} (${fact.kind}) could not be done`;
    started = (await leftToSweep(plane, what, () => followFact(plane, node, fact, trial))) ?? started;
  }
  return started;
}

async function followFact(plane: ControlPlane, node: NodeRecord, fact: Fact, trial: Trial): Promise<NodeRecord | null> {
  switch (fact.kind) {
    case 'slotReleased':
      await turnGroup(plane, fact.group, { kind: 'release', nodeId: node.nodeId, claimId: fact.claimId });
      return node.group === fact.group ? startOwn(plane, node, { ...trial, freed: true }) : null;
    case 'fill':
      return startOwn(plane, node, trial);
    case 'hostReported':
      // Of a report its VMs hear together with what it says of each.
      if (!trial.told) await tellVms(plane, fact);
      return null;
    case 'hostSilent':
    case 'hostUnheard':
    case 'hostBooted':
    case 'hostFenced':
      await tellVms(plane, fact);
      await turnNode(plane, node.nodeId, { kind: 'told', at: fact.at });
      return null;
    case 'hostMaintenance':
      await tellVms(plane, fact);
      return null;
    case 'crashed':
      await countCrash(plane, node.nodeId, fact);
      return null;
    case 'enrolled':
    case 'listen':
    case 'wake':
    case 'metric':
    case 'event':
      return null;
  }
}

async function countCrash(
  plane: ControlPlane,
  nodeId: NodeId,
  { group, version, at }: Extract<Fact, { kind: 'crashed' }>,
): Promise<void> {
  const { own, fallback } = await loadGroup(plane, group);
  const { breaker } = policyInForce(own, fallback).rollout;
  await turnGroupRead(plane, own, { kind: 'crashed', breaker, crashes: [{ nodeId, version, at }] });
}

/** So many members of a group are looked at at the same time. */
const PROCEED_AT_ONCE = 10;

/**
 * A gate of the group may have opened or closed: staged nodes go on, activated ones are withdrawn. After a resume, and in
 * each sweep, lest one was missed (DESIGN section 2b).
 */
export async function proceedGroup(plane: ControlPlane, group: GroupId): Promise<void> {
  const ids = [...(await plane.store.underWay(group)), ...(await plane.store.waitingStaged(group))];
  const proceed = (nodeId: NodeId): Promise<void> =>
    skipping(plane, 'node', nodeId, async () => {
      const node = (await plane.store.load('node', nodeId))?.record;
      const meetsGates = node?.spec.state === 'PerformedUpdate' || node?.spec.state === 'StagedUpdate';
      if (meetsGates) await turnNode(plane, nodeId, { kind: 'proceed' });
    });
  for (let from = 0; from < ids.length; from += PROCEED_AT_ONCE)
    await Promise.all(ids.slice(from, from + PROCEED_AT_ONCE).map(proceed));
}

/**
 * @property written whether this very report was: only then it renews leases (DESIGN section 3 rule 6)
 * @property entries what the host is told of its VMs, as the index has it; null: nobody knows
 */
export type ReportResult =
  | { kind: 'answered'; node: NodeRecord | null; written: boolean; entries: HostEntry[] | null }
  | { kind: 'refused'; refusal: Refusal };

export async function reportNode(plane: ControlPlane, nodeId: NodeId, report: NodeReport): Promise<ReportResult> {
  const { result, entries } = await turnLooking(plane, nodeId, { kind: 'report', report });
  if (result.kind === 'refused') return { kind: 'refused', refusal: result.refusal };
  const written = result.kind === 'changed';
  if (written || heeds(result.record, report, plane.now())) {
    const awaited = written && result.facts.some(({ kind }) => kind === 'hostReported');
    const known = new Map((awaited ? [] : (entries ?? [])).map((entry) => [entry.vmId as string, entry]));
    const news = (report.instances ?? []).filter((seen) => {
      const entry = known.get(seen.vmId);
      return entry === undefined || !isAsKnown(entry, seen);
    });
    await hearHost(plane, nodeId, news, awaited);
  }
  return { kind: 'answered', node: result.record, written, entries };
}
