/** Short ways to say what a VM goes through, and what one event of it established. */
import { expect } from 'vitest';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import type { RunStrategy } from '../../core/contract/words.ts';
import type { Refusal } from '../../core/decision/fact.ts';
import { type InstanceId, parseInstanceId } from '../../core/kit/ids.ts';
import { after, type Instant, milliseconds } from '../../core/kit/time.ts';
import { decideVm } from '../../core/vm/decide.ts';
import type { Instance } from '../../core/vm/record.ts';
import { type Event, type Fact, HOST, START, type Vm, VmLife } from '../kubevirt/vm-life.ts';

export { HOST, type Vm, VmLife };
export const OTHER_HOST = 'i-0000000000000000b';
export const at = (seconds: number): Instant => after(START, milliseconds(seconds * 1000));
export const id = (text: string): InstanceId => parseInstanceId(text) ?? expect.fail('an instance id');
export const iso = (seconds: number): string => new Date(at(seconds)).toISOString();

/** Under the seed's curve; the middle of each range is drawn. */
export const declared = (runStrategy: RunStrategy, body: Partial<VmBody> = {}): VmLife =>
  VmLife.declared(runStrategy, { backoff: { preset: 'seed' }, ...body });

/** The same, and its instance is Running, reported at the start. */
export function running(runStrategy: RunStrategy, body: Partial<VmBody> = {}): VmLife {
  const life = declared(runStrategy, body);
  if (life.vm.instance === null) life.start();
  life.report('Running');
  return life;
}

/** What happened meanwhile. */
export function facts(life: VmLife, act: () => unknown): Fact[] {
  const before = life.facts.length;
  act();
  return life.facts.slice(before);
}

export const said = (life: VmLife, act: () => unknown): string[] =>
  facts(life, act).flatMap((fact) => (fact.kind === 'event' ? [`${fact.type}: ${fact.message}`] : []));

export const instance = (life: VmLife): Instance => life.vm.instance ?? expect.fail('there is no instance');

/** Changes the record by hand. */
export function edit(life: VmLife, more: Partial<Vm>): VmLife {
  life.vm = { ...life.vm, ...more };
  return life;
}
export const editInstance = (life: VmLife, more: Partial<Instance>): VmLife =>
  edit(life, { instance: { ...instance(life), ...more } });

/** Its host reports from another boot, which begins now. */
export const boots = (life: VmLife, hostId: string = HOST): number =>
  life.send({ kind: 'hostBooted', hostId, at: life.now, bootedAt: life.now, alive: [] });

const draw = { delay: 0.5, deadline: 0.5, id: 'ffffffffffffffff' };
export function decided(life: VmLife, event: Event): ReturnType<typeof decideVm> {
  return decideVm(life.vm, event, { vmId: life.vm.vmId, now: life.now, draw });
}
export function refused(life: VmLife, event: Event): Refusal {
  const outcome = decided(life, event);
  return outcome.kind === 'refused' ? outcome.refusal : expect.fail(`not refused but ${outcome.kind}`);
}

export const wake = (action: 'StartInstance' | 'StopInstance', isNew = true) => ({
  kind: 'wake',
  hostId: HOST,
  action,
  generation: null,
  decided: isNew,
});
export const note = (type: string, message: string, severity = 'info') => ({ kind: 'event', type, severity, message });
