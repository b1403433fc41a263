/** A node's report: its way through the decision, from top to bottom. */
import type { NodeReport } from '../contract/agent-bodies.ts';
import { type Fact, info, type Outcome, unchanged } from '../decision/fact.ts';
import { accept } from './accept.ts';
import { acknowledge } from './acknowledge.ts';
import { withBlockers } from './blockers.ts';
import { conclude } from './conclude.ts';
import { enrol } from './enrol.ts';
import type { NodeContext } from './event.ts';
import { judge, spoiled } from './judge.ts';
import { heard, observe, withUptime } from './observe.ts';
import type { NodeRecord } from './record.ts';
import { greet } from './restore.ts';
import { resetRecord } from './time.ts';

export function decideReport(known: NodeRecord | null, report: NodeReport, context: NodeContext): Outcome<NodeRecord> {
  const accepted = accept(known, report, context);
  switch (accepted.kind) {
    case 'refused':
      return accepted;
    case 'ignored':
      return unchanged;
    case 'enrols':
      return take(null, enrol(known, report, context), report, context);
    case 'stale':
      return takeStale(accepted.node, report, context);
    case 'believed':
      return take(accepted.node, accepted.node, report, context);
  }
}

/** @param before null when the report enrols the node */
function take(
  before: NodeRecord | null,
  node: NodeRecord,
  report: NodeReport,
  context: NodeContext,
): Outcome<NodeRecord> {
  const { now, group, blockers } = context;
  const greeted = greet(node, now);
  const reset = resetRecord(greeted.node, now);
  const observed = withBlockers(observe(reset.node, report, now), blockers);
  const lastBoot = before?.status?.bootId ?? null;
  const judged = judge({ node: observed, lastBoot, report, group, now });
  const told = acknowledge(judged.node, now);
  const answered = told === node ? told : withUptime(told, report);
  const facts = [
    ...(before === null ? enrolled(node, report) : []),
    ...greeted.facts,
    ...reset.facts,
    ...checkFailure(node, answered),
    ...judged.facts,
  ];
  return conclude(before ?? node, { node: answered, facts }, context);
}

const enrolled = ({ group }: NodeRecord, { currentVersion }: NodeReport): Fact[] => [
  { kind: 'enrolled', group },
  info('Node Enrolled', `first report: ${currentVersion} in group ${group}`),
];

/** What it says is of the past; that it lives is news all the same, and what it is told now it has acknowledged. */
function takeStale(known: NodeRecord, report: NodeReport, context: NodeContext): Outcome<NodeRecord> {
  const { now } = context;
  const greeted = greet(known, now);
  const node = acknowledge(spoiled(heard(greeted.node, now), report, now), now);
  return node === known ? unchanged : conclude(known, { node, facts: greeted.facts }, context);
}

function checkFailure(before: NodeRecord, now: NodeRecord): Fact[] {
  const check = now.status?.updateCheck;
  if (check?.result !== 'Failed' || before.status?.updateCheck.result === 'Failed') return [];
  const message = `update check failed: ${check.message ?? 'no message'}`;
  return [{ kind: 'event', type: 'Node Update Check Failed', severity: 'warning', message }];
}
