/** The real control plane on a virtual clock, with timers, wakes and the bus in memory. */
// @ts-nocheck

import { METRICS, type MetricName, SWEEP_MINUTES } from '../../core/names.ts';
import type { EventEntry } from '../../core/contract.ts';
import { ceilToSecond, after, type Instant, instant, minutes, seconds } from '../../core/time.ts';
import { createApp } from '../../functions/http/app.ts';
import { handleFiring } from '../../functions/operations/due.ts';
import { sweep } from '../../functions/operations/sweep.ts';
import type { ControlPlane, EventLog, Ref, Wake } from '../../functions/ports.ts';
import { Heap } from './heap.ts';
import { MemoryStore } from './memory-store.ts';
import { seededDraws } from './random.ts';

const ACCOUNT = '000000000000';
const NODE_ROLE = 'HoldoffNode';
export const OPERATOR = { userArn: `arn:aws:iam::${ACCOUNT}:user/operator` };
export const nodeIdentity = (nodeId: string): { userArn: string } => ({
  userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/${NODE_ROLE}/${nodeId}`,
});

/** The vernier takes waits up to SQS's longest delay (facts/kubevirt-crash-loops.md section 3.3). */
const VERNIER_MAX = minutes(15);

type Firing = { at: Instant; order: number; ref: Ref; wanted: Instant; by: 'scheduler' | 'vernier' };

export type Happening = {
  at: Instant;
  kind: 'step' | 'event' | 'timer' | 'wake' | 'problem';
  subject: string;
  text: string;
};

export type WorldOptions = { start: Instant; seed: number; timerLateness: number };

export class World {
  readonly store = new MemoryStore();
  readonly plane: ControlPlane;
  readonly happenings: Happening[] = [];
  readonly metrics = new Map<MetricName, number>(METRICS.map((name) => [name, 0]));
  readonly #app: ReturnType<typeof createApp>;
  readonly #commands = new Map<string, number>();
  readonly #instances = new Map<string, string[]>();
  #now: Instant;
  #order = 0;
  readonly #firings = new Heap<Firing>((a, b) => a.at - b.at || a.order - b.order);
  #nextSweep: Instant;
  #sweptAtWrites = -1;

  constructor({ start, seed, timerLateness }: WorldOptions) {
    this.#now = start;
    this.store.onSave = (record) => {
      if (record.kind === 'vm' && record.instance !== null) this.#noteInstance(record.vmId, record.instance.instanceId);
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
      settings: { idleReportSeconds: 900, activeReportSeconds: 15 },
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
        await handleFiring(this.plane, firing.ref, firing.wanted);
      } else if (sweepAt !== null && sweepAt <= target) {
        this.#now = sweepAt;
        this.#nextSweep = after(sweepAt, minutes(SWEEP_MINUTES));
        await sweep(this.plane);
        this.#sweptAtWrites = this.store.writes;
      } else break;
    }
    this.#now = target;
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
    if (retry && at - now <= VERNIER_MAX) {
      this.#fire({ at: after(now, seconds(Math.ceil((at - now) / 1000))), ref, wanted: at, by: 'vernier' });
    }
  }

  #fire(firing: Omit<Firing, 'order'>): void {
    this.#order += 1;
    this.#firings.push({ ...firing, order: this.#order });
  }

  #wake({ ref, action, hostId, decided }: Wake): void {
    if (decided) {
      const key = `${ref.kind}/${ref.id}/${action}`;
      this.#commands.set(key, (this.#commands.get(key) ?? 0) + 1);
    }
    this.#note('wake', `${ref.kind}/${ref.id}`, `${action}: host ${hostId} is woken${decided ? '' : ' again'}`);
  }

  #note(kind: Happening['kind'], subject: string, text: string): void {
    this.happenings.push({ at: this.#now, kind, subject, text });
  }

  #noteInstance(vmId: string, instanceId: string): void {
    const known = this.#instances.get(vmId) ?? [];
    if (!known.includes(instanceId)) this.#instances.set(vmId, [...known, instanceId]);
  }
}
