/** Everything that ever happened in a world, and what must never have happened in it. */
import type { GroupRecord } from '../../../core/group/record.ts';
import { policyInForce, newGroup } from '../../../core/group/record.ts';
import { DEFAULT_GROUP } from '../../../core/kit/ids.ts';
import type { NodeRecord } from '../../../core/node/record.ts';
import { limitOf } from '../../../core/policy/limit.ts';
import { formatInstant, type Instant } from '../../../core/kit/time.ts';
import type { VmRecord } from '../../../core/vm/record.ts';

export class History {
  /** What broke a guarantee, in words. */
  readonly faults: string[] = [];
  /** The types of all events of a subject, oldest first. */
  readonly events = new Map<string, string[]>();
  readonly #eventIds = new Set<string>();
  readonly #nodes = new Map<string, NodeRecord>();
  readonly #vms = new Map<string, VmRecord>();
  readonly #groups = new Map<string, GroupRecord>();
  /** Instances that hosts really run. */
  readonly #alive = new Map<string, Set<string>>();
  #now: Instant | null = null;

  fault(what: string): void {
    this.faults.push(`${this.#now === null ? '' : `${formatInstant(this.#now)} `}${what}`);
  }

  saved(record: NodeRecord | VmRecord | GroupRecord, now: Instant): void {
    this.#now = now;
    switch (record.kind) {
      case 'node':
        this.#keep(`node/${record.nodeId}`, record.events);
        this.#node(record);
        return;
      case 'vm':
        this.#keep(`vm/${record.vmId}`, record.events);
        this.#vm(record);
        return;
      case 'group':
        this.#keep(`group/${record.group}`, record.events);
        this.#group(record);
        return;
    }
  }

  /** A host has begun to run an instance. */
  launched(vmId: string, instanceId: string): void {
    const alive = this.#alive.get(vmId) ?? new Set();
    this.#alive.set(vmId, alive.add(instanceId));
    if (alive.size > 1) this.fault(`G5: VM ${vmId} has two live instances: ${[...alive].join(', ')}`);
  }

  ended(vmId: string, instanceId: string): void {
    this.#alive.get(vmId)?.delete(instanceId);
  }

  alive(vmId: string): number {
    return this.#alive.get(vmId)?.size ?? 0;
  }

  knows(eventId: string): boolean {
    return this.#eventIds.has(eventId);
  }

  #keep(subject: string, events: readonly { id: string; type: string }[]): void {
    const known = this.events.get(subject) ?? [];
    this.events.set(subject, known);
    for (const { id, type } of events) {
      if (this.#eventIds.has(id)) continue;
      this.#eventIds.add(id);
      known.push(type);
    }
  }

  #node(node: NodeRecord): void {
    const before = this.#nodes.get(node.nodeId);
    this.#nodes.set(node.nodeId, node);
    if (Object.is(node.spec.state, 'ErrorReset')) this.fault(`G7: the spec of ${node.nodeId} is ErrorReset`);
    if (before !== undefined && node.spec.generation < before.spec.generation)
      this.fault(`the generation of ${node.nodeId} went back`);
    if (before !== undefined && node.crash.count > before.crash.count + 1)
      this.fault(`G1: ${node.nodeId} was counted twice at once`);
    const started = node.attempt?.claimId != null && before?.attempt?.claimId !== node.attempt.claimId;
    if (started) this.#within(node.group, this.#underWay(node.group), 'nodes under way');
  }

  #underWay(group: string): number {
    return [...this.#nodes.values()].filter((one) => one.group === group && one.attempt?.claimId != null).length;
  }

  #group(group: GroupRecord): void {
    const before = Object.keys(this.#groups.get(group.group)?.slots ?? {}).length;
    this.#groups.set(group.group, group);
    const slots = Object.keys(group.slots).length;
    if (slots > before) this.#within(group.group, slots, 'slots in use');
  }

  #within(id: string, count: number, what: string): void {
    const fallback = this.#groups.get(DEFAULT_GROUP) ?? newGroup(DEFAULT_GROUP);
    const own = this.#groups.get(id) ?? fallback;
    const limit = limitOf(policyInForce(own, fallback).concurrency, own.memberCount);
    if (limit !== null && count > limit) this.fault(`G4: ${count} ${what} in ${id}, whose limit is ${limit}`);
  }

  #vm(vm: VmRecord): void {
    const before = this.#vms.get(vm.vmId);
    this.#vms.set(vm.vmId, vm);
    const fresh = vm.instance !== null && vm.instance.instanceId !== before?.instance?.instanceId;
    if (fresh && !vm.power.on) this.fault(`G6: ${vm.vmId} was started although it was stopped`);
    const counted = (vm.startFailure?.consecutiveFailCount ?? 0) - (before?.startFailure?.consecutiveFailCount ?? 0);
    if (counted > 1) this.fault(`G1: a start failure of ${vm.vmId} was counted twice at once`);
  }
}
