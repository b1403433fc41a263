/** Runs a scenario on the virtual clock and judges its expectations (DESIGN section 9). */
import * as z from 'zod/mini';
import { vmBodySchema } from '../../core/contract/operator-bodies.ts';
import { decideVm } from '../../core/vm/decide.ts';
import { turn } from '../../functions/turn.ts';
import { newNode } from '../../core/node/enrol.ts';
import { DEFAULT_GROUP, parseGroupId, parseNodeId, parseVmId, type NodeId } from '../../core/kit/ids.ts';
import { hostOf } from '../../core/vm/record.ts';
import { after, formatInstant, hours, type Instant, instant, milliseconds, parseInstant } from '../../core/kit/time.ts';
import { noteWakeStatus } from '../../functions/operations/wake-status.ts';
import { loadView, turnGroup } from '../../functions/operations/groups.ts';
import { Hosts, type Launches } from './launches.ts';
import { matches, showActual, valueAt } from './match.ts';
import { isPattern, meant, namesOf, numbered, PatternError } from './patterns.ts';
import {
  type Expectation,
  millisecondsOf,
  offsetOf,
  type Scenario,
  ScenarioError,
  type Step,
  type Subject,
  subjectOf,
} from './scenario.ts';
import { detailOf, describeStep } from './say-step.ts';
import { type Shown, type Summary, summarise } from './summary.ts';
import { nodeIdentity, OPERATOR } from '../environment.ts';
import type { Answer } from '../requests.ts';
import { type Happening, sayCause } from './happening.ts';
import { type Hours, HOURS_MAX, hoursOf, standingsNow } from './hours.ts';
import { World } from './world.ts';
import type { Row } from '../standing.ts';

export type Failure = { step: number | null; at: number; what: string; expected: unknown; actual: unknown };
/** `at` in seconds from start; the rest is what `Happening` says, with instants as text. */
export type TimelineEntry = Pick<Happening, 'kind' | 'subject' | 'text' | 'changes' | 'why'> & {
  at: number;
  time: string;
  cause?: string;
  waits?: { what: string; until: string; seconds: number; vernier: boolean };
  fired?: { by: string; lateSeconds: number };
};
export type Result = {
  passed: boolean;
  name: string | null;
  description?: string;
  failures: Failure[];
  timeline: TimelineEntry[];
  summary?: Summary;
  hours?: Hours;
};

const START = '2026-01-01T00:00:00Z';

/** @throws {ScenarioError} when the scenario itself is wrong (a bad id, an unknown verb) */
export async function runScenario(scenario: Scenario): Promise<Result> {
  const start = parseInstant(scenario.start ?? START) ?? instant(0);
  const world = new World({
    start,
    seed: scenario.seed ?? 1,
    timerLateness: scenario.timerLatenessSeconds ?? 0,
    narrate: true,
  });
  const run = new Run(world, start);
  await run.setUp(scenario);
  const steps = scenario.steps.map((step, index) => ({ step, index, at: after(start, milliseconds(offsetOf(step))) }));
  steps.sort((a, b) => a.at - b.at || a.index - b.index);
  const rows: Row[] = [];
  let hour = after(start, hours(1));
  for (const { step, index, at } of steps) {
    for (; hour <= at && rows.length < HOURS_MAX; hour = after(hour, hours(1))) {
      await world.runTo(hour);
      rows.push(await run.standings());
    }
    await world.runTo(at);
    await run.step(step, index);
  }
  return {
    passed: run.failures.length === 0,
    name: scenario.name ?? null,
    ...(scenario.description === undefined ? {} : { description: scenario.description }),
    failures: run.failures,
    timeline: world.happenings.map((happening) => entryOf(happening, start)),
    summary: summarise(world, start, await run.shown()),
    ...hoursOf([...rows, await run.standings()], start),
  };
}

function entryOf(happening: Happening, start: Instant): TimelineEntry {
  const { at, kind, subject, text, changes, why, cause, waits, fired } = happening;
  return {
    at: (at - start) / 1000,
    time: formatInstant(at),
    kind,
    subject,
    text,
    ...(cause === undefined ? {} : { cause: sayCause(cause) }),
    ...(changes === undefined ? {} : { changes }),
    ...(why === undefined ? {} : { why }),
    ...(waits === undefined
      ? {}
      : {
          waits: {
            what: waits.what,
            until: formatInstant(waits.until),
            seconds: (waits.until - at) / 1000,
            vernier: waits.vernier,
          },
        }),
    ...(fired === undefined ? {} : { fired: { by: fired.by, lateSeconds: fired.late / 1000 } }),
  };
}

class Run {
  readonly failures: Failure[] = [];
  readonly #world: World;
  readonly #start: Instant;
  readonly #hosts = new Map<string, string>();
  readonly #launchers: Hosts;

  constructor(world: World, start: Instant) {
    this.#world = world;
    this.#start = start;
    this.#launchers = new Hosts(world, async (vmId, report) => {
      const subject = { kind: 'vm', id: vmId } as const;
      const told = world.happenings.length;
      const answer = await this.#report(subject, report);
      this.#say(subject, describeStep({ at: 0, report }, answer), told);
    });
  }

  /** What is given at the top exists at 0. */
  async setUp({ groups, nodes, vms }: Scenario): Promise<void> {
    for (const [id, body] of many('groups', groups ?? {})) await this.#given('group', id, body);
    const given = Array.isArray(nodes) ? nodes.map((id) => [id, {}] as const) : Object.entries(nodes ?? {});
    for (const [pattern, { group }] of given as [string, { group?: string }][])
      for (const { name } of understood('nodes', pattern)) await this.#enrol(name, group);
    for (const [id, body] of many('vms', vms ?? {})) await this.#given('vm', id, body);
  }

  async #given(kind: 'group' | 'vm', id: string, body: Record<string, unknown>): Promise<void> {
    const answer = await this.#put({ kind, id }, body);
    // What is given at the top exists at the start, also two VMs that name one guest: a PUT would be refused.
    if (kind === 'vm' && codeOf(answer.body) === 'DomainTaken') return this.#exists(id, body);
    if (answer.status >= 300) throw new ScenarioError(`${kind}s.${id}: ${detailOf(answer.body)}`);
  }

  async #exists(id: string, given: Record<string, unknown>): Promise<void> {
    const { plane } = this.#world;
    const vmId = parseVmId(id);
    const body = z.safeParse(vmBodySchema, given);
    if (vmId === null || !body.success) throw new ScenarioError(`vms.${id}: not a VM`);
    await turn(plane, 'vm', vmId, (record) =>
      decideVm(record, { kind: 'put', body: body.data }, { vmId, now: plane.now(), draw: plane.draw() }),
    );
  }

  async #enrol(id: string, group: string | undefined): Promise<void> {
    const nodeId = parseNodeId(id);
    const groupId = group === undefined ? DEFAULT_GROUP : parseGroupId(group);
    if (nodeId === null) throw new ScenarioError(`nodes.${id}: not a node id`);
    if (groupId === null) throw new ScenarioError(`nodes.${id}.group: not a group name`);
    await turnGroup(this.#world.plane, groupId, { kind: 'ensure', pausedBy: null });
    const { store, now, draw } = this.#world.plane;
    const view = await loadView(this.#world.plane, groupId);
    const node = newNode(nodeId, groupId, null, { now: now(), group: view });
    await store.save('node', { ...node, revision: 1 }, 0, draw().id);
  }

  /** Does a step, for each thing that it names. */
  async step(step: Step, index: number): Promise<void> {
    if (step.alarm !== undefined && step.state !== undefined) {
      await this.#world.alarm(step.alarm, step.state);
      return this.#world.runTo(this.#world.now);
    }
    const pattern = subjectOf(step.expect ?? step, `steps.${index}`);
    const named = isPattern(pattern.id)
      ? meant(pattern.id, await this.#there(pattern.kind))
      : [{ name: pattern.id, number: null }];
    if (named.length === 0) this.#fail(index, `no ${pattern.kind} is named ${pattern.id}`, 'at least one', 0);
    for (const { name, number } of named) {
      const subject: Subject = { kind: pattern.kind, id: name };
      if (step.expect !== undefined) await this.#expect(step.expect, subject, index);
      else
        await this.#do(
          { ...step, ...(step.put === undefined ? {} : { put: bodyFor(step.put, number) }) },
          subject,
          index,
        );
    }
    // Whatever the step made due at this very instant is handled before the next one.
    if (step.expect === undefined) await this.#world.runTo(this.#world.now);
  }

  /** What a person sees of everything that was ever there; what is not found was removed. */
  async shown(): Promise<Shown> {
    const shown: Record<'vm' | 'node', string[]> = { vm: [], node: [] };
    for (const subject of new Set(this.#world.happenings.map((happening) => happening.subject))) {
      const [kind, id = ''] = subject.split('/');
      if (kind !== 'vm' && kind !== 'node') continue;
      const { status, body } = await this.#world.call('GET', pathOf({ kind, id }), undefined, OPERATOR);
      const state = valueAt(body, kind === 'vm' ? 'printableStatus' : 'phase');
      shown[kind].push(status === 404 || typeof state !== 'string' ? 'removed' : state);
    }
    return { vms: shown.vm, nodes: shown.node };
  }

  /** How each group stands that has nodes. */
  async standings(): Promise<Row> {
    return standingsNow(this.#world, await this.#there('node'));
  }

  async #there(kind: Subject['kind']): Promise<string[]> {
    return (await this.#world.store.list(kind, Number.MAX_SAFE_INTEGER, null)).items;
  }

  async #do(step: Step, subject: Subject, index: number): Promise<void> {
    if (step.commandStatus !== undefined) {
      if (subject.kind !== 'node') throw new ScenarioError(`steps.${index}: commandStatus is about a node`);
      this.#say(subject, `the last wake ended ${step.commandStatus}`);
      await noteWakeStatus(this.#world.plane, subject.id as NodeId, step.commandStatus, null); // ids were given by the author; an unknown one is not found
      return;
    }
    if (step.launches !== undefined) {
      if (subject.kind !== 'vm') throw new ScenarioError(`steps.${index}: launches are of a VM`);
      this.#launchers.set(subject.id, launchesOf(step.launches, this.#start));
      return;
    }
    const told = this.#world.happenings.length;
    const answer = await this.#act(step, subject, index);
    const accepted =
      step.status === undefined ? answer.status >= 200 && answer.status < 300 : statusFits(step.status, answer.status);
    this.#say(subject, describeStep(step, answer), told);
    if (!accepted) {
      this.#fail(
        index,
        `${describeStep(step, answer)}: ${detailOf(answer.body)}`,
        step.status ?? 'a 2xx status',
        answer.status,
      );
    }
  }

  async #act(step: Step, subject: Subject, index: number): Promise<Answer> {
    if (step.put !== undefined) return this.#put(subject, step.put);
    const path = pathOf(subject);
    if (step.delete !== undefined) {
      const force = step.delete !== true && step.delete.force === true;
      return this.#world.call('DELETE', `${path}${force ? '?force=true' : ''}`, undefined, OPERATOR);
    }
    if (step.verb !== undefined)
      return this.#world.call('POST', `${path}/${encodeURIComponent(step.verb)}`, step.body, OPERATOR);
    if (step.report === undefined) throw new ScenarioError(`steps.${index}: nothing to do`);
    if (subject.kind === 'node') {
      return this.#world.call(
        'POST',
        `${path}/reports`,
        await this.#nodeReport(subject.id, step.report),
        nodeIdentity(subject.id),
      );
    }
    if (subject.kind === 'vm') return this.#report(subject, step.report);
    throw new ScenarioError(`steps.${index}: a group does not report`);
  }

  async #report(subject: Subject, report: Record<string, unknown>): Promise<Answer> {
    const vm = parseVmId(subject.id);
    const record = vm === null ? undefined : (await this.#world.store.load('vm', vm))?.record;
    // Where it is now: it may have gone to another host since it was declared.
    const host = record === undefined ? (this.#hosts.get(subject.id) ?? 'i-00000000000000000') : hostOf(record);
    const { instanceId } = report;
    const body =
      typeof instanceId === 'string' ? { ...report, instanceId: this.#instance(subject.id, instanceId) } : report;
    return this.#world.call('POST', `${pathOf(subject)}/reports`, body, nodeIdentity(host));
  }

  async #put(subject: Subject, body: Record<string, unknown>): Promise<Answer> {
    if (subject.kind === 'node') throw new ScenarioError('a node is not put: it enrols itself with its first report');
    const answer = await this.#world.call('PUT', pathOf(subject), body, OPERATOR);
    const { hostId } = body;
    if (subject.kind === 'vm' && answer.status < 300 && typeof hostId === 'string') this.#hosts.set(subject.id, hostId);
    return answer;
  }

  async #nodeReport(id: string, report: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { generation, ...others } = report;
    const rest = { ...others, ...this.#named(report, 'instances'), ...this.#named(report, 'unexpected') };
    if (generation !== '$current' && generation !== '$previous')
      return generation === undefined ? rest : { ...rest, generation };
    const node = (await this.#world.store.load('node', id as NodeId))?.record; // an unknown id is not found
    if (node === undefined) return rest;
    return { ...rest, generation: Math.max(0, node.spec.generation - (generation === '$previous' ? 1 : 0)) };
  }

  /** A list of a node's report whose entries name instances of VMs; what is no such list is sent as it is. */
  #named(report: Record<string, unknown>, field: 'instances' | 'unexpected'): Record<string, unknown> {
    const list = report[field];
    if (!Array.isArray(list)) return {};
    const entries = list.map((entry: unknown) => {
      const [vmId, instanceId] = [valueAt(entry, 'vmId'), valueAt(entry, 'instanceId')];
      if (typeof entry !== 'object' || typeof vmId !== 'string' || typeof instanceId !== 'string') return entry;
      return { ...entry, instanceId: this.#instance(vmId, instanceId) };
    });
    return { [field]: entries };
  }

  /** `$current`, `$previous`, `$1` (the first created), or a literal. */
  #instance(vmId: string, text: string): string {
    const known = this.#world.instances(vmId);
    if (text === '$current') return known.at(-1) ?? 'none';
    if (text === '$previous') return known.at(-2) ?? 'none';
    const numbered = /^\$(\d+)$/.exec(text);
    return numbered === null ? text : (known[Number(numbered[1]) - 1] ?? 'none');
  }

  async #expect(expectation: Expectation, subject: Subject, index: number): Promise<void> {
    await this.#world.runTo(this.#world.now);
    const answer = await this.#world.call('GET', pathOf(subject), undefined, OPERATOR);
    const found = answer.status === 200;
    const name = `${subject.kind} ${subject.id}`;
    if (expectation.absent === true && found) this.#fail(index, `${name} is there`, 'absent', 'present');
    if (expectation.absent !== true && !found) {
      this.#fail(index, `${name}: ${detailOf(answer.body)}`, 'present', 'absent');
      return;
    }
    const resolve = (text: string): string => (subject.kind === 'vm' ? this.#instance(subject.id, text) : text);
    for (const [path, expected] of Object.entries(expectation.match ?? {})) {
      const actual = valueAt(answer.body, path);
      if (!matches(expected, actual, this.#start, resolve)) {
        this.#fail(
          index,
          `${name}: ${path} differs; ${String(valueAt(answer.body, 'explanation'))}`,
          expected,
          showActual(actual, this.#start),
        );
      }
    }
    const { commands } = expectation;
    for (const { action, count } of commands === undefined ? [] : Array.isArray(commands) ? commands : [commands]) {
      const actual = this.#world.commands(`${subject.kind}/${subject.id}`, action);
      if (!matches(count, actual, this.#start, resolve))
        this.#fail(index, `${name}: ${action} commands decided so far`, count, actual);
    }
  }

  #fail(step: number, what: string, expected: unknown, actual: unknown): void {
    this.failures.push({ step, at: (this.#world.now - this.#start) / 1000, what, expected, actual });
  }

  /** @param before where it belongs: a call comes before what it set off */
  #say(subject: Subject, text: string, before = this.#world.happenings.length): void {
    const id = `${subject.kind}/${subject.id}`;
    this.#world.happenings.splice(before, 0, { at: this.#world.now, kind: 'step', subject: id, text });
  }
}

const pathOf = ({ kind, id }: Subject): string => `/v1/${kind}s/${encodeURIComponent(id)}`;

const statusFits = (expected: NonNullable<Step['status']>, actual: number): boolean =>
  typeof expected === 'number' ? expected === actual : expected.oneOf.includes(actual);

function launchesOf(
  { end, cause, message, after: wait, until }: NonNullable<Step['launches']>,
  start: Instant,
): Launches {
  return {
    end: end ?? 'Failed',
    ...(cause === undefined ? {} : { cause }),
    ...(message === undefined ? {} : { message }),
    afterMs: millisecondsOf(wait ?? 0),
    until: until === undefined ? null : after(start, milliseconds(millisecondsOf(until))),
  };
}

function bodyFor(body: Record<string, unknown>, number: string | null): Record<string, unknown> {
  // An object stays one.
  return numbered(body, number) as Record<string, unknown>;
}

/** @throws {ScenarioError} naming the place of a pattern that cannot be read */
function understood(where: string, pattern: string): ReturnType<typeof namesOf> {
  try {
    return namesOf(pattern);
  } catch (error) {
    if (error instanceof PatternError) throw new ScenarioError(`${where}.${pattern}: ${error.message}`);
    throw error;
  }
}

/** What is given at the top, with each range written out. */
const many = (where: string, given: Record<string, Record<string, unknown>>): [string, Record<string, unknown>][] =>
  Object.entries(given).flatMap(([pattern, body]) =>
    understood(where, pattern).map(({ name, number }): [string, Record<string, unknown>] => [
      name,
      bodyFor(body, number),
    ]),
  );

const codeOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'code' in body ? body.code : null;
