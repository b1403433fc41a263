/**
 * What a rollout will do: the control plane itself on virtual time, with nodes that take as long and fail as often as
 * they are said to. Nothing but the table of hours comes of it (DESIGN section 2b).
 */
import type { NodeRecord } from '../../core/node/record.ts';
import { type Duration, hours, type Instant, instant, minutes, seconds } from '../../core/kit/time.ts';
import { loadView, turnGroup } from '../../functions/operations/groups.ts';
import { Deployment } from '../deployment.ts';
import { OPERATOR } from '../environment.ts';
import { Kernel } from '../kernel.ts';
import { seededDraws } from '../random.ts';
import { peek } from '../records.ts';
import { codesOf, groupNamed, type Row, standingsOf, type Waiting } from '../standing.ts';
import { Sweeping } from '../sweeping.ts';
import type { Fleet, ForecastNode } from './fleet.ts';
import { Machines } from './machines.ts';
import type { Pace } from './pace.ts';

export type ForecastOptions = { fleet: Fleet; pace: Pace; start: Instant; length: Duration; seed: number };

export type Forecast = {
  start: Instant;
  end: Instant;
  rows: Row[];
  groups: Record<string, GroupForecast>;
  nodes: number;
  updated: number;
  crashes: number;
  requests: number;
};
export type GroupForecast = {
  nodes: number;
  limit: number | null;
  /** The most that were under way at once. */
  most: number;
  /** When the last of them was done; null: not all are at the end. */
  doneAt: Instant | null;
  /** Node-hours waited, by what for. */
  waited: Waiting;
};

/** A policy that the control plane does not take. */
export class ForecastError extends Error {
  readonly code = 'PolicyRefused';
}

/** More nodes than this are looked at once an hour, fewer every ten minutes. */
const MANY = 300;
const ENROLLED_WITHIN = minutes(1);

/** @throws {ForecastError} when a policy of the fleet is refused */
export async function forecast(options: ForecastOptions): Promise<Forecast> {
  const run = new Run(options);
  await run.setUp();
  return run.toEnd();
}

class Run {
  readonly #options: ForecastOptions;
  readonly #deployment: Deployment;
  readonly #machines: Machines;
  readonly #sweeping: Sweeping;
  readonly #names: readonly string[];
  readonly #underWay = new Map<string, Set<string>>();
  readonly #most = new Map<string, number>();
  readonly #crashesOf = new Map<string, string>();
  #crashes = 0;

  constructor(options: ForecastOptions) {
    this.#options = options;
    const { fleet, pace, start, seed } = options;
    const kernel = new Kernel(start);
    const chance = seededDraws(seed + 1);
    this.#deployment = new Deployment({
      kernel,
      seed,
      logs: false,
      outside: {
        woken: (nodeId) => this.#machines.woken(nodeId),
        registered: () => true,
        written: (item) => {
          const [kind, id = ''] = (item['pk']?.S ?? '').split('#');
          if (kind === 'node') this.#written(id);
        },
      },
    });
    this.#machines = new Machines(this.#deployment, pace, () => chance().delay);
    this.#sweeping = new Sweeping(kernel, this.#deployment.services.table, () =>
      this.#deployment.sweep(() => this.#sweeping.through()),
    );
    this.#names = [...new Set(fleet.nodes.map(({ group }) => group))].sort();
  }

  async setUp(): Promise<void> {
    const { fleet } = this.#options;
    await this.#putAll(Object.entries(fleet.groups));
    // Nothing starts before every node stands as it does now.
    for (const group of this.#names) {
      await turnGroup(this.#deployment.plane, groupNamed(group), { kind: 'ensure', pausedBy: 'forecast' });
      await this.#verb(group, 'pause');
    }
    this.#machines.begin(fleet.nodes, ENROLLED_WITHIN);
    await this.#sweeping.runTo(this.#options.start + ENROLLED_WITHIN + seconds(5));
    for (const node of fleet.nodes) await this.#restore(node);
    await this.#sweeping.runTo(this.#deployment.kernel.now + minutes(4));
    const paused = new Set(fleet.paused);
    for (const group of this.#names) if (!paused.has(group)) await this.#verb(group, 'resume');
  }

  /** One that comes after another is taken once that one is there. */
  async #putAll(given: readonly (readonly [string, Record<string, unknown>])[]): Promise<void> {
    let left = [...given];
    while (left.length > 0) {
      const refused: [string, Record<string, unknown>, string][] = [];
      for (const [group, body] of left) {
        const { status, body: answer } = await this.#call('PUT', `/v1/groups/${encodeURIComponent(group)}`, body);
        if (status >= 300) refused.push([group, body, detailOf(answer)]);
      }
      const [first] = refused;
      if (first !== undefined && refused.length === left.length)
        throw new ForecastError(`groups.${first[0]}: ${first[2]}`);
      left = refused.map(([group, body]) => [group, body] as const);
    }
  }

  async #verb(group: string, verb: 'pause' | 'resume'): Promise<void> {
    const { status, body } = await this.#call('POST', `/v1/groups/${encodeURIComponent(group)}/${verb}`);
    if (status >= 300) throw new ForecastError(`groups.${group}: ${detailOf(body)}`);
  }

  /** What is on record of it now. */
  async #restore({ nodeId, crash, blockedVersions, held, answers }: ForecastNode): Promise<void> {
    if (!answers) return;
    if (held) await this.#call('POST', `/v1/nodes/${nodeId}/hold`);
    if (crash.count === 0 && blockedVersions.length === 0) return;
    const { store, draw } = this.#deployment.plane;
    const loaded = await store.load('node', nodeId);
    if (loaded === null) return;
    const { record } = loaded;
    const known: NodeRecord = {
      ...record,
      revision: record.revision + 1,
      blockedVersions: [...blockedVersions],
      crash,
    };
    await store.save('node', known, record.revision, draw().id);
  }

  async toEnd(): Promise<Forecast> {
    const { fleet, start, length } = this.#options;
    const end = instant(start + length);
    const every = fleet.nodes.length > MANY ? hours(1) : minutes(10);
    const rows: Row[] = [];
    const doneAt = new Map<string, Instant>();
    const waited = new Map<string, Waiting>(this.#names.map((name) => [name, {}]));
    for (let at = this.#deployment.kernel.now; at <= end; at += every) {
      await this.#sweeping.runTo(at);
      const row = await this.#look();
      rows.push(row);
      for (const [group, { done, underWay, waiting }] of Object.entries(row.groups)) {
        const sum = waited.get(group) ?? {};
        for (const [code, count] of codesOf(waiting)) sum[code] = (sum[code] ?? 0) + (count * every) / hours(1);
        const whole = this.#members(group).length;
        if (done < whole || underWay > 0) doneAt.delete(group);
        else if (!doneAt.has(group)) doneAt.set(group, row.at);
      }
      if (doneAt.size === this.#names.length) break;
    }
    const groups: Record<string, GroupForecast> = {};
    for (const name of this.#names) {
      const { slots } = await loadView(this.#deployment.plane, groupNamed(name));
      groups[name] = {
        nodes: this.#members(name).length,
        limit: slots.limit,
        most: this.#most.get(name) ?? 0,
        doneAt: doneAt.get(name) ?? null,
        waited: waited.get(name) ?? {},
      };
    }
    const last = rows.at(-1);
    const updated = Object.values(last?.groups ?? {}).reduce((sum, { done }) => sum + done, 0);
    const { requests } = this.#machines;
    return { start, end, rows, groups, nodes: fleet.nodes.length, updated, crashes: this.#crashes, requests };
  }

  #members(group: string): readonly ForecastNode[] {
    return this.#options.fleet.nodes.filter((node) => node.group === group);
  }

  #look(): Promise<Row> {
    const members = new Map(this.#names.map((name) => [name, this.#members(name).map(({ nodeId }) => nodeId)]));
    return standingsOf(this.#deployment.plane, this.#deployment.services.table, members);
  }

  /** Counts who holds a slot at each write, and each crash once. */
  #written(id: string): void {
    const found = this.#options.fleet.nodes.length === 0 ? null : peekNode(this.#deployment, id);
    if (found === null) return;
    const { group, attempt, crash } = found;
    const under = this.#underWay.get(group) ?? new Set();
    this.#underWay.set(group, under);
    if (attempt !== null && (attempt.claimId !== null || attempt.unlimited)) under.add(id);
    else under.delete(id);
    this.#most.set(group, Math.max(this.#most.get(group) ?? 0, under.size));
    const mark = `${crash.count}/${crash.lastAt ?? ''}`;
    if (
      crash.count > 0 &&
      this.#crashesOf.get(id) !== mark &&
      crash.lastAt !== null &&
      crash.lastAt > this.#options.start
    )
      this.#crashes += 1;
    this.#crashesOf.set(id, mark);
  }

  async #call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const called = { handler: 'api', path: `${method} ${path}`, certain: false } as const;
    const { answer } = await this.#deployment.request({ method, path, body, iam: OPERATOR }, called, 'whole');
    if (answer === null) throw new Error('a process died where none can');
    return answer;
  }
}

const peekNode = (deployment: Deployment, id: string): NodeRecord | null =>
  peek(deployment.services.table, 'node', id as NodeRecord['nodeId']); // the key of a node's item names one

function detailOf(body: unknown): string {
  if (typeof body === 'object' && body !== null && 'detail' in body && typeof body.detail === 'string')
    return body.detail;
  return JSON.stringify(body);
}
