/** The liveness phase (G3): no fault strikes any more, every service answers, and everything that waits must come to its end. */
import { hostOf } from './check-vm.ts';
import type { Checker } from './checker.ts';
import type { Machine } from './machine.ts';
import type { Services } from '../../../world/aws/services.ts';
import { at, type Stored, textAt } from './violation.ts';

export type Fleet = {
  /** Every dead machine was fenced when the storm was over. */
  attentive: boolean;
  machines: readonly Machine[];
  checker: Checker;
  services: Services;
  offered: () => string;
};

/** What is still waited for, a sentence each; nothing when the fleet has converged. */
export function waitedFor({ attentive, machines, checker, services, offered }: Fleet, now: number): string[] {
  const open: string[] = [];
  for (const machine of machines) {
    const node = checker.stored(`node#${machine.nodeId}`);
    const removed = node === null || at(node, 'removed') !== null;
    if (machine.dead) continue;
    if (removed) open.push(`node ${machine.nodeId} is alive and not enrolled`);
    else if (
      textAt(node, 'spec.state') !== 'Idle' ||
      at(node, 'spec.reachedAt') === null ||
      at(node, 'attempt') !== null
    )
      open.push(
        `node ${machine.nodeId} is on its way: spec ${textAt(node, 'spec.state') ?? ''}, agent ${machine.node.state}`,
      );
    else if (machine.drained) open.push(`node ${machine.nodeId} is Idle and still drained (G9)`);
    else if (machine.version !== offered())
      open.push(
        `node ${machine.nodeId} runs ${machine.version}, and ${offered()} is offered; crashes ${String(at(node, 'crash.count'))}`,
      );
    else if (at(node, 'unreachableSince') !== null || at(node, 'silentSince') !== null)
      open.push(`node ${machine.nodeId} reports and is still called unreachable or silent`);
  }
  const dead = new Set(machines.flatMap((machine) => (machine.dead ? [machine.nodeId] : [])));
  for (const [vmId, vm] of checker.all('vm')) {
    const guests = checker.guests(vmId);
    const phase = textAt(vm, 'instance.phase') ?? 'none';
    if (at(vm, 'removed') !== null) {
      if (guests.size > 0) open.push(`VM ${vmId} is gone and has a guest`);
      continue;
    }
    // Somebody removed its dead host and fenced it at no time since: that is theirs to do.
    const host = checker.stored(`node#${hostOf(vm) ?? ''}`);
    // A host that died before it ever enrolled cannot be fenced: only a delete by force ends what is asked of it.
    if (dead.has(hostOf(vm) ?? '') && host === null) continue;
    if (!attentive && dead.has(hostOf(vm) ?? '') && at(host, 'removed') !== null && at(host, 'removed.how') === null)
      continue;
    const strategy = textAt(vm, 'body.runStrategy') ?? '';
    const on = at(vm, 'power.on') === true && strategy !== 'Halted' && at(vm, 'deleting') === null;
    const onDead = dead.has(hostOf(vm) ?? '') && !mayLeave(vm, checker, dead);
    if (at(vm, 'deleting') !== null) open.push(`VM ${vmId} is being deleted`);
    else if (!on && (guests.size > 0 || !final(phase))) open.push(`VM ${vmId} is to be off and is ${phase}`);
    else if (on && !onDead && !settled(strategy, phase, guests.size))
      open.push(`VM ${vmId} (${strategy}) is to be on and is ${phase} with ${guests.size} guests`);
  }
  for (const [group, record] of checker.all('group')) {
    const slots = at(record, 'slots');
    const held = typeof slots === 'object' && slots !== null ? Object.keys(slots) : [];
    for (const nodeId of held) open.push(`group ${group} has a slot for node ${nodeId}`);
  }
  for (const item of services.table.all()) {
    const due = item['dsk']?.S?.slice(0, 24);
    if (due !== undefined && Date.parse(due) < now - 10 * 60_000)
      open.push(`${item['pk']?.S ?? ''} fell due at ${due} and nobody looked`);
  }
  return open;
}

/** Withdrawn after 35 min (DESIGN section 2 rule 2); a sweep later at the latest. */
const WITHDRAWN_AFTER = 45 * 60_000;

/** Steps that nobody picked up and that nobody took back. */
export function forgotten({ checker }: Fleet, now: number): string[] {
  return checker.all('node').flatMap(([nodeId, node]) => {
    const since = at(node, 'spec.since');
    const asked = textAt(node, 'spec.state') !== 'Idle' && at(node, 'spec.acknowledgedAt') === null;
    if (!asked || at(node, 'removed') !== null || typeof since !== 'number' || since > now - WITHDRAWN_AFTER) return [];
    return [
      `node ${nodeId} was asked for ${textAt(node, 'spec.state') ?? ''} ${Math.round((now - since) / 60_000)} min ago and has not picked it up`,
    ];
  });
}

/** It may go to another host, one of those lives, and its own was fenced. */
function mayLeave(vm: Stored, checker: Checker, dead: ReadonlySet<string>): boolean {
  const hosts = at(vm, 'body.hosts');
  if (at(vm, 'body.restartElsewhere') !== true || !Array.isArray(hosts)) return false;
  const fenced = at(checker.stored(`node#${hostOf(vm) ?? ''}`), 'fencedAt') !== null;
  return fenced && hosts.some((host: unknown) => typeof host === 'string' && !dead.has(host));
}

const final = (phase: string): boolean => phase === 'none' || phase === 'Succeeded' || phase === 'Failed';

/** Always runs for ever; the others may have come to an end that is theirs. */
function settled(strategy: string, phase: string, guests: number): boolean {
  if (phase === 'Running') return guests === 1;
  if (guests > 0) return false;
  if (strategy === 'RerunOnFailure') return phase === 'Succeeded';
  return strategy !== 'Always' && (phase === 'Succeeded' || phase === 'Failed');
}
