/** start, stop, restart and delete: a level-triggered power intent with a sequence number (DESIGN section 3). */
import { mayVm, type VmState } from '../contract/can.ts';
import { refused } from '../decision/fact.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, type Duration, milliseconds } from '../kit/time.ts';
import type { VmContext } from './event.ts';
import { forgotten } from './failures.ts';
import { giveUpUntaken, meetFence } from './hosts.ts';
import { askToEnd, startIfDue } from './life.ts';
import { DELETE_PATIENCE, live, type VmRecord, wanted } from './record.ts';
import { inTurn, note, same, type VmStep } from './step.ts';

type Verb = VmStep | ReturnType<typeof refused>;

/** A person asked: the failure records are cleared (rule 2); `lastFailure` stays as evidence. */
const cleared = (vm: VmRecord): VmRecord =>
  vm.startFailure === null ? forgotten(vm) : { ...forgotten(vm), startFailure: null };

const intend = (vm: VmRecord, on: boolean, verb: NonNullable<VmRecord['lastVerb']>): VmRecord =>
  vm.power.on === on && vm.lastVerb === verb
    ? vm
    : { ...vm, power: { on, sequence: vm.power.sequence + 1 }, lastVerb: verb };

/** What the table of verbs judges by. */
export const verbState = (vm: VmRecord): VmState => ({
  vmId: vm.vmId,
  deleting: vm.deleting !== null,
  runStrategy: vm.body.runStrategy,
  on: vm.power.on,
  had: vm.instance === null || live(vm.instance) ? null : vm.instance.phase,
});

/** Tries now, in back-off too; a live instance that nobody stops stays the one instance. */
export function startVm(vm: VmRecord, context: VmContext): Verb {
  const no = mayVm('start', verbState(vm));
  if (no !== null) return refused(409, no.code, no.detail);
  const met = meetFence(vm, context);
  const on = cleared(intend(met.vm, true, 'start'));
  const asked: VmRecord = wanted(on.instance)
    ? on
    : { ...on, pendingStart: { notBefore: context.now, promised: true } };
  const step = startIfDue(asked, context);
  const nothing = on === vm && step.facts.length === 0;
  const said = nothing ? [] : [note('VM Start Requested', 'started by an operator')];
  return { vm: step.vm, facts: [...said, ...met.facts, ...step.facts] };
}

/** Works in every state, under every strategy, with or without an instance, twice; never ends in a restart (rule 4). */
export function stopVm(vm: VmRecord, grace: Duration | null, context: VmContext): Verb {
  const off = cleared(intend(vm, false, 'stop'));
  const idle = off.pendingStart === null ? off : { ...off, pendingStart: null };
  const ended = giveUp(idle, grace ?? vmPolicyOf(vm.body).grace, context);
  return {
    vm: ended.vm,
    facts: ended.vm === vm ? [] : [note('VM Stop Requested', 'stopped by an operator'), ...ended.facts],
  };
}

/** Told to end; at once where the end needs no word of the host: it is fenced, or never had the instance. */
export const giveUp = (vm: VmRecord, grace: Duration, context: VmContext): VmStep =>
  inTurn(
    vm,
    (v) => meetFence(v, context),
    (v) => giveUpUntaken(v, context),
    (v) => askToEnd(v, grace, context.now),
  );

const replace = (vm: VmRecord, grace: Duration, context: VmContext): VmStep =>
  inTurn(
    vm,
    (v) => meetFence(v, context),
    (v) => askToEnd(v, grace, context.now),
  );

export function restartVm(vm: VmRecord, grace: Duration | null, context: VmContext): Verb {
  const no = mayVm('restart', verbState(vm));
  if (no !== null) return refused(409, no.code, no.detail);
  const stopping =
    live(vm.instance) && vm.instance.stop !== null && vm.instance.stop.forHost !== true && vm.lastVerb === 'restart';
  const { stop } = vm.instance ?? { stop: null };
  const sooner = grace !== null && stop !== null && grace < stop.grace;
  if (stopping && vm.power.on && !sooner) return same(vm);
  const on: VmRecord = {
    ...cleared(vm),
    power: { on: true, sequence: vm.power.sequence + 1 },
    lastVerb: 'restart',
    pendingStart: { notBefore: context.now, promised: true },
  };
  const ended = replace(on, grace ?? vmPolicyOf(vm.body).grace, context);
  const step = startIfDue(ended.vm, context);
  return {
    vm: step.vm,
    facts: [note('VM Restart Requested', 'restarted by an operator'), ...ended.facts, ...step.facts],
  };
}

/** Accepted in every state; the record goes once the instance is known ended, or at once with `force` (rule 8). */
export function deleteVm(vm: VmRecord, force: boolean, context: VmContext): Verb {
  const { now } = context;
  const { grace } = vmPolicyOf(vm.body);
  const off: VmRecord = { ...cleared(intend(vm, false, 'stop')), pendingStart: null };
  const deleting = vm.deleting ?? { at: now, deadlineAt: after(now, milliseconds(grace + DELETE_PATIENCE)) };
  const ended = giveUp({ ...off, deleting }, grace, context);
  const asked =
    vm.deleting === null
      ? [
          note(
            'VM Delete Requested',
            force ? 'deleted by force: an instance may still run on its host' : 'deleted by an operator',
          ),
        ]
      : [];
  if (!force) return { vm: settled(vm, ended.vm), facts: [...asked, ...ended.facts] };
  const { instance } = ended.vm;
  const dropped = !live(instance)
    ? ended.vm
    : {
        ...ended.vm,
        instance: { ...instance, phase: 'Failed' as const, cause: 'Requested' as const, nextWakeAt: null },
      };
  return { vm: dropped, facts: [...asked, ...ended.facts] };
}

/** Asked again, a delete changes nothing unless its instance has ended by that. */
const settled = (before: VmRecord, next: VmRecord): VmRecord =>
  before.deleting !== null && live(next.instance) ? before : next;
