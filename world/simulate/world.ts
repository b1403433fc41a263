/** The real control plane on a virtual clock, with timers, wakes and the bus in memory. */
import { METRICS, type MetricName, SWEEP_MINUTES } from '../../core/contract/names.ts';
import type { EventEntry } from '../../core/contract/answers.ts';
import {
  between,
  ceilToSecond,
  after,
  type Duration,
  formatInstant,
  type Instant,
  instant,
  minutes,
  seconds,
} from '../../core/kit/time.ts';
import { createApp } from '../../functions/http/app.ts';
import { alarmOf, refOf } from '../../functions/effects.ts';
import { handleFiring } from '../../functions/operations/due.ts';
import { sweep } from '../../functions/operations/sweep.ts';
import type { AggregateKind, ControlPlane, EventLog, Records, Ref, Wake } from '../../functions/ports.ts';
import { Heap } from '../heap.ts';
import { MemoryStore } from './memory-store.ts';
import { type Change, narrate, waitsFor } from './narrate.ts';
import { seededDraws } from '../random.ts';

const ACCOUNT = '000000000000';
const NODE_ROLE = 'HoldoffNode';
export const OPERATOR = { userArn: `arn:aws:iam::${ACCOUNT}:user/operator` };
export const nodeIdentity = (nodeId: string): { userArn: string } => ({
  userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/${NODE_ROLE}/${nodeId}`,
});

const NAMES = { vernier: 'the vernier', scheduler: 'Scheduler' } as const;

/** The vernier takes waits up to SQS's longest delay (facts/kubevirt-crash-loops.md section 3.3). */
const VERNIER_MAX = minutes(15);

type By = 'scheduler' | 'vernier';
type Firing = { at: Instant; order: number } & ({ ref: Ref; wanted: Instant; by: By } | { act: () => Promise<void> });

export type Happening = {
  at: Instant;
  /** `decision`: a record was written; `timer`: one was armed, or fired and acted. */
  kind: 'step' | 'decision' | 'event' | 'timer' | 'wake' | 'sweep' | 'problem';
  subject: string;
  text: string;
  /** Of a decision: what set it off, what a person sees change, and the record's own explanation. */
  cause?: string;
  changes?: readonly Change[];
  why?: string;
  /** Of a timer that was armed: what is waited for, and until when. */
  waits?: { what: string; until: Instant; vernier: boolean };
  /** Of a timer that fired and acted. */
  fired?: { by: By; wanted: Instant; late: Duration };
};

/** @property narrate notes decisions and timers too; costs time, so that only a run for people asks for it */
export type WorldOptions = { start: Instant; seed: number; timerLateness: number; narrate?: boolean };

export class World {
  readonly store = new MemoryStore();
  readonly plane: ControlPlane;
  readonly happenings: Happening[] = [];
  /** Nodes that SSM does not know. */
  readonly deregistered = new Set<string>();
  readonly metrics = new Map<MetricName, number>(METRICS.map((name) => [name, 0]));
  readonly #app: ReturnType<typeof createApp>;
  readonly #commands = new Map<string, number>();
  readonly #instances = new Map<string, string[]>();
  #now: Instant;
  #order = 0;
  readonly #firings = new Heap<Firing>((a, b) => a.at - b.at || a.order - b.order);
  #nextSweep: Instant;
  #sweptAtWrites = -1;

  readonly #narrates: boolean;
  #cause = 'it is given at the start';
  /** Told of each command that was decided; re-sends left out. */
  onCommand: (wake: Wake) => void = () => undefined;
  /** Firings of timers nobody waited for any more. */
  staleFirings = 0;
  sweeps = 0;

  constructor({ start, seed, timerLateness, narrate: narrates = false }: WorldOptions) {
    this.#now = start;
    this.#narrates = narrates;
    this.store.onSave = (record, before) => {
      if (record.kind === 'vm' && record.instance !== null) this.#noteInstance(record.vmId, record.instance.instanceId);
      if (narrates) this.#noteDecision(before, record);
    };
    this.#nextSweep = after(start, minutes(SWEEP_MINUTES));
    const log: EventEntry[] = [];
    const eventLog: EventLog = {
      append: () => Promise.resolve(),
      read: (limit) => Promise.resolve({ items: log.slice(-limit).reverse(), cursor: null }),
    };
    const draw = seededDraws(seed);
    this.plane = {
      store: this.store,
      now: () => this.#now,
      draw,
      pause: () => Promise.resolve(),
      settings: { idleReportSeconds: 900, activeReportSeconds: 15, table: 'simulated' },
      timers: {
        arm: (ref, _key, at, retry, now) => {
          this.#arm(ref, at, retry, now, timerLateness);
          return Promise.resolve();
        },
      },
      wakes: {
        send: (wake) => {
          this.#wake(wake);
          return Promise.resolve();
        },
      },
      bus: {
        publish: (entries) => {
          log.push(...entries);
          for (const entry of entries) this.#note('event', entry.subject, `${entry.type}: ${entry.message}`);
          return Promise.resolve();
        },
      },
      telemetry: {
        metric: (name, value) => this.metrics.set(name, (this.metrics.get(name) ?? 0) + value),
        warn: (message, detail) => this.#note('problem', 'control plane', `${message} ${JSON.stringify(detail)}`),
      },
    };
    this.#app = createApp(this.plane, eventLog, { accountId: ACCOUNT, nodeRoles: [NODE_ROLE] });
  }

  get now(): Instant {
    return this.#now;
  }

  /** How many commands of an action were decided for a node or VM; re-sends not counted. */
  commands(subject: string, action: string): number {
    return this.#commands.get(`${subject}/${action}`) ?? 0;
  }

  /** The instance ids of a VM, in the order in which they came to be. */
  instances(vmId: string): readonly string[] {
    return this.#instances.get(vmId) ?? [];
  }

  async call(
    method: string,
    path: string,
    body: unknown,
    iam: { userArn: string },
  ): Promise<{ status: number; body: unknown }> {
    const init: RequestInit =
      method === 'GET' ? { method } : { method, body: body === undefined ? '' : JSON.stringify(body) };
    this.#cause = `${method} ${path}`;
    const response = await this.#app.request(path, init, { iam });
    return { status: response.status, body: await response.json() };
  }

  /** Handles everything that falls due up to and including an instant, and leaves the clock there. */
  async runTo(target: Instant): Promise<void> {
    for (;;) {
      const firing = this.#firings.peek();
      const sweepAt = this.#sweepNeeded();
      const firingAt = firing?.at ?? null;
      if (firing !== null && firingAt !== null && firingAt <= target && (sweepAt === null || firingAt <= sweepAt)) {
        this.#now = instant(Math.max(this.#now, firingAt));
        this.#firings.pop();
        await this.#handle(firing);
      } else if (sweepAt !== null && sweepAt <= target) {
        this.#now = sweepAt;
        this.#nextSweep = after(sweepAt, minutes(SWEEP_MINUTES));
        await this.#sweep();
        this.#sweptAtWrites = this.store.writes;
      } else break;
    }
    this.#now = target;
  }

  /** Has something done at an instant of the virtual clock, in order with what falls due then. */
  schedule(at: Instant, act: () => Promise<void>): void {
    this.#order += 1;
    this.#firings.push({ at, order: this.#order, act });
  }

  async #handle(firing: Firing): Promise<void> {
    if ('act' in firing) {
      await firing.act();
      return;
    }
    const { ref, wanted, by } = firing;
    const record = this.store.peek(ref.kind, ref.id);
    const waits = record !== null && alarmOf(record)?.at === wanted;
    if (!waits) this.staleFirings += 1;
    else if (this.#narrates && wanted <= this.#now) {
      const late = between(wanted, this.#now);
      this.#cause = `${NAMES[by]} fired ${late / 1000} s after the instant`;
      this.happenings.push({
        at: this.#now,
        kind: 'timer',
        subject: `${ref.kind}/${ref.id}`,
        text: this.#cause,
        fired: { by, wanted, late },
      });
    }
    await handleFiring(this.plane, ref, wanted);
  }

  async #sweep(): Promise<void> {
    this.#cause = 'the sweep found it due';
    this.sweeps += 1;
    const { overdue, failed, slotsFreed } = await sweep(this.plane, {
      known: (ids) => Promise.resolve(new Set(ids.filter((id) => !this.deregistered.has(id)))),
    });
    if (overdue > 0 || failed > 0 || slotsFreed > 0)
      this.#note('sweep', 'control plane', `the sweep found ${overdue} overdue and freed ${slotsFreed} slots`);
  }

  /** The next sweep that has anything to do: one that follows a change, or that finds something overdue. */
  #sweepNeeded(): Instant | null {
    const step = minutes(SWEEP_MINUTES);
    const onGrid = (at: Instant): Instant =>
      instant(this.#nextSweep + Math.max(0, Math.ceil((at - this.#nextSweep) / step)) * step);
    if (this.store.writes !== this.#sweptAtWrites) return onGrid(this.#now);
    const due = this.store.earliestDue();
    return due === null ? null : onGrid(due > this.#now ? due : this.#now);
  }

  #arm(ref: Ref, at: Instant, retry: boolean, now: Instant, lateness: number): void {
    if (at <= now) {
      this.#fire({ at: now, ref, wanted: at, by: 'vernier' });
      return;
    }
    this.#fire({ at: after(ceilToSecond(at), seconds(lateness)), ref, wanted: at, by: 'scheduler' });
    const vernier = retry && at - now <= VERNIER_MAX;
    if (this.#narrates) this.#noteTimer(ref, at, retry, vernier);
    if (vernier) {
      this.#fire({ at: after(now, seconds(Math.ceil((at - now) / 1000))), ref, wanted: at, by: 'vernier' });
    }
  }

  #fire(firing: { at: Instant; ref: Ref; wanted: Instant; by: By }): void {
    this.#order += 1;
    this.#firings.push({ ...firing, order: this.#order });
  }

  #wake(wake: Wake): void {
    const { ref, action, hostId, decided } = wake;
    if (decided) {
      this.onCommand(wake);
      const key = `${ref.kind}/${ref.id}/${action}`;
      this.#commands.set(key, (this.#commands.get(key) ?? 0) + 1);
    }
    this.#note('wake', `${ref.kind}/${ref.id}`, `${action}: host ${hostId} is woken${decided ? '' : ' again'}`);
  }

  #note(kind: Happening['kind'], subject: string, text: string): void {
    this.happenings.push({ at: this.#now, kind, subject, text });
  }

  #noteDecision(before: Records[AggregateKind] | null, record: Records[AggregateKind]): void {
    const groups: Parameters<typeof narrate>[3] = (group) => this.store.peek('group', group);
    const { changes, why } = narrate(before, record, this.#now, groups);
    if (changes.length === 0) return;
    const { kind, id } = refOf(record);
    const text = changes.map(([name, was, is]) => `${name} ${was ?? '–'} → ${is ?? '–'}`).join(', ');
    this.happenings.push({
      at: this.#now,
      kind: 'decision',
      subject: `${kind}/${id}`,
      text,
      cause: this.#cause,
      changes,
      why,
    });
  }

  #noteTimer(ref: Ref, until: Instant, retry: boolean, vernier: boolean): void {
    const record = this.store.peek(ref.kind, ref.id);
    const what = record === null ? 'its turn' : waitsFor(record, until, retry);
    const wait = between(this.#now, until) / 1000;
    this.happenings.push({
      at: this.#now,
      kind: 'timer',
      subject: `${ref.kind}/${ref.id}`,
      text: `waits ${wait} s for ${what}, until ${formatInstant(until)} (${vernier ? 'vernier and Scheduler' : 'Scheduler'})`,
      waits: { what, until, vernier },
    });
  }

  #noteInstance(vmId: string, instanceId: string): void {
    const known = this.#instances.get(vmId) ?? [];
    if (!known.includes(instanceId)) this.#instances.set(vmId, [...known, instanceId]);
  }
}
