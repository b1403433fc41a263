/** An agent that follows what the control plane wants, and fails where its plan says so. */
import * as z from 'zod/mini';
import type { Guests } from './guests.ts';
import type { Answer } from '../../../world/requests.ts';
import { SECOND, type Stage } from './stage.ts';

/** What goes wrong on a node: how often a step ends in ErrorReset, or is never heard of again. */
export type NodePlan = {
  nodeId: string;
  group?: string;
  fails?: Record<string, number>;
  hangs?: Record<string, number>;
  /** Seconds that a step takes, if not ten. */
  slow?: Record<string, number>;
  /** The version that it runs; 1.1 is offered. */
  version?: string;
};

const OFFERED = '1.1';
const STEP = 10 * SECOND;
const RETRY = 60 * SECOND;

const reportAnswer = z.object({
  desired: z.object({ state: z.string(), version: z.nullable(z.string()), generation: z.number() }),
  reportEverySeconds: z.number(),
});

export class Agent {
  readonly nodeId: string;
  readonly #stage: Stage;
  readonly #plan: NodePlan;
  readonly #guests: Guests | null;
  /** What it keeps on disk. */
  #generation: number | null = null;
  #state = 'Idle';
  #error: string | null = null;
  #version: string;
  #boot = 1;
  #bootAt: number;
  #reports = 0;
  /** The generation that it works for. */
  #working: number | null = null;
  #off = false;
  /** The report planned last; an earlier plan is void. */
  #planned = 0;

  constructor(stage: Stage, plan: NodePlan, guests: Guests | null) {
    this.nodeId = plan.nodeId;
    this.#stage = stage;
    this.#plan = plan;
    this.#guests = guests;
    this.#version = plan.version ?? '1.0';
    this.#bootAt = stage.now;
    stage.enlist(this);
  }

  wake(): void {
    if (this.#off) return;
    this.#reportIn(SECOND);
    this.#guests?.look();
  }

  unplug(): void {
    this.#off = true;
    this.#planned += 1;
    this.#guests?.lose();
  }

  /** It comes back with a new boot: what ran on it has ended. */
  plug(): void {
    this.#off = false;
    this.#boots();
    this.#reportIn(SECOND);
    this.#guests?.look();
  }

  report(): Promise<void> {
    const body = (): unknown => {
      this.#reports += 1;
      return {
        ...(this.#generation === null ? {} : { generation: this.#generation }),
        state: this.#state,
        ...(this.#error === null ? {} : { error: { reason: this.#error } }),
        bootId: `boot-${this.#boot}`,
        currentVersion: this.#version,
        updateCheck: this.#version === OFFERED ? { result: 'UpToDate' } : { result: 'Available', version: OFFERED },
        ...(this.#plan.group === undefined ? {} : { group: this.#plan.group }),
        uptime: (this.#stage.now - this.#bootAt) / SECOND + this.#reports / SECOND,
      };
    };
    const call = {
      nodeId: this.nodeId,
      method: 'POST',
      path: `/v1/nodes/${this.nodeId}/reports`,
      body,
      say: this.#state,
    };
    return this.#stage.agent(call, (answer) => this.#answered(answer));
  }

  #reportIn(ms: number): void {
    this.#planned += 1;
    const planned = this.#planned;
    this.#stage.after(ms, async () => {
      if (planned === this.#planned && !this.#off) await this.report();
    });
  }

  #answered({ status, body }: Answer): void {
    if (this.#off) return;
    if (status !== 200) {
      this.#reportIn(RETRY);
      return;
    }
    const { desired, reportEverySeconds } = z.parse(reportAnswer, body);
    this.#reportIn(reportEverySeconds * SECOND);
    this.#guests?.look();
    const newer = desired.generation > (this.#generation ?? 0) && desired.generation !== this.#working;
    if (newer) this.#work(desired);
  }

  #work({ state, version, generation }: { state: string; version: string | null; generation: number }): void {
    this.#working = generation;
    if (take(this.#plan.hangs, state)) return;
    const takes = this.#plan.slow?.[state];
    const work = (): Promise<void> => {
      this.#stage.after(takes === undefined ? STEP : takes * SECOND, async () => {
        if (this.#working === generation && !this.#off) await this.#reach(state, version, generation);
      });
      return Promise.resolve();
    };
    void (state === 'RebootedIntoUpdate' && this.#guests !== null ? this.#guests.drain(work) : work());
  }

  async #reach(state: string, version: string | null, generation: number): Promise<void> {
    const fails = take(this.#plan.fails, state);
    if (!fails && state === 'RebootedIntoUpdate') {
      this.#version = version ?? OFFERED;
      this.#boots();
    }
    this.#guests?.drained();
    this.#generation = generation;
    this.#state = fails ? 'ErrorReset' : state;
    this.#error = fails ? 'Broken' : null;
    this.#planned += 1;
    await this.report();
  }

  #boots(): void {
    this.#boot += 1;
    this.#bootAt = this.#stage.now;
    this.#reports = 0;
  }
}

/** Uses up one of what a plan has in store. */
function take(plan: Record<string, number> | undefined, key: string): boolean {
  const left = plan?.[key] ?? 0;
  if (plan === undefined || left === 0) return false;
  plan[key] = left - 1;
  return true;
}
