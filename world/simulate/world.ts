/** A deployment on virtual time as `holdoff simulate` watches it: nothing fails, and what happens is noted for people. */
import { METRICS, type MetricName } from '../../core/contract/names.ts';
import { between, formatInstant, type Instant, instant, seconds } from '../../core/kit/time.ts';
import { hasVernier } from '../../core/decision/alarm.ts';
import { alarmOf, refOf } from '../../functions/effects.ts';
import type { AggregateKind, ControlPlane, Records, Ref, Store, Wake } from '../../functions/ports.ts';
import { NO_DELAY } from '../aws/services.ts';
import type { VirtualTable } from '../aws/table.ts';
import { type Called, Deployment, UNHARMED } from '../deployment.ts';
import type { Identity } from '../environment.ts';
import { Kernel } from '../kernel.ts';
import { peek, recordOf } from '../records.ts';
import type { Answer } from '../requests.ts';
import { Sweeping } from '../sweeping.ts';
import { type Cause, type Happening, sayCause } from './happening.ts';
import { narrate, waitsFor } from './narrate.ts';

/** @property narrate notes decisions and timers too; costs time, so that only a run for people asks for it */
export type WorldOptions = { start: Instant; seed: number; timerLateness: number; narrate?: boolean };

export class World {
  readonly plane: ControlPlane;
  readonly happenings: Happening[] = [];
  /** Nodes that SSM does not know. */
  readonly deregistered = new Set<string>();
  readonly metrics = new Map<MetricName, number>(METRICS.map((name) => [name, 0]));
  /** Told of each record that was written. */
  onWritten: (record: Records[AggregateKind]) => void = () => undefined;
  /** Told of each command that was decided; re-sends left out. */
  onCommand: (wake: Wake) => void = () => undefined;
  /** Firings of timers nobody waited for any more. */
  staleFirings = 0;
  sweeps = 0;
  readonly #kernel: Kernel;
  readonly #deployment: Deployment;
  readonly #sweeping: Sweeping;
  readonly #narrates: boolean;
  readonly #commands = new Map<string, number>();
  readonly #instances = new Map<string, string[]>();
  readonly #before = new Map<string, Records[AggregateKind]>();
  #cause: Cause = { by: 'start' };

  constructor({ start, seed, timerLateness, narrate: narrates = false }: WorldOptions) {
    this.#kernel = new Kernel(start);
    this.#narrates = narrates;
    this.#deployment = new Deployment({
      kernel: this.#kernel,
      seed,
      delays: { ...NO_DELAY, scheduler: () => seconds(timerLateness) },
      fate: { ...UNHARMED, began: (called) => this.#began(called) },
      // Nobody acts but by the steps of a scenario: a wake reaches a node, and it does nothing.
      outside: {
        woken: () => true,
        registered: (nodeId) => !this.deregistered.has(nodeId),
        written: (item) => {
          const record = recordOf(item);
          if (record !== null) this.#written(record);
        },
      },
      telemetry: {
        metric: (name, value) => this.metrics.set(name, (this.metrics.get(name) ?? 0) + value),
        warn: (message, detail) => this.#note('problem', 'control plane', `${message} ${JSON.stringify(detail)}`),
      },
      watched: (plane) => this.#watched(plane),
    });
    this.plane = this.#deployment.plane;
    this.#sweeping = new Sweeping(this.#kernel, this.table, () => this.#sweep());
  }

  get now(): Instant {
    return instant(this.#kernel.now);
  }

  get store(): Store {
    return this.plane.store;
  }

  get table(): VirtualTable {
    return this.#deployment.services.table;
  }

  /** How many commands of an action were decided for a node or VM; re-sends not counted. */
  commands(subject: string, action: string): number {
    return this.#commands.get(`${subject}/${action}`) ?? 0;
  }

  /** The instance ids of a VM, in the order in which they came to be. */
  instances(vmId: string): readonly string[] {
    return this.#instances.get(vmId) ?? [];
  }

  async call(method: string, path: string, body: unknown, iam: Identity): Promise<Answer> {
    const request = { method, path, body, iam };
    const called = { handler: 'api', path: `${method} ${path}`, certain: false } as const;
    const { answer } = await this.#deployment.request(request, called, 'whole');
    if (answer === null) throw new Error('a process died where none can');
    return answer;
  }

  /** CloudWatch says that an alarm changed its state. */
  async alarm(name: string, state: 'OK' | 'ALARM'): Promise<void> {
    this.#note('step', 'CloudWatch', `alarm ${name} is ${state}`);
    await this.#deployment.alarmEvent(name, state);
  }

  /** Handles everything that falls due up to and including an instant, and leaves the clock there. */
  runTo(target: Instant): Promise<void> {
    return this.#sweeping.runTo(target);
  }

  /** Has something done at an instant of the virtual clock, in order with what falls due then. */
  schedule(at: Instant, act: () => Promise<void>): void {
    this.#kernel.in(at - this.#kernel.now, act);
  }

  #began({ handler, path, firing }: Called): void {
    if (handler === 'api') this.#cause = { by: 'call', call: path };
    else if (handler === 'sweep') this.#cause = { by: 'sweep' };
    else if (firing !== undefined) this.#fired(firing);
  }

  #fired({ ref, wanted, by }: NonNullable<Called['firing']>): void {
    const record = peek(this.table, ref.kind, ref.id);
    const late = between(wanted, this.now);
    if (record === null || alarmOf(record)?.at !== wanted) this.staleFirings += 1;
    else if (this.#narrates && late >= 0) {
      this.#cause = { by, late };
      const fired = { by, wanted, late };
      this.#note('timer', subjectOf(ref), sayCause(this.#cause), { fired });
    }
  }

  #sweep(): Promise<void> {
    this.sweeps += 1;
    return this.#deployment.sweep(({ overdue, failed, slotsFreed }) => {
      this.#sweeping.through();
      if (overdue > 0 || failed > 0 || slotsFreed > 0)
        this.#note('sweep', 'control plane', `the sweep found ${overdue} overdue and freed ${slotsFreed} slots`);
    });
  }

  /** What it decides is heard before it is sent. */
  #watched(plane: ControlPlane): ControlPlane {
    const { timers, wakes, bus } = plane;
    return {
      ...plane,
      timers: {
        arm: (ref, key, at, retry, now) => {
          if (this.#narrates && at > now) this.#noteTimer(ref, at, retry);
          return timers.arm(ref, key, at, retry, now);
        },
      },
      wakes: {
        send: (wake, now) => {
          this.#woken(wake);
          return wakes.send(wake, now);
        },
      },
      bus: {
        publish: (entries) => {
          for (const { subject, type, message } of entries)
            this.#note('event', subject, `${type}: ${message}`, { event: type });
          return bus.publish(entries);
        },
      },
    };
  }

  #woken(wake: Wake): void {
    const { ref, action, hostId, decided } = wake;
    if (decided) {
      this.onCommand(wake);
      const key = `${subjectOf(ref)}/${action}`;
      this.#commands.set(key, (this.#commands.get(key) ?? 0) + 1);
    }
    const text = `${action}: host ${hostId} is woken${decided ? '' : ' again'}`;
    this.#note('wake', subjectOf(ref), text, { wake: { action, decided } });
  }

  #written(record: Records[AggregateKind]): void {
    if (record.kind === 'vm' && record.instance !== null) this.#noteInstance(record.vmId, record.instance.instanceId);
    this.onWritten(record);
    if (!this.#narrates) return;
    const subject = subjectOf(refOf(record));
    const before = this.#before.get(subject) ?? null;
    this.#before.set(subject, record);
    const { changes, why } = narrate(before, record, this.now, (group) => peek(this.table, 'group', group));
    if (changes.length === 0) return;
    const text = changes.map(([name, was, is]) => `${name} ${was ?? '–'} → ${is ?? '–'}`).join(', ');
    this.#note('decision', subject, text, { cause: this.#cause, changes, why });
  }

  #noteTimer(ref: Ref, until: Instant, retry: boolean): void {
    const record = peek(this.table, ref.kind, ref.id);
    const waits = {
      what: record === null ? 'its turn' : waitsFor(record, until, retry),
      until,
      retry,
      vernier: hasVernier({ at: until, retry }, this.now),
    };
    const how = waits.vernier ? 'vernier and Scheduler' : 'Scheduler';
    const wait = between(this.now, until) / 1000;
    const text = `waits ${wait} s for ${waits.what}, until ${formatInstant(until)} (${how})`;
    this.#note('timer', subjectOf(ref), text, { waits });
  }

  #note(kind: Happening['kind'], subject: string, text: string, more: Partial<Happening> = {}): void {
    this.happenings.push({ at: this.now, kind, subject, text, ...more });
  }

  #noteInstance(vmId: string, instanceId: string): void {
    const known = this.#instances.get(vmId) ?? [];
    if (!known.includes(instanceId)) this.#instances.set(vmId, [...known, instanceId]);
  }
}

const subjectOf = ({ kind, id }: Ref): string => `${kind}/${id}`;
