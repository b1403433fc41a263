/**
 * What the VMs of a node hear of its reports (DESIGN section 3 rules 2, 5 and 6): that it was heard, that it runs another
 * boot than before, that a lease they are held by may have run out, and what runs there although it should not.
 */
import type { NodeReport } from '../contract/agent-bodies.ts';
import { type Fact, type Outcome } from '../decision/fact.ts';
import { after, type Duration, type Instant, instant, milliseconds, minutes } from '../kit/time.ts';
import type { NodeContext } from './event.ts';
import type { NodeRecord } from './record.ts';
import { outOfOrder } from './accept.ts';
import { learnHosting } from './hosting.ts';
import { sentBeforeStop } from './signs.ts';
import type { Step } from './spec.ts';

/** Added to every lease before its end is taken as known: two clocks never go quite alike. */
export const LEASE_MARGIN = minutes(2);

/** Whether a report that changed nothing was believed all the same, and so is its host's word. */
export function heeds(node: NodeRecord | null, report: NodeReport, now: Instant): boolean {
  if (node === null || node.removed !== null) return false;
  return !outOfOrder(node, report, now) && !sentBeforeStop(node, report.bootId, now);
}

/** The shortest lease and grace that this report says a VM here is held by; null when none is. */
function shortestHold({ instances }: NodeReport): Duration | null {
  const holds = (instances ?? []).flatMap(({ leaseSeconds, graceSeconds }) =>
    leaseSeconds === undefined ? [] : [leaseSeconds + (graceSeconds ?? 0)],
  );
  return holds.length === 0 ? null : milliseconds(Math.round(Math.min(...holds) * 1000));
}

/** Completes what was decided of a report with what the host's VMs must hear of it. */
export function passOn(
  before: NodeRecord | null,
  report: NodeReport,
  outcome: Outcome<NodeRecord>,
  context: NodeContext,
): Outcome<NodeRecord> {
  const passed = withWord(before, report, outcome, context.now);
  if (passed.kind !== 'changed' || context.hasVms === undefined) return passed;
  return { ...passed, next: learnHosting(passed.next, context.hasVms, context.now) };
}

function withWord(
  before: NodeRecord | null,
  report: NodeReport,
  outcome: Outcome<NodeRecord>,
  now: Instant,
): Outcome<NodeRecord> {
  if (outcome.kind === 'refused') return outcome;
  if (outcome.kind === 'unchanged' && (before === null || !heeds(before, report, now))) return outcome;
  const decided = outcome.kind === 'changed' ? outcome.next : before;
  if (decided === null) return outcome;
  const word = [isAwaited, boots, leases, unexpected].reduce<Step>(
    (step, say) => {
      const next = say({ before, report, now }, step.node);
      return { node: next.node, facts: [...step.facts, ...next.facts] };
    },
    { node: decided, facts: [] },
  );
  if (word.node === decided) return outcome;
  if (outcome.kind === 'changed') return { ...outcome, next: word.node, facts: [...outcome.facts, ...word.facts] };
  return { kind: 'changed', next: { ...word.node, revision: decided.revision + 1 }, facts: word.facts };
}

/** @property before the node as it was, also the tombstone that this report enrols anew */
type Heard = { before: NodeRecord | null; report: NodeReport; now: Instant };

function isAwaited({ before }: Heard, node: NodeRecord): Step {
  // One that was removed, and fenced by that, is there again: its VMs have waited for it.
  if (node.listened == null && before?.removed == null) return { node, facts: [] };
  return { node: { ...node, listened: null }, facts: [{ kind: 'hostReported', hostId: node.nodeId }] };
}

/** Another boot than before: all that the host had taken on until it began has ended. */
function boots({ before, report, now }: Heard, node: NodeRecord): Step {
  if (before?.status == null || node.status === null || before.status.bootId === node.status.bootId)
    return { node, facts: [] };
  const bootedAt = report.uptime === undefined ? now : instant(Math.round(now - report.uptime * 1000));
  const alive = (report.instances ?? []).flatMap(({ instanceId, phase }) =>
    phase === 'Succeeded' || phase === 'Failed' ? [] : [instanceId],
  );
  const news = { kind: 'hostBooted', at: now, bootedAt, alive } as const;
  return { node: { ...node, untold: news }, facts: [{ ...news, hostId: node.nodeId }] };
}

/** A host with a lease: each of its reports is written, since only a written one renews (rule 6). */
function leases({ report, now }: Heard, node: NodeRecord): Step {
  const hold = shortestHold(report);
  if (hold === null) {
    const held = node.leaseLookAt != null && report.instances !== undefined;
    return { node: held ? { ...node, leaseLookAt: null } : node, facts: [] };
  }
  if (node.status === null) return { node, facts: [] };
  const leaseLookAt = after(now, milliseconds(hold + LEASE_MARGIN));
  return { node: { ...node, status: { ...node.status, reportedAt: now }, leaseLookAt }, facts: [] };
}

const UNEXPECTED_KEPT = 20;

function unexpected({ report }: Heard, node: NodeRecord): Step {
  // An agent that does not look says nothing of it: what was known before stands.
  if (report.unexpected === undefined) return { node, facts: [] };
  const found = report.unexpected.slice(0, UNEXPECTED_KEPT);
  if (JSON.stringify(found) === JSON.stringify(node.unexpected ?? [])) return { node, facts: [] };
  return { node: { ...node, unexpected: found }, facts: [] };
}

/** A VM waits for the next report: it is told of it, however long it takes. */
export function listen(node: NodeRecord, now: Instant): Outcome<NodeRecord> {
  if (node.listened != null) return { kind: 'unchanged' };
  return { kind: 'changed', next: { ...node, listened: now, revision: node.revision + 1 }, facts: [] };
}

/** The host was not heard for the shortest lease there: each VM judges for itself whether its own has run out. */
export function noticeLease(node: NodeRecord, now: Instant): Step {
  if (node.leaseLookAt == null || now < node.leaseLookAt) return { node, facts: [] };
  const facts: Fact[] = [{ kind: 'hostUnheard', hostId: node.nodeId, at: now }];
  return { node: { ...node, leaseLookAt: null, untold: node.untold ?? { kind: 'hostUnheard', at: now } }, facts };
}

/** What runs on a host although it should not, or may begin to by itself, in one sentence; null: nothing is known to. */
export function sayUnexpected({ unexpected: found }: NodeRecord): string | null {
  if (found === undefined || found.length === 0) return null;
  const named = found.map(({ name, vmId, instanceId, autostart }) =>
    autostart === true
      ? `domain ${name} starts by itself with the host (virsh autostart --disable ${name} turns that off)`
      : `${name} runs although it should not${vmId === undefined ? '' : ` (VM ${vmId}${instanceId === undefined ? '' : `, instance ${instanceId}`})`}`,
  );
  return `Unexpected on this host: ${named.join('; ')}.`;
}
