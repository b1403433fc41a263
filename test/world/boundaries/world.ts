import { parseNodeId } from '../../../core/kit/ids.ts';
/** A control plane, its AWS, its agents and its operators on a virtual clock; every handler runs as a process. */
import type { SQSEvent } from 'aws-lambda';
import { SWEEP_MINUTES } from '../../../core/contract/names.ts';
import { type Instant, instant, minutes } from '../../../core/kit/time.ts';
import { createApp } from '../../../functions/http/app.ts';
import { deliverWakes } from '../../../functions/operations/deliver-wakes.ts';
import { handleTimerEvent } from '../../../functions/operations/firings.ts';
import { keepEntry } from '../../../functions/operations/log-entry.ts';
import { sweep } from '../../../functions/operations/sweep.ts';
import { type MachineEvent, noteMachineEvent } from '../../../functions/operations/lifecycle.ts';
import { noteCommandStatus } from '../../../functions/operations/wake-status.ts';
import { wakeNodes } from '../../../functions/aws/run-command.ts';
import { Heap } from '../../../world/heap.ts';
import { MemoryStore } from '../../../world/simulate/memory-store.ts';
import { nodeIdentity, OPERATOR } from '../../../world/simulate/world.ts';
import type { Cloud } from './cloud.ts';
import { History } from './history.ts';
import { log, planeAt } from './plane.ts';
import { type Call, type Kill, Process } from './process.ts';
import { type Answer, RULES, routeOf, throughApp, throughRoute } from './requests.ts';
import { ssm } from './services.ts';

export const START: Instant = instant(Date.parse('2026-01-01T00:00:00Z'));
export const SECOND = 1000;
/** So many sweeps that changed nothing are made before one is left out: what one finds may come of age until the next. */
const QUIET = 2;
const SCHEDULER_LATE = 20 * SECOND;
/** When what died is tried again: by Lambda after an asynchronous call, by a queue, by an agent, by a person. */
const AGAIN = { lambda: 60 * SECOND, queue: 60 * SECOND, agent: 5 * SECOND, operator: 2 * SECOND } as const;

/** Which invocation dies where, and whether whoever called tries again. */
export type Victim = { invocation: number; kill: Kill; again: boolean };

/** One invocation of a handler. `certain`: who called always tries again. */
export type Invocation = {
  handler: string;
  path: string;
  certain: boolean;
  calls: readonly Call[];
  effects: readonly string[];
};

/** `body` is made anew for each try; `say` tells paths of one route apart. */
export type AgentCall = { nodeId: string; method: string; path: string; body?: () => unknown; say?: string };
/** What the world tells an agent. */
export type Wakeable = { readonly nodeId: string; wake(): void };

export class World {
  readonly invocations: Invocation[] = [];
  readonly history = new History();
  readonly #victim: Victim | null;
  readonly cloud: Cloud;
  readonly #plane = planeAt(() => this.now, 1);
  readonly #app = createApp(this.#plane, log, RULES);
  readonly #agenda = new Heap<{ at: number; order: number; act: () => Promise<void> }>(
    (a, b) => a.at - b.at || a.order - b.order,
  );
  readonly #schedules = new Set<string>();
  readonly #agents = new Map<string, Wakeable>();
  /** Firings that a dead-letter queue took: neither Scheduler nor the vernier brings them again. */
  readonly #dropped = new Set<string>();
  #now: Instant = START;
  #order = 0;
  #messages = 0;
  #nextSweep = START + minutes(SWEEP_MINUTES);
  #sweptAtWrites = -1;
  #quiet = 0;

  constructor(victim: Victim | null) {
    this.#victim = victim;
    const store = new MemoryStore();
    store.onSave = (record) => this.history.saved(record, this.#now);
    this.cloud = {
      store,
      log: new Map(),
      createSchedule: (name, at, message) => this.#createSchedule(name, at, message),
      queued: (queue, body, delay) => this.#queued(queue, body, delay),
      published: (detail) => this.after(SECOND, () => this.#logged(detail)),
      commanded: (nodes) => this.#commanded(nodes),
    };
  }

  get now(): Instant {
    return this.#now;
  }
  get store(): MemoryStore {
    return this.cloud.store;
  }
  get logged(): string[] {
    return [...this.cloud.log.keys()];
  }

  enlist(agent: Wakeable): void {
    this.#agents.set(agent.nodeId, agent);
  }

  after(ms: number, act: () => Promise<void>): void {
    this.#order += 1;
    this.#agenda.push({ at: this.#now + ms, order: this.#order, act });
  }

  /** Lets everything happen that is due up to an instant. */
  async runTo(target: number): Promise<void> {
    for (;;) {
      const next = this.#agenda.peek();
      const sweepAt = this.#sweepNeeded();
      if (next !== null && next.at <= target && (sweepAt === null || next.at <= sweepAt)) {
        this.#agenda.pop();
        this.#now = instant(Math.max(this.#now, next.at));
        await next.act();
      } else if (sweepAt !== null && sweepAt <= target) {
        this.#now = instant(sweepAt);
        this.#nextSweep = sweepAt + minutes(SWEEP_MINUTES);
        await this.#sweep();
      } else break;
    }
    this.#now = instant(target);
  }

  /** An operator's call, made again if it got no answer and the operator is one who tries again. */
  async operator(method: string, path: string, body?: unknown): Promise<void> {
    const answer = await this.#request('an operator', method, path, body, OPERATOR, '');
    if (answer === null && this.#again) this.after(AGAIN.operator, () => this.operator(method, path, body));
    if (answer !== null && answer.status >= 500) this.history.fault(`${method} ${path} was answered ${answer.status}`);
  }

  /** An agent's call: made until there is an answer. */
  async agent(call: AgentCall, then: (answer: Answer) => Promise<void> | void): Promise<void> {
    const { nodeId, method, path, body, say } = call;
    const answer = await this.#request('an agent', method, path, body?.(), nodeIdentity(nodeId), say ?? '');
    if (answer === null) this.after(AGAIN.agent, () => this.agent(call, then));
    else await then(answer);
  }

  /** SSM says how a command went. */
  async status(nodeId: string, status: string): Promise<void> {
    const detail = { 'instance-id': nodeId, status, 'document-name': 'wake' };
    const ended = await this.#invoke('status', `status ${status}`, async () => {
      await noteCommandStatus(this.#plane, 'wake', detail);
      return true;
    });
    if (ended === null && this.#again) this.after(AGAIN.lambda, () => this.status(nodeId, status));
  }

  /** EC2 or SSM says what became of a machine; the event is delivered until it was handled, since nothing else brings that news. */
  async machine(nodeId: string, kind: MachineEvent['kind'], at = this.#now): Promise<void> {
    const id = parseNodeId(nodeId);
    if (id === null) throw new Error('a node id of a story');
    const work = async (): Promise<true> => {
      await noteMachineEvent(this.#plane, { nodeId: id, kind, at });
      return true;
    };
    if ((await this.#invoke('lifecycle', `lifecycle ${kind}`, work, true)) === null)
      this.after(AGAIN.lambda, () => this.machine(nodeId, kind, at));
  }

  /** `holdoff recover`, which goes on until it is done: a person must bring it to its end. */
  async recover(cursor?: string): Promise<void> {
    const body = cursor === undefined ? { force: true } : { cursor };
    const answer = await this.#request('an agent', 'POST', '/v1/recover', body, OPERATOR, '');
    if (answer === null) this.after(AGAIN.operator, () => this.recover(cursor));
    else if (typeof answer.body === 'object' && answer.body !== null && 'cursor' in answer.body)
      await this.recover(String(answer.body.cursor));
  }

  get #again(): boolean {
    return this.#victim?.again === true;
  }

  async #request(
    who: 'an operator' | 'an agent',
    method: string,
    path: string,
    body: unknown,
    iam: { userArn: string },
    say: string,
  ): Promise<Answer | null> {
    const label = `${routeOf(method, path)}${say === '' ? '' : ` ${say}`}`;
    const serve = this.#isNext ? throughApp(this.#app) : throughRoute(this.#plane);
    return this.#invoke('api', label, () => serve(method, path, body, iam), who === 'an agent');
  }

  /** Whether the next invocation is the one that dies: that one takes the whole way, the others a short one. */
  get #isNext(): boolean {
    return this.#victim === null || this.#victim.invocation === this.invocations.length;
  }

  /** @returns null when the process died */
  async #invoke<T>(handler: string, path: string, work: () => Promise<T>, certain = false): Promise<T | null> {
    const index = this.invocations.length;
    const process = new Process(this.cloud, this.#victim?.invocation === index ? this.#victim.kill : null);
    this.invocations.push({ handler, path, certain, calls: process.calls, effects: process.effects });
    const ended = await process.run(work);
    return ended.kind === 'died' ? null : ended.value;
  }

  #createSchedule(name: string, at: number, message: string): boolean {
    if (this.#schedules.has(name)) return false;
    this.#schedules.add(name);
    const fire = async (): Promise<void> => {
      this.#schedules.delete(name);
      const firing: Record<string, unknown> = JSON.parse(message);
      await this.#fired(message, 'Scheduler', firing);
    };
    this.after(at - this.#now + SCHEDULER_LATE, fire);
    return true;
  }

  #queued(queue: 'vernier' | 'commands', body: string, delaySeconds: number): void {
    this.#messages += 1;
    // The handlers read nothing else of the record.
    const event = { Records: [{ messageId: `message-${this.#messages}`, body }] } as SQSEvent;
    if (queue === 'vernier') this.after(delaySeconds * SECOND, () => this.#fired(body, 'vernier', event));
    else this.after(SECOND, () => this.#command(event));
  }

  async #fired(message: string, by: string, event: SQSEvent | Record<string, unknown>): Promise<void> {
    if (this.#dropped.has(message)) return;
    const kind = message.slice(message.indexOf(':"') + 2, message.indexOf('",'));
    const ended = await this.#invoke('timer', `timer of a ${kind} (${by})`, async () => {
      await handleTimerEvent(this.#plane, event);
      return true;
    });
    if (ended !== null) return;
    if (this.#again) this.after(AGAIN.lambda, () => this.#fired(message, by, event));
    else this.#dropped.add(message);
  }

  async #command(event: SQSEvent): Promise<void> {
    const ended = await this.#invoke('command', 'command', () =>
      deliverWakes(this.#plane, (targets, wakeId) => wakeNodes(ssm, 'wake', targets, wakeId), event),
    );
    if (ended === null && this.#again) this.after(AGAIN.queue, () => this.#command(event));
  }

  #commanded(nodes: readonly string[]): boolean {
    const agents = nodes.map((nodeId) => this.#agents.get(nodeId));
    if (agents.includes(undefined)) return false;
    for (const agent of agents) agent?.wake();
    return true;
  }

  async #logged(detail: string): Promise<void> {
    const ended = await this.#invoke('log', 'log', async () => {
      await keepEntry(log, JSON.parse(detail));
      return true;
    });
    if (ended === null && this.#again) this.after(AGAIN.lambda, () => this.#logged(detail));
  }

  async #sweep(): Promise<void> {
    const ended = await this.#invoke('sweep', 'sweep', () =>
      sweep(this.#plane, { known: (ids) => Promise.resolve(new Set(ids)) }),
    );
    if (ended !== null) this.#quiet = this.store.writes === this.#sweptAtWrites ? this.#quiet + 1 : 0;
    if (ended !== null) this.#sweptAtWrites = this.store.writes;
    else if (this.#again) this.after(AGAIN.lambda, () => this.#sweep());
  }

  /** The next sweep that has anything to do: one that follows a change, or that finds something overdue. */
  #sweepNeeded(): number | null {
    const step = minutes(SWEEP_MINUTES);
    const onGrid = (at: number): number =>
      this.#nextSweep + Math.max(0, Math.ceil((at - this.#nextSweep) / step)) * step;
    if (this.store.writes !== this.#sweptAtWrites || this.#quiet < QUIET) return onGrid(this.#now);
    const due = this.store.earliestDue();
    return due === null ? null : onGrid(due);
  }
}
