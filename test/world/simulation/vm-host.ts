/** The VM half of the agent on a host: takes instances on once, launches guests, ends them, and reports until it is understood. */
import type { Body } from './surroundings.ts';

type Line = { vmId: string; uid: string; power: 'on' | 'off'; instanceId: string };

/** One instance as the host remembers it on disk. */
type Guest = {
  vmId: string;
  uid: string | null;
  instanceId: string;
  /** A process exists. */
  live: boolean;
  running: boolean;
  end: { phase: 'Succeeded' | 'Failed'; cause: string; message: string } | null;
  stopping: boolean;
  told: { scheduled: boolean; running: boolean; end: boolean };
  busy: boolean;
  failures: number;
};

type Launch = { launch?: { command?: unknown }; startDeadlineSeconds?: number | null };

export class VmHost {
  readonly #machine: Body;
  readonly #guests = new Map<string, Guest>();
  readonly #taking = new Set<string>();

  constructor(machine: Body) {
    this.#machine = machine;
  }

  start(): void {
    for (const guest of this.#guests.values()) {
      guest.busy = false;
      if (guest.end === null && !guest.live)
        this.#end(guest, 'Failed', 'LaunchFailed', 'the agent was interrupted before the launch');
      else this.#tell(guest);
    }
    this.#taking.clear();
    this.poll();
  }

  forgetTimers(): void {
    for (const guest of this.#guests.values()) {
      guest.busy = false;
      guest.stopping = false;
    }
    this.#taking.clear();
  }

  forget(): void {
    this.#guests.clear();
  }

  poll(): void {
    const { nodeId, around } = this.#machine;
    if (around.kernel.now < this.#machine.clockOffUntil) return;
    around.network.send(
      { caller: { kind: 'node', nodeId }, method: 'GET', path: `/v1/nodes/${nodeId}/vms` },
      (answer) =>
        this.#machine.in(0, () => {
          if (answer?.status !== 200) return;
          // The contract's form of the list.
          for (const line of (answer.body as { items: Line[] }).items) this.#follow(line);
          for (const guest of this.#guests.values()) this.#tell(guest);
        }),
    );
  }

  /** Everything that lives here ends with the power. */
  powerCut(planned: boolean): void {
    for (const guest of this.#guests.values()) {
      if (guest.end !== null) continue;
      const was = guest.live;
      guest.live = false;
      guest.end = planned
        ? { phase: 'Succeeded', cause: 'HostMaintenance', message: 'the host is updated' }
        : { phase: 'Failed', cause: guest.running ? 'Killed' : 'LaunchFailed', message: 'the host lost power' };
      if (was) this.#machine.around.guestEnded(guest.vmId, guest.instanceId);
    }
  }

  #follow(line: Line): void {
    const guest = this.#guests.get(line.instanceId);
    if (guest === undefined) {
      if (line.power === 'off') this.#neverLaunch(line);
      else this.#begin(line);
    } else if (guest.end !== null) guest.told.end = false;
    else if (line.power === 'off') this.#stop(guest);
  }

  #begin(line: Line): void {
    const other = [...this.#guests.values()].find(({ vmId, end }) => vmId === line.vmId && end === null);
    if (other !== undefined) {
      this.#stop(other);
      return;
    }
    if (this.#taking.has(line.vmId)) return;
    this.#taking.add(line.vmId);
    const { nodeId, around } = this.#machine;
    const path = `/v1/vms/${line.vmId}/launch?instanceId=${line.instanceId}`;
    around.network.send({ caller: { kind: 'node', nodeId }, method: 'GET', path }, (answer) =>
      this.#machine.in(0, () => {
        this.#taking.delete(line.vmId);
        if (answer?.status !== 200 || this.#guests.has(line.instanceId)) return;
        // The contract's form of a launch definition.
        this.#takeOn(line, answer.body as Launch);
      }),
    );
  }

  #takeOn({ vmId, uid, instanceId }: Line, launch: Launch): void {
    const guest: Guest = {
      vmId,
      uid,
      instanceId,
      live: false,
      running: false,
      end: null,
      stopping: false,
      told: { scheduled: false, running: false, end: false },
      busy: false,
      failures: 0,
    };
    this.#guests.set(instanceId, guest);
    this.#tell(guest);
    const { faults, draw } = this.#machine.around;
    const broken = JSON.stringify(launch.launch?.command ?? '').includes('broken') && faults.weather !== 'calm';
    this.#machine.in(500 + draw() * 4000, () => {
      if (guest.end !== null) return;
      if (broken || faults.strikes('launch failed')) {
        this.#end(guest, 'Failed', 'LaunchFailed', 'exit code 1');
        return;
      }
      guest.live = true;
      this.#machine.around.guestBegan(vmId, instanceId, this.#machine.nodeId);
      const deadline = (launch.startDeadlineSeconds ?? 100_000) * 1000;
      if (faults.strikes('launch hangs')) {
        // Half of the agents hang with it: then only the control plane's deadline helps.
        if (draw() < 0.5)
          this.#machine.in(deadline, () => this.#end(guest, 'Failed', 'LaunchTimeout', 'not Running in time'));
        return;
      }
      this.#whileBooted(1000 + draw() * 20_000, () => this.#run(guest));
    });
  }

  #run(guest: Guest): void {
    if (!guest.live || guest.stopping) return;
    guest.running = true;
    this.#tell(guest);
    const { faults, draw } = this.#machine.around;
    const lifetime = 1000 + draw() ** 3 * 1_200_000;
    if (faults.strikes('guest crashed'))
      this.#whileBooted(lifetime, () => this.#end(guest, 'Failed', 'GuestPanic', 'kernel panic'));
    else if (faults.strikes('guest shut down'))
      this.#whileBooted(lifetime, () => this.#end(guest, 'Succeeded', 'GuestShutdown', 'powered off'));
  }

  #neverLaunch({ vmId, uid, instanceId }: Line): void {
    const guest: Guest = {
      vmId,
      uid,
      instanceId,
      live: false,
      running: false,
      end: { phase: 'Succeeded', cause: 'Requested', message: 'ended before it was launched' },
      stopping: true,
      told: { scheduled: true, running: false, end: false },
      busy: false,
      failures: 0,
    };
    this.#guests.set(instanceId, guest);
    this.#tell(guest);
  }

  #stop(guest: Guest): void {
    if (guest.stopping || guest.end !== null) return;
    guest.stopping = true;
    this.#machine.in(500 + this.#machine.around.draw() * 15_000, () =>
      this.#end(guest, 'Succeeded', 'Requested', 'stopped'),
    );
  }

  #end(guest: Guest, phase: 'Succeeded' | 'Failed', cause: string, message: string): void {
    if (guest.end !== null) return;
    const was = guest.live;
    guest.live = false;
    guest.end = { phase, cause, message };
    if (was) this.#machine.around.guestEnded(guest.vmId, guest.instanceId);
    this.#tell(guest);
  }

  /** One report at a time, oldest news first; the answer may ask for the end. */
  #tell(guest: Guest): void {
    if (guest.busy) return;
    const { told, end, running, vmId, uid, instanceId } = guest;
    const phase = !told.scheduled ? 'Scheduled' : running && !told.running ? 'Running' : null;
    const repeated = phase === null && end === null && told.scheduled;
    if (phase === null && !repeated && told.end) return;
    guest.busy = true;
    const body = {
      instanceId,
      ...(uid === null ? {} : { uid }),
      ...(phase !== null ? { phase } : end === null ? { phase: running ? 'Running' : 'Scheduled' } : end),
    };
    const { nodeId, around } = this.#machine;
    const call = { caller: { kind: 'node', nodeId }, method: 'POST', path: `/v1/vms/${vmId}/reports`, body } as const;
    around.network.send(call, (answer) =>
      this.#machine.in(0, () => {
        guest.busy = false;
        const understood = answer?.status === 200 || answer?.status === 404;
        if (!understood) {
          guest.failures += 1;
          this.#machine.in(Math.min(300_000, 2000 * 2 ** Math.min(guest.failures, 8)), () => this.#tell(guest));
          return;
        }
        guest.failures = 0;
        if (phase === 'Scheduled') told.scheduled = true;
        if (phase === 'Running') told.running = true;
        if (phase === null && end !== null) {
          told.end = true;
          this.#machine.in(500, () => this.poll());
          return;
        }
        // The contract's form of an answer to a VM's report.
        const desired = answer.status === 200 ? (answer.body as { desired: { power: string } }).desired : null;
        if (desired?.power === 'off') this.#stop(guest);
        if (!repeated) this.#tell(guest);
        else if (guest.end !== null) this.#tell(guest);
      }),
    );
  }

  /** A guest lives on when the agent is restarted. */
  #whileBooted(ms: number, act: () => void): void {
    const { bootId, around } = this.#machine;
    around.kernel.in(ms, () => {
      if (this.#machine.bootId === bootId && this.#machine.up) act();
    });
  }
}
