import { expect } from 'vitest';
import { after, type Instant, instant, milliseconds } from '../../core/kit/time.ts';
import { nodeIdentity, OPERATOR } from '../../world/environment.ts';
import { World } from '../../world/simulate/world.ts';
import { valueAt } from '../../world/simulate/match.ts';

export const HOST = 'i-0000000000000000a';
export const START: Instant = instant(Date.parse('2026-01-01T00:00:00Z'));
export const exec = (id: string) => ({ hostId: HOST, runStrategy: id, launch: { type: 'libvirt', domain: 'web' } });

type Answer = { status: number; body: unknown };

/** The control plane on a virtual clock, and short ways to speak to it as an operator or as a node. */
export class Scene {
  readonly world: World;
  #uptime = new Map<string, number>();

  constructor(timerLateness = 0) {
    this.world = new World({ start: START, seed: 1, timerLateness });
  }

  /** Seconds from the start. */
  to(seconds: number): Promise<void> {
    return this.world.runTo(after(START, milliseconds(seconds * 1000)));
  }

  async operator(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.world.call(method, path, body, OPERATOR);
    await this.world.runTo(this.world.now);
    return answer;
  }

  async as(node: string, method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.world.call(method, path, body, nodeIdentity(node));
    await this.world.runTo(this.world.now);
    return answer;
  }

  /** A node's report: healthy, on version 1.0 of boot b1 with 1.1 offered, unless said otherwise. */
  node(id: string, report: Record<string, unknown>): Promise<Answer> {
    const uptime = (this.#uptime.get(id) ?? 0) + 1;
    this.#uptime.set(id, uptime);
    const updateCheck = { result: 'Available', version: '1.1' };
    return this.as(id, 'POST', `/v1/nodes/${id}/reports`, {
      bootId: 'b1',
      currentVersion: '1.0',
      updateCheck,
      uptime,
      ...report,
    });
  }

  /** Reports the state that the spec asks for, with its generation. */
  async obey(id: string, more: Record<string, unknown> = {}): Promise<Answer> {
    const state = String(await this.seen('nodes', id, 'spec.state'));
    return this.node(id, { state, generation: await this.seen('nodes', id, 'spec.generation'), ...more });
  }

  vm(id: string, report: Record<string, unknown>): Promise<Answer> {
    return this.as(HOST, 'POST', `/v1/vms/${id}/reports`, { instanceId: this.world.instances(id).at(-1), ...report });
  }

  async seen(kind: 'nodes' | 'vms' | 'groups', id: string, path: string): Promise<unknown> {
    const { status, body } = await this.operator('GET', `/v1/${kind}/${id}`);
    expect(status).toBe(200);
    return valueAt(body, path);
  }

  async sees(kind: 'nodes' | 'vms' | 'groups', id: string, expected: Record<string, unknown>): Promise<void> {
    const { body } = await this.operator('GET', `/v1/${kind}/${id}`);
    const actual = Object.fromEntries(Object.keys(expected).map((path) => [path, valueAt(body, path)]));
    expect(actual).toEqual(expected);
  }
}

/** An instant as the API writes it, in seconds from the start. */
export const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString();
