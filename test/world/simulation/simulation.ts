/** One history from one seed: a fleet under faults, then without; the same seed gives the same history, byte for byte. */
import { createHash } from 'node:crypto';
import { Deployment, type Fate } from '../../../world/deployment.ts';
import type { Invocation, Kill } from '../../../world/kernel.ts';
import { Kernel } from '../../../world/kernel.ts';
import { seededRandom } from '../../../world/random.ts';
import type { Call } from './call.ts';
import { Network } from './calls.ts';
import { forgotten, waitedFor } from './calm.ts';
import { Checker } from './checker.ts';
import { type FaultKind, Faults } from './faults.ts';
import type { Item } from '../../../world/aws/table.ts';
import { Machine } from './machine.ts';
import { Operators } from './operators.ts';
import type { Surroundings } from './surroundings.ts';
import { at, type Guarantee, textAt, type Violation } from './violation.ts';

/** What a history is made of; everything not given is drawn from the seed. */
export type Plan = {
  seed: number;
  machines?: number;
  vms?: number;
  /** How long faults strike. */
  minutes?: number;
  without?: readonly FaultKind[];
  /** Nobody clicks. */
  alone?: boolean;
  /** The largest fleet, machines and VMs together, that may be drawn. */
  largest?: number;
};

export type History = {
  plan: Required<Plan>;
  violations: Violation[];
  /** What is still waited for when the patience of the liveness phase is used up. */
  waiting: string[];
  digest: string;
  lines: string[];
  handled: { at: number; call: Call; status: number | null }[];
  start: number;
  struck: Map<FaultKind, number>;
  checked: Map<Guarantee, number>;
  figures: { externalCalls: number; requests: number; clicks: number; intrusions: number; virtualHours: number };
};

const START = Date.parse('2026-01-05T00:00:00Z');
const SWEEP = 180_000;
const GUESTS_ONLY = 600_000;
/** Longer than any wait of the policies that are drawn. */
const PATIENCE_HOURS = 27;

const nodeIdOf = (index: number): string => `i-${(index + 1).toString(16).padStart(17, '0')}`;

function wholePlan(plan: Plan): Required<Plan> {
  const draw = seededRandom(plan.seed ^ 0x51ed270b);
  const roll = draw();
  const drawn = roll < 0.8 ? 5 + draw() * 8 : roll < 0.97 ? 13 + draw() * 20 : 60 + draw() * 140;
  const size = Math.min(drawn, plan.largest ?? 200);
  const machines = Math.round(size * (0.3 + 0.5 * draw()));
  return {
    machines: Math.max(1, machines),
    vms: Math.max(0, Math.round(size) - machines),
    minutes: Math.round((size > 60 ? 25 : 40) + draw() * 60),
    without: [],
    alone: false,
    largest: 200,
    ...plan,
  };
}

/** @param keep keeps the history's lines, for a person; they are hashed in any case */
export async function simulate(given: Plan, keep = false): Promise<History> {
  const plan = wholePlan(given);
  const { seed } = plan;
  const faults = new Faults(seed, new Set(plan.without));
  const ofServices = seededRandom(seed + 1);
  const kernel = new Kernel(START, {
    latency: () => (faults.strikes('dynamodb slow') ? 50 + ofServices() * 2000 : 1 + ofServices() * 12),
    // What was on its way when the process died may still take effect.
    lands: () => ofServices() >= 0.5,
  });
  const checker = new Checker(kernel);
  const machines: Machine[] = [];
  const digest = createHash('sha256');
  const lines: string[] = [];
  const handled: History['handled'] = [];
  const note = (text: string): void => {
    const line = `${((kernel.now - START) / 1000).toFixed(3)} ${text}`;
    digest.update(`${line}\n`);
    if (keep) lines.push(line);
  };
  const machineOf = (nodeId: string): Machine | undefined => machines.find((machine) => machine.nodeId === nodeId);
  const outside = {
    woken: (nodeId: string): boolean => {
      const machine = machineOf(nodeId);
      if (machine?.up !== true) return false;
      machine.node.wake();
      machine.host.poll();
      return true;
    },
    registered: (nodeId: string): boolean => machineOf(nodeId)?.dead === false,
    missing: (nodeId: string): void => checker.knownOff(nodeId),
    written: (after: Item, by: Invocation | null): void => {
      if (by === null) throw new Error('a write that no handler made');
      checker.written(after, by);
      const key = after['pk']?.S ?? '';
      note(`${by.name}#${by.id} writes ${key} revision ${after['revision']?.N ?? ''} ${summary(checker, key)}`);
    },
  };
  const deployment = new Deployment({
    kernel,
    seed,
    outside,
    delays: {
      // A minute late is how Scheduler is (docs/facts/aws-services.md section 1).
      scheduler: () => ofServices() * 60_000,
      queue: () => ofServices() * 20,
      bus: () => ofServices() * 1000,
      command: () => 300 + ofServices() * 4000,
      index: () => ofServices() * 100,
    },
    trouble: { strikes: (kind) => faults.strikes(kind), draw: ofServices },
    fate: fateOf(faults, seededRandom(seed + 2)),
    logs: false,
  });
  const { services } = deployment;
  const network = new Network(kernel, faults, seededRandom(seed + 3), deployment, {
    serving: (call, self) => checker.serving(self, call),
    answered: (call, answer, self) => {
      checker.answered(call, answer, self);
      handled.push({ at: kernel.now, call, status: answer?.status ?? null });
      note(`${call.method} ${call.path} → ${answer?.status ?? 'no answer'}`);
    },
  });
  let offered = '1.1.0';
  const around: Surroundings = {
    kernel,
    faults,
    network,
    draw: seededRandom(seed + 4),
    offered: () => offered,
    note,
    guestBegan: (vmId, instanceId, hostId) => {
      note(`guest ${instanceId} of ${vmId} begins on ${hostId}`);
      checker.guestBegan(vmId, instanceId, hostId);
    },
    guestEnded: (vmId, instanceId) => {
      note(`guest ${instanceId} of ${vmId} ends`);
      checker.guestEnded(vmId, instanceId);
    },
  };
  const draw = seededRandom(seed + 5);
  const groups = ['default', 'edge', 'core'].slice(0, 1 + Math.floor(draw() * 3));
  for (let index = 0; index < plan.machines; index += 1) {
    const group = groups[Math.floor(draw() * groups.length)];
    machines.push(new Machine(nodeIdOf(index), group === 'default' ? null : (group ?? null), '1.0.0', around));
  }
  const vmIds = Array.from({ length: plan.vms }, (_, index) => `vm-${index}`);
  const operators = new Operators({
    kernel,
    network,
    checker,
    draw: seededRandom(seed + 6),
    machines,
    vmIds,
    groups,
    everySeconds: plan.alone ? 1e9 : 20 + draw() * 60,
  });
  for (const group of groups)
    if (draw() < 0.7) operators.click({ method: 'PUT', path: `/v1/groups/${group}`, body: operators.groupBody() });
  for (const vmId of vmIds) operators.click({ method: 'PUT', path: `/v1/vms/${vmId}`, body: operators.vmBody() });
  const sweeps = (): void => {
    kernel.in(SWEEP, sweeps);
    if (!faults.strikes('sweep missed')) kernel.guard(deployment.sweep());
  };
  kernel.in(SWEEP, sweeps);
  const broken = (): boolean => checker.violations.length > 0;

  await kernel.runTo(START + plan.minutes * 30_000, broken);
  offered = draw() < 0.5 ? '1.2.0' : offered;
  await kernel.runTo(START + plan.minutes * 60_000, broken);

  let waiting: string[] = [];
  if (!broken()) {
    faults.weather = 'guests only';
    operators.stop();
    note('the storm is over: only guests fail from here on');
    // What failed in the storm has its last consequences: late timers, repeated messages.
    await kernel.runTo(kernel.now + 60_000, broken);
    checker.servicesWork = true;
    await kernel.runTo(kernel.now + GUESTS_ONLY, broken);
  }
  if (!broken()) {
    faults.weather = 'calm';
    offered = '2.0.0';
    note('calm: no fault strikes from here on');
    const attentive = draw() < 0.75;
    // In some histories nobody knows of every other dead machine: what it holds must come free by itself, in a day.
    tidyUp(attentive, operators, machines, checker, groups, vmIds);
    const fleet = { attentive, machines, checker, services, offered: () => offered };
    const calmFrom = kernel.now;
    waiting = ['the liveness phase has just begun'];
    while (waiting.length > 0 && !broken() && kernel.now < calmFrom + PATIENCE_HOURS * 3_600_000) {
      await kernel.runTo(kernel.now + 600_000, broken);
      waiting = waitedFor(fleet, kernel.now);
      const [step] = forgotten(fleet, kernel.now);
      if (step !== undefined && !broken()) checker.fail('G3', 'fleet', step);
    }
    if (waiting.length > 0 && !broken())
      checker.fail(
        waiting.every((text) => text.endsWith('(G9)')) ? 'G9' : 'G3',
        'fleet',
        `after ${PATIENCE_HOURS} h without a fault still waiting: ${waiting.slice(0, 5).join('; ')}`,
      );
    checker.checked.set('G3', machines.length + vmIds.length);
    checker.checked.set('G9', machines.length);
  }
  return {
    plan,
    violations: checker.violations,
    waiting,
    digest: digest.digest('hex'),
    lines,
    handled,
    start: START,
    struck: faults.struck,
    checked: checker.checked,
    figures: {
      externalCalls: services.calls,
      requests: network.calls,
      clicks: operators.clicks,
      intrusions: operators.intrusions,
      virtualHours: (kernel.now - START) / 3_600_000,
    },
  };
}

const LAMBDA_TRIES = 3;
const QUEUE_TRIES = 4;

/** Processes die at random; what died or failed is tried again as often as its service does. */
function fateOf(faults: Faults, draw: () => number): Fate {
  return {
    kill: ({ handler }): Kill | null => {
      // A timer may bring a whole group to be filled.
      const deepest = handler === 'timer' ? 30 : 9;
      for (const when of ['before', 'after'] as const) {
        const call = faults.threatens(`process died ${when} a call`) ? 1 + Math.floor(draw() * deepest) : null;
        if (call !== null) return { call, when, lostFrom: call };
      }
      return null;
    },
    again: ({ handler, firing }, attempt) => {
      if (handler === 'command' || firing?.by === 'vernier') return attempt + 1 < QUEUE_TRIES ? 30_000 : null;
      return handler === 'timer' && attempt + 1 < LAMBDA_TRIES ? 60_000 * (attempt + 1) : null;
    },
    began: () => undefined,
    died: (_called, { kill }) => faults.count(`process died ${kill?.when ?? 'before'} a call`),
  };
}

/** What people do when the storm is over: release what is held, resume what is paused, fence what they know to be dead. */
function tidyUp(
  attentive: boolean,
  operators: Operators,
  machines: readonly Machine[],
  checker: Checker,
  groups: readonly string[],
  vmIds: readonly string[],
): void {
  for (const group of groups) operators.click({ method: 'POST', path: `/v1/groups/${group}/resume` });
  for (const [index, { nodeId, dead }] of machines.entries()) {
    if (!dead) operators.click({ method: 'POST', path: `/v1/nodes/${nodeId}/release` });
    if (!dead || (!attentive && index % 2 === 0)) continue;
    operators.click({ method: 'POST', path: `/v1/nodes/${nodeId}/fence` });
    operators.click({ method: 'DELETE', path: `/v1/nodes/${nodeId}` });
  }
  for (const vmId of vmIds) {
    const stored = checker.stored(`vm#${vmId}`);
    if (textAt(stored, 'body.launch.command') === 'broken')
      operators.click({ method: 'POST', path: `/v1/vms/${vmId}/start` });
    const body = at(stored, 'body');
    // Whoever wants the updates to go on lets go of the hosts.
    if (textAt(stored, 'body.maintenance') === null || typeof body !== 'object' || body === null) continue;
    const letsGo = Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'maintenance'));
    operators.click({ method: 'PUT', path: `/v1/vms/${vmId}`, body: letsGo });
  }
}

/** What a person wants to see of a write. */
function summary(checker: Checker, key: string): string {
  const stored = checker.stored(key);
  const text = (path: string): string => String(textAt(stored, path) ?? '-');
  if (key.startsWith('node#')) return `spec ${text('spec.state')} status ${text('status.state')}`;
  if (key.startsWith('vm#')) return `instance ${text('instance.instanceId')} ${text('instance.phase')}`;
  return '';
}
