/** One VM on a virtual clock: the decision itself, with its timers, and nothing around it. */
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import type { RunStrategy } from '../../core/contract/words.ts';
import { decideVm } from '../../core/vm/decide.ts';
import { describeVm } from '../../core/vm/describe.ts';
import { printableStatus } from '../../core/vm/status.ts';
import { vmAlarm } from '../../core/vm/timing.ts';
import { parseVmId } from '../../core/kit/ids.ts';
import { after, type Instant, instant, seconds } from '../../core/kit/time.ts';

type Outcome = ReturnType<typeof decideVm>;
type Changed = Extract<Outcome, { kind: 'changed' }>;
export type Vm = Changed['next'];
export type Fact = Changed['facts'][number];
export type Event = Parameters<typeof decideVm>[1];
type Report = Extract<Event, { kind: 'report' }>['report'];

export const HOST = 'i-0000000000000000a';
export const START = instant(Date.parse('2026-01-05T00:00:00Z'));

const vmId = parseVmId('web');

export class VmLife {
  now: Instant = START;
  /** Every fact that was established, in order. */
  readonly facts: Fact[] = [];
  /** Where in its range the next delays fall, from [0, 1). */
  delay = 0.5;
  /** Where in its range the next start deadlines fall, from [0, 1). */
  deadline = 0.5;
  #vm: Vm | null = null;
  #ids = 0;

  /** Declared at the start under the peer's curve, or under another body. */
  static declared(runStrategy: RunStrategy, body: Partial<VmBody> = {}): VmLife {
    const life = new VmLife();
    life.put(runStrategy, body);
    return life;
  }

  get vm(): Vm {
    if (this.#vm === null) throw new Error('nothing was declared');
    return this.#vm;
  }

  /** Puts a record there that no sequence of events leads to, such as one edited by hand. */
  set vm(vm: Vm) {
    this.#vm = vm;
  }

  get status(): string {
    return printableStatus(this.vm);
  }

  get shown(): ReturnType<typeof describeVm> {
    return describeVm(this.vm, this.now);
  }

  /** The id of the present instance. */
  get instanceId(): string {
    return this.vm.instance?.instanceId ?? 'none';
  }

  /** Decides on an event; the HTTP status that a caller sees. */
  send(event: Event): number {
    if (vmId === null) throw new Error('not a VM id');
    this.#ids += 1;
    const draw = { delay: this.delay, deadline: this.deadline, id: this.#ids.toString(16).padStart(16, '0') };
    const outcome = decideVm(this.#vm, event, { vmId, now: this.now, draw });
    if (outcome.kind === 'refused') return outcome.refusal.status;
    if (outcome.kind === 'changed') {
      this.#vm = outcome.next;
      this.facts.push(...outcome.facts);
    }
    return 202;
  }

  put(runStrategy: RunStrategy, body: Partial<VmBody> = {}): number {
    return this.send({
      kind: 'put',
      body: {
        hostId: HOST,
        runStrategy,
        launch: { type: 'libvirt', domain: 'web' },
        backoff: { preset: 'kubevirt' },
        ...body,
      },
    });
  }

  start(): number {
    return this.send({ kind: 'start' });
  }

  stop(graceSeconds: number | null = null): number {
    return this.send({ kind: 'stop', grace: graceSeconds === null ? null : seconds(graceSeconds) });
  }

  restart(): number {
    return this.send({ kind: 'restart' });
  }

  /** The host reports on the present instance, or on another one. */
  report(phase: Report['phase'], more: Partial<Report> = {}): number {
    return this.send({ kind: 'report', report: { instanceId: this.instanceId, phase, ...more } });
  }

  /** The present instance fails to launch. */
  failEarly(message = 'exit 1'): void {
    this.report('Failed', { cause: 'LaunchFailed', message });
  }

  /** Lets time pass; what falls due meanwhile is handled at its instant. */
  wait(length: number): void {
    const until = after(this.now, seconds(length));
    for (;;) {
      const due = this.#vm === null ? null : (vmAlarm(this.#vm)?.at ?? null);
      if (due === null || due > until) break;
      if (due > this.now) this.now = due;
      const before = this.#vm;
      this.send({ kind: 'due' });
      if (this.#vm === before) throw new Error('an alarm that changes nothing rings for ever');
    }
    this.now = until;
  }

  /** Whether another instance than the present one comes to be within the longest wait. */
  startsAnother(): boolean {
    const before = this.instanceId;
    this.wait(300);
    return this.instanceId !== before;
  }

  /** How many commands of an action were decided. */
  commands(action: string): number {
    return this.facts.filter((fact) => fact.kind === 'wake' && fact.action === action && fact.decided).length;
  }

  /** How often a metric was counted. */
  counted(name: string): number {
    return this.facts.filter((fact) => fact.kind === 'metric' && fact.name === name).length;
  }

  events(type: string): Extract<Fact, { kind: 'event' }>[] {
    return this.facts.filter((fact) => fact.kind === 'event').filter((fact) => fact.type === type);
  }
}
