/**
 * The nodes of a forecast: each does what its agent would, takes its time over every step, and fails as often as it is
 * said to. They report when a step is done, not every 15 s meanwhile, and four times as seldom as asked when Idle.
 */
import { type Duration, milliseconds, seconds } from '../../core/kit/time.ts';
import type { NODE_STATES } from '../../core/contract/words.ts';
import type { Deployment } from '../deployment.ts';
import { nodeIdentity } from '../environment.ts';
import type { ForecastNode } from './fleet.ts';
import type { Pace } from './pace.ts';

/** Of the time of an attempt, what each step takes. */
const SHARES: Readonly<Record<Exclude<NodeState, 'Idle'>, number>> = {
  StagedUpdate: 0.4,
  PerformedUpdate: 0.05,
  RebootedIntoUpdate: 0.45,
  MonitoringUpdate: 0.1,
};
const HOME = seconds(2);
type NodeState = (typeof NODE_STATES)[number];

const WAKE = seconds(1);
/** Well under the 90 minutes after which a node counts as silent, at the interval that is asked for by default. */
const IDLE_STRETCHED = 4;

type Desired = { state: NodeState; version: string | null; generation: number; soakSeconds?: number; pin?: string };
type Told = { desired: Desired; reportEverySeconds: number };

type Machine = {
  node: ForecastNode;
  version: string;
  boot: number;
  bootedAt: number;
  state: NodeState | 'ErrorReset';
  generation: number | null;
  pin: string | null;
  /** Counts what it began: what belongs to an earlier one is over. */
  turn: number;
  busy: boolean;
};

export class Machines {
  readonly #deployment: Deployment;
  readonly #pace: Pace;
  readonly #machines = new Map<string, Machine>();
  /** A number from 0 to 1, drawn anew each time. */
  readonly #chance: () => number;
  requests = 0;

  constructor(deployment: Deployment, pace: Pace, chance: () => number) {
    this.#deployment = deployment;
    this.#pace = pace;
    this.#chance = chance;
  }

  /** @param within how long they take to report for the first time, spread evenly */
  begin(nodes: readonly ForecastNode[], within: Duration): void {
    const { kernel } = this.#deployment;
    nodes.forEach((node, index) => {
      if (!node.answers) return;
      const machine: Machine = {
        node,
        version: node.currentVersion,
        boot: 1,
        bootedAt: kernel.now - 3_600_000,
        state: 'Idle',
        generation: null,
        pin: null,
        turn: 0,
        busy: false,
      };
      this.#machines.set(node.nodeId, machine);
      kernel.in((within * index) / nodes.length, () => this.#report(machine));
    });
  }

  /** @returns false when nothing listens there */
  woken(nodeId: string): boolean {
    const machine = this.#machines.get(nodeId);
    if (machine === undefined) return false;
    if (!machine.busy) this.#in(WAKE, machine, () => this.#report(machine));
    return true;
  }

  /** What it does next, unless something else has come first. */
  #in(wait: number, machine: Machine, act: () => Promise<void>): void {
    machine.turn += 1;
    const { turn } = machine;
    this.#deployment.kernel.in(wait, () => (machine.turn === turn ? act() : undefined));
  }

  async #report(machine: Machine): Promise<void> {
    const { node, generation } = machine;
    const { now } = this.#deployment.kernel;
    const offered = machine.pin ?? node.offered;
    const more = offered !== null && offered !== machine.version;
    const body = {
      ...(generation === null ? {} : { generation }),
      state: machine.state,
      bootId: `${node.nodeId}-${machine.boot}`,
      currentVersion: machine.version,
      updateCheck: more ? { result: 'Available', version: offered } : { result: 'UpToDate' },
      uptime: (now - machine.bootedAt) / 1000,
      group: node.group,
      ...(node.zone === null ? {} : { zone: node.zone }),
      ...(machine.state === 'ErrorReset'
        ? { error: { reason: 'StepFailed', message: 'failed, as often as said' } }
        : {}),
    };
    const path = `/v1/nodes/${node.nodeId}/reports`;
    this.requests += 1;
    const { answer } = await this.#deployment.request(
      { method: 'POST', path, body, iam: nodeIdentity(node.nodeId) },
      { handler: 'api', path: 'POST report', certain: false },
      'short',
    );
    // Only an answer to a report that was taken tells what is wanted.
    if (answer?.status === 200) this.#follow(machine, answer.body as Told);
    else this.#in(seconds(60), machine, () => this.#report(machine));
  }

  #follow(machine: Machine, { desired, reportEverySeconds }: Told): void {
    machine.pin = desired.pin ?? null;
    const reached = machine.state === desired.state && machine.generation === desired.generation;
    if (!reached) {
      this.#do(machine, desired);
      return;
    }
    const soak = desired.state === 'MonitoringUpdate' ? (desired.soakSeconds ?? 0) : null;
    const wait = soak ?? reportEverySeconds * (reportEverySeconds >= 600 ? IDLE_STRETCHED : 1);
    this.#in(seconds(wait), machine, () => this.#report(machine));
  }

  #do(machine: Machine, { state, generation, version }: Desired): void {
    const fails = state === 'PerformedUpdate' && this.#chance() < this.#pace.failing;
    const wait = state === 'Idle' ? HOME : milliseconds(Math.round(this.#pace.attempt * SHARES[state]));
    machine.busy = true;
    this.#in(wait, machine, async () => {
      machine.busy = false;
      machine.generation = generation;
      machine.state = fails ? 'ErrorReset' : state;
      if (state === 'RebootedIntoUpdate' && !fails) {
        machine.boot += 1;
        machine.bootedAt = this.#deployment.kernel.now - 1000;
        machine.version = version ?? machine.version;
      }
      await this.#report(machine);
    });
  }
}
