/** A machine: its boots, its disk, and the two halves of the agent that run on it. A model of its own, no line of `agent/`. */
import type { Faults } from './faults.ts';
import { NodeAgent } from './node-agent.ts';
import type { Body, Surroundings } from './surroundings.ts';
import { VmHost } from './vm-host.ts';

export class Machine implements Body {
  readonly nodeId: string;
  readonly group: string | null;
  readonly around: Surroundings;
  bootId: string;
  bootedAt: number;
  version: string;
  /** Off: being rebooted, or dead. */
  up = true;
  dead = false;
  drained = false;
  /** The agent's requests are refused until then: its clock is off. */
  clockOffUntil = 0;
  readonly node: NodeAgent;
  readonly host: VmHost;
  #boots = 1;
  /** Changes whenever what was planned on this machine must not happen any more. */
  epoch = 0;

  constructor(nodeId: string, group: string | null, version: string, around: Surroundings) {
    this.nodeId = nodeId;
    this.group = group;
    this.version = version;
    this.around = around;
    this.bootId = `${nodeId}-boot1`;
    this.bootedAt = around.kernel.now;
    this.node = new NodeAgent(this);
    this.host = new VmHost(this);
    this.in(around.draw() * 60_000, () => this.start());
    this.#live();
  }

  get uptime(): number {
    return (this.around.kernel.now - this.bootedAt) / 1000;
  }

  /** Runs `act` later, unless the agent or the machine was restarted before. */
  in(ms: number, act: () => void): void {
    const { epoch } = this;
    this.around.kernel.in(ms, () => {
      if (epoch === this.epoch && this.up) act();
    });
  }

  start(): void {
    this.node.start();
    this.host.start();
  }

  /** The machine goes down and comes up again, into a version; its guests are gone. */
  reboot(version: string, downMs: number, planned: boolean): void {
    this.epoch += 1;
    this.up = false;
    this.host.powerCut(planned);
    this.around.kernel.in(downMs, () => {
      if (this.dead) return;
      this.#boots += 1;
      this.bootId = `${this.nodeId}-boot${this.#boots}`;
      this.bootedAt = this.around.kernel.now;
      this.version = version;
      this.up = true;
      this.around.note(`${this.nodeId} booted ${version} (${this.bootId})`);
      this.in(this.around.draw() * 5000, () => this.start());
    });
  }

  restartAgent(): void {
    this.epoch += 1;
    this.host.forgetTimers();
    this.in(1000 + this.around.draw() * 20_000, () => this.start());
  }

  /** Another machine under the same id: an empty disk, the version that machines are made with. */
  replace(version: string): void {
    this.node.forget();
    this.drained = false;
    this.reboot(version, 60_000 + this.around.draw() * 120_000, false);
    this.host.forget();
  }

  /** For good. */
  die(): void {
    this.epoch += 1;
    this.dead = true;
    this.up = false;
    this.host.powerCut(false);
    this.host.forget();
  }

  /** What happens to a machine by itself, decided once a minute. */
  #live(): void {
    const { kernel, faults, draw, note } = this.around;
    kernel.in(30_000 + draw() * 60_000, () => {
      if (this.dead) return;
      if (this.up) this.#suffer(faults, note);
      this.#live();
    });
  }

  #suffer(faults: Faults, note: (text: string) => void): void {
    if (faults.strikes('machine died for good')) {
      note(`${this.nodeId} died for good`);
      this.die();
    } else if (faults.strikes('machine replaced')) {
      note(`${this.nodeId} is replaced by another machine of the same id`);
      this.replace('1.0.0');
    } else if (faults.strikes('machine rebooted')) {
      note(`${this.nodeId} lost power`);
      this.reboot(this.version, 20_000 + this.around.draw() * 60_000, false);
    } else if (faults.strikes('agent restarted')) {
      if (faults.strikes('agent lost its record')) this.node.forget();
      this.restartAgent();
    } else if (faults.strikes('node clock off')) {
      this.clockOffUntil = this.around.kernel.now + 60_000 + this.around.draw() * 600_000;
    }
  }
}
