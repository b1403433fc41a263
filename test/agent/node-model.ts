/**
 * The control plane's side of one node, told once more from DESIGN sections 2 and 6 and independent of `core/node`, so
 * that an agent and a control plane that misread the text in the same way do not agree in these tests.
 */
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import type { SpecState } from '../../core/contract/words.ts';

const NEXT: Readonly<Record<SpecState, SpecState>> = {
  Idle: 'StagedUpdate',
  StagedUpdate: 'PerformedUpdate',
  PerformedUpdate: 'RebootedIntoUpdate',
  RebootedIntoUpdate: 'MonitoringUpdate',
  MonitoringUpdate: 'Idle',
};

export class NodeModel {
  spec: { state: SpecState; version: string | null; generation: number } = {
    state: 'Idle',
    version: null,
    generation: 1,
  };
  crash: { count: number; lastState: SpecState | null; lastReason: string | null; lastMessage: string | null } = {
    count: 0,
    lastState: null,
    lastReason: null,
    lastMessage: null,
  };
  blockedVersions: string[] = [];
  /** Whether a ready node is given its update. */
  updates = true;
  /** Nothing goes on to the disruptive step. */
  held = false;
  /** The soak time of an updated node goes on. */
  soaks = false;
  #from: { version: string; bootId: string } | null = null;
  #last: { bootId: string; uptime: number } | null = null;
  readonly #oldBoots: string[] = [];

  /** False: the report is of a generation ahead of ours. */
  take(report: NodeReport): boolean {
    if (report.generation !== undefined && report.generation > this.spec.generation) return false;
    if (this.#outOfOrder(report)) return true;
    if (report.generation !== undefined && report.generation < this.spec.generation) return true;
    this.#judge(report);
    return true;
  }

  /** The deadline of the present step has passed. */
  passDeadline(): void {
    this.#crash('DeadlinePassed', '');
  }

  #outOfOrder({ bootId, uptime = 0 }: NodeReport): boolean {
    if (this.#oldBoots.includes(bootId)) return true;
    if (this.#last?.bootId === bootId && uptime <= this.#last.uptime) return true;
    if (this.#last !== null && this.#last.bootId !== bootId) this.#oldBoots.push(this.#last.bootId);
    this.#last = { bootId, uptime };
    return false;
  }

  #judge(report: NodeReport): void {
    const { state } = this.spec;
    if (state === 'Idle') {
      if (report.state === 'Idle') this.#idle(report);
      return;
    }
    if (report.generation === undefined) return;
    const rebooting = state === 'RebootedIntoUpdate' || state === 'MonitoringUpdate';
    const sameBoot = report.bootId === this.#from?.bootId;
    if (rebooting && !sameBoot && report.currentVersion === this.#from?.version) {
      this.#crash('RolledBack', '');
      if (this.spec.version !== null) this.blockedVersions.push(this.spec.version);
    } else if (report.state === 'ErrorReset') {
      this.#crash(report.error?.reason ?? '', report.error?.message ?? '');
    } else if (report.state === state && !(state === 'RebootedIntoUpdate' && sameBoot)) {
      this.#move(report);
    }
  }

  /** Reached Idle: the next attempt begins when something newer that is not blocked is offered. */
  #idle({ updateCheck, currentVersion, bootId }: NodeReport): void {
    const { result, version } = updateCheck;
    if (!this.updates || result !== 'Available' || version === undefined || version === currentVersion) return;
    if (this.blockedVersions.includes(version)) return;
    this.#from = { version: currentVersion, bootId };
    this.#spec('StagedUpdate', version);
  }

  #move({ bootId }: NodeReport): void {
    const next = NEXT[this.spec.state];
    if (next === 'RebootedIntoUpdate' && this.held) return;
    if (next === 'Idle' && this.soaks) return;
    if (next === 'PerformedUpdate' && this.#from !== null) this.#from = { ...this.#from, bootId };
    this.#spec(next, next === 'Idle' ? null : this.spec.version);
  }

  #crash(lastReason: string, lastMessage: string): void {
    this.crash = { count: this.crash.count + 1, lastState: this.spec.state, lastReason, lastMessage };
    this.#spec('Idle', this.spec.version);
  }

  #spec(state: SpecState, version: string | null): void {
    this.spec = { state, version, generation: this.spec.generation + 1 };
  }
}
