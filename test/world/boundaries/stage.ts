/** Where a story is told: a deployment of which at most one process dies, its agents and its operators. */
import type { HandlerName } from '../../../core/contract/names.ts';
import { type Instant, instant } from '../../../core/kit/time.ts';
import type { MachineEvent } from '../../../functions/operations/lifecycle.ts';
import type { Store } from '../../../functions/ports.ts';
import { NO_DELAY } from '../../../world/aws/services.ts';
import { type Called, Deployment, type Fate } from '../../../world/deployment.ts';
import { type Identity, nodeIdentity, OPERATOR } from '../../../world/environment.ts';
import { type ExternalCall, Kernel, type Kill } from '../../../world/kernel.ts';
import { recordOf } from '../../../world/records.ts';
import { type Answer, routeOf } from '../../../world/requests.ts';
import { Sweeping } from '../../../world/sweeping.ts';
import { History } from './history.ts';

export const START: Instant = instant(Date.parse('2026-01-01T00:00:00Z'));
export const SECOND = 1000;
const SCHEDULER_LATE = 20 * SECOND;
/** When what died is tried again: by Lambda after an asynchronous call, by a queue, by an agent, by a person. */
const AGAIN = { lambda: 60 * SECOND, queue: 60 * SECOND, agent: 5 * SECOND, operator: 2 * SECOND } as const;

/** Which invocation dies where, and whether whoever called tries again. */
export type Victim = { invocation: number; kill: Kill; again: boolean };

/** One invocation of a handler. `certain`: who called always tries again. */
export type Invoked = {
  handler: HandlerName;
  path: string;
  certain: boolean;
  calls: readonly ExternalCall[];
  effects: readonly string[];
};

/** `body` is made anew for each try; `say` tells paths of one route apart. */
export type AgentCall = { nodeId: string; method: string; path: string; body?: () => unknown; say?: string };
/** What the stage tells an agent. */
export type Wakeable = { readonly nodeId: string; wake(): void };

export class Stage {
  readonly invocations: Invoked[] = [];
  readonly history = new History();
  readonly #victim: Victim | null;
  readonly #kernel = new Kernel(START);
  readonly #deployment: Deployment;
  readonly #sweeping: Sweeping;
  readonly #agents = new Map<string, Wakeable>();

  constructor(victim: Victim | null) {
    this.#victim = victim;
    this.#deployment = new Deployment({
      kernel: this.#kernel,
      seed: 1,
      delays: {
        ...NO_DELAY,
        scheduler: () => SCHEDULER_LATE,
        bus: () => SECOND,
        queue: (queue) => (queue === 'commands' ? SECOND : 0),
      },
      fate: this.#fate(),
      outside: {
        woken: (nodeId) => {
          this.#agents.get(nodeId)?.wake();
          return true;
        },
        registered: (nodeId) => this.#agents.has(nodeId),
        written: (item) => {
          const record = recordOf(item);
          if (record !== null) this.history.saved(record, this.now);
        },
      },
    });
    this.#sweeping = new Sweeping(this.#kernel, this.#deployment.services.table, () =>
      this.#deployment.sweep(() => this.#sweeping.through()),
    );
  }

  get now(): Instant {
    return instant(this.#kernel.now);
  }
  get store(): Store {
    return this.#deployment.plane.store;
  }
  /** The earliest instant at which anything stored falls due. */
  get earliestDue(): number | null {
    return this.#deployment.services.table.earliestDue();
  }
  /** The ids of the entries in the event log. */
  get logged(): string[] {
    return this.#deployment.services.table.all().flatMap((item) => {
      const [partition = '', sort = ''] = [item['pk']?.S, item['sk']?.S];
      return partition.startsWith('events#') ? [`${partition}/${sort}`] : [];
    });
  }

  enlist(agent: Wakeable): void {
    this.#agents.set(agent.nodeId, agent);
  }

  after(ms: number, act: () => Promise<void>): void {
    this.#kernel.in(ms, act);
  }

  /** Lets everything happen that is due up to an instant. */
  runTo(target: number): Promise<void> {
    return this.#sweeping.runTo(target);
  }

  /** An operator's call, made again if it got no answer and the operator is one who tries again. */
  async operator(method: string, path: string, body?: unknown): Promise<void> {
    const answer = await this.#request({ method, path, body, iam: OPERATOR }, false, '');
    if (answer === null && this.#again) this.after(AGAIN.operator, () => this.operator(method, path, body));
    if (answer !== null && answer.status >= 500) this.history.fault(`${method} ${path} was answered ${answer.status}`);
  }

  /** An agent's call: made until there is an answer. */
  async agent(call: AgentCall, then: (answer: Answer) => Promise<void> | void): Promise<void> {
    const { nodeId, method, path, body, say = '' } = call;
    const answer = await this.#request({ method, path, body: body?.(), iam: nodeIdentity(nodeId) }, true, say);
    if (answer === null) this.after(AGAIN.agent, () => this.agent(call, then));
    else await then(answer);
  }

  /** SSM says how a command went. */
  status(nodeId: string, status: string): Promise<void> {
    return this.#deployment.commandEnded(nodeId, status);
  }

  /** EC2 or SSM says what became of a machine. */
  machine(nodeId: string, kind: MachineEvent['kind']): Promise<void> {
    return this.#deployment.machineEvent(nodeId, kind);
  }

  /** `holdoff recover`, which goes on until it is done: a person must bring it to its end. */
  async recover(cursor?: string): Promise<void> {
    const body = cursor === undefined ? { force: true } : { cursor };
    const answer = await this.#request({ method: 'POST', path: '/v1/recover', body, iam: OPERATOR }, true, '');
    if (answer === null) this.after(AGAIN.operator, () => this.recover(cursor));
    else if (typeof answer.body === 'object' && answer.body !== null && 'cursor' in answer.body)
      await this.recover(String(answer.body.cursor));
  }

  get #again(): boolean {
    return this.#victim?.again === true;
  }

  async #request(
    request: { method: string; path: string; body: unknown; iam: Identity },
    certain: boolean,
    say: string,
  ): Promise<Answer | null> {
    const path = `${routeOf(request.method, request.path)}${say === '' ? '' : ` ${say}`}`;
    const called: Called = { handler: 'api', path, certain };
    // The one that dies takes the whole way, the others a short one.
    const way = this.#victim === null || this.#isVictim(this.invocations.length) ? 'whole' : 'short';
    return (await this.#deployment.request(request, called, way)).answer;
  }

  #isVictim(index: number): boolean {
    return this.#victim?.invocation === index;
  }

  #fate(): Fate {
    return {
      kill: () => (this.#isVictim(this.invocations.length) ? (this.#victim?.kill ?? null) : null),
      began: ({ handler, path, certain }, { calls, effects }) =>
        void this.invocations.push({ handler, path, certain, calls, effects }),
      died: () => undefined,
      again: ({ handler, certain }, _attempt, error) => {
        if (error !== null) throw error.cause;
        if (!certain && !this.#again) return null;
        return handler === 'command' ? AGAIN.queue : AGAIN.lambda;
      },
      // A firing that a dead-letter queue took comes by neither way again.
      deadLettersAreFinal: true,
    };
  }
}
