/** The node half of the agent, as the contract describes it: report, obey, remember; and everything that may go wrong on the way. */
import type { Body } from './surroundings.ts';

type State = 'Idle' | 'StagedUpdate' | 'PerformedUpdate' | 'RebootedIntoUpdate' | 'MonitoringUpdate' | 'ErrorReset';
type Desired = { state: State; version: string | null; generation: number };

/** What survives a reboot. */
type Disk = {
  generation: number | null;
  state: State;
  error: { reason: string; message: string } | null;
  staged: string | null;
  /** The step that was begun and not finished. */
  doing: { state: State; generation: number } | null;
};

const FRESH: Disk = { generation: null, state: 'Idle', error: null, staged: null, doing: null };

export class NodeAgent {
  readonly #machine: Body;
  #disk: Disk = FRESH;
  #everySeconds = 15;
  #timer = 0;
  #failures = 0;

  constructor(machine: Body) {
    this.#machine = machine;
  }

  get state(): State {
    return this.#disk.state;
  }

  start(): void {
    const { doing } = this.#disk;
    if (doing !== null) {
      if (doing.state === 'RebootedIntoUpdate') this.#afterBoot(doing.generation);
      else if (doing.state === 'Idle') this.#recover(doing.generation);
      else this.#fail('Interrupted', `${doing.state} was interrupted`);
    }
    this.report();
  }

  forget(): void {
    this.#disk = FRESH;
  }

  wake(): void {
    this.#machine.in(200, () => this.report());
  }

  report(): void {
    const { around } = this.#machine;
    const sent = (this.#timer += 1);
    const disk = this.#disk;
    const { offered, faults, network } = around;
    const check = faults.strikes('update check failed')
      ? { result: 'Failed', message: 'refresh: no route to host' }
      : offered() === this.#machine.version
        ? { result: 'UpToDate' }
        : { result: 'Available', version: offered() };
    const body = {
      ...(disk.generation === null ? {} : { generation: disk.generation }),
      state: disk.state,
      bootId: this.#machine.bootId,
      currentVersion: this.#machine.version,
      updateCheck: check,
      uptime: this.#machine.uptime,
      ...(disk.error === null ? {} : { error: disk.error }),
      ...(this.#machine.group === null ? {} : { group: this.#machine.group }),
    };
    if (around.kernel.now < this.#machine.clockOffUntil) {
      this.#again(sent, 60_000);
      return;
    }
    network.send(
      {
        caller: { kind: 'node', nodeId: this.#machine.nodeId },
        method: 'POST',
        path: `/v1/nodes/${this.#machine.nodeId}/reports`,
        body,
      },
      (answer) => this.#machine.in(0, () => this.#heard(sent, answer)),
    );
  }

  #heard(sent: number, answer: { status: number; body: unknown } | null): void {
    if (sent !== this.#timer) return;
    if (answer === null || answer.status !== 200) {
      this.#failures += 1;
      this.#again(sent, Math.min(60_000, 2000 * 2 ** this.#failures));
      return;
    }
    this.#failures = 0;
    // The contract's form of an answer to a report.
    const { desired, reportEverySeconds } = answer.body as { desired: Desired; reportEverySeconds: number };
    this.#everySeconds = reportEverySeconds;
    const known = this.#disk.generation;
    // A failure after Idle was asked for leaves Idle to be reached once more.
    const owesIdle = desired.state === 'Idle' && this.#disk.state !== 'Idle' && this.#disk.doing === null;
    if (known === null || desired.generation > known || owesIdle) this.#take(desired);
    this.#again(this.#timer, this.#everySeconds * 1000 * (0.9 + 0.2 * this.#machine.around.draw()));
    this.#machine.host.poll();
  }

  #again(sent: number, ms: number): void {
    this.#machine.in(ms, () => {
      if (sent === this.#timer) this.report();
    });
  }

  /** Recorded before it is begun. */
  #take({ state, version, generation }: Desired): void {
    const { around } = this.#machine;
    const { faults, draw } = around;
    this.#disk = { ...this.#disk, generation, doing: { state, generation } };
    if (state === 'Idle') {
      this.#recover(generation);
      return;
    }
    if (this.#disk.state === 'ErrorReset') {
      this.#fail('OutOfSequence', `asked for ${state} after a failure`);
      return;
    }
    if (faults.strikes('step hangs')) return;
    if (state === 'RebootedIntoUpdate') this.#machine.drained = true;
    if (state === 'RebootedIntoUpdate' && faults.strikes('drain blocked')) {
      this.#machine.in(5000 + draw() * 30_000, () => this.#fail('DrainBlocked', 'pod web-0 may not be evicted'));
      return;
    }
    if (faults.strikes('step failed')) {
      this.#machine.in(1000 + draw() * 60_000, () => this.#fail('StepFailed', `${state} failed`));
      return;
    }
    switch (state) {
      case 'StagedUpdate':
        this.#machine.in(5000 + draw() * 90_000, () => {
          this.#disk = { ...this.#disk, staged: around.offered() };
          this.#reach(state);
        });
        return;
      case 'PerformedUpdate':
        this.#machine.in(1000 + draw() * 20_000, () => {
          if (this.#disk.staged === null) this.#fail('NotStaged', 'nothing is staged');
          else this.#reach(state);
        });
        return;
      case 'RebootedIntoUpdate': {
        const target = this.#disk.staged ?? version ?? this.#machine.version;
        const rolledBack = faults.strikes('rolled back');
        this.#machine.in(1000 + draw() * 30_000, () => {
          this.#machine.reboot(rolledBack ? this.#machine.version : target, 30_000 + draw() * 90_000, true);
        });
        return;
      }
      case 'MonitoringUpdate':
        this.#machine.in(1000 + draw() * 20_000, () => {
          this.#reach(state);
          if (faults.strikes('check failed in the soak time'))
            this.#machine.in(draw() * 150_000, () => {
              if (this.#disk.state === 'MonitoringUpdate') this.#fail('Unhealthy', 'http check failed');
            });
        });
        return;
      case 'ErrorReset':
        throw new Error('the control plane asked for ErrorReset');
    }
  }

  #afterBoot(generation: number): void {
    if (this.#disk.generation !== generation) return;
    this.#machine.drained = false;
    this.#disk = { ...this.#disk, state: 'RebootedIntoUpdate', doing: null, staged: null };
  }

  #recover(generation: number): void {
    this.#machine.in(500 + this.#machine.around.draw() * 30_000, () => {
      if (this.#disk.generation !== generation) return;
      this.#machine.drained = false;
      this.#disk = { ...this.#disk, state: 'Idle', error: null, staged: null, doing: null };
      this.report();
    });
  }

  #reach(state: State): void {
    if (this.#disk.doing?.state !== state) return;
    this.#disk = { ...this.#disk, state, doing: null };
    this.report();
  }

  #fail(reason: string, message: string): void {
    this.#disk = { ...this.#disk, state: 'ErrorReset', error: { reason, message }, doing: null };
    this.report();
  }
}
