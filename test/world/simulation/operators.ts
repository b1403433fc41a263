/** Operators who click at the worst moment, twice, and change their minds; and strangers who try what they may not. */
import type { Call, Caller } from './call.ts';
import type { Network } from './calls.ts';
import { hostOf } from './check-vm.ts';
import type { Checker } from './checker.ts';
import type { Kernel } from '../../../world/kernel.ts';
import type { Machine } from './machine.ts';
import { at, textAt } from './violation.ts';

const STRATEGIES = ['Always', 'Always', 'RerunOnFailure', 'RerunOnFailure', 'Manual', 'Once', 'Halted'] as const;
const LIMITS = [1, 2, 3, 5, '30%', '50%', 'unlimited'] as const;
const BACKOFFS = [
  null,
  null,
  { preset: 'seed' },
  { preset: 'brupop' },
  { unit: '20s', from: 'lastCrash', cap: '10m', resetAfter: '45m' },
] as const;

export type Cast = {
  kernel: Kernel;
  network: Network;
  checker: Checker;
  draw: () => number;
  machines: readonly Machine[];
  vmIds: readonly string[];
  groups: readonly string[];
  /** Mean seconds between two clicks. */
  everySeconds: number;
};

export class Operators {
  readonly #cast: Cast;
  clicks = 0;
  intrusions = 0;
  #active = true;

  constructor(cast: Cast) {
    this.#cast = cast;
    this.#next();
  }

  stop(): void {
    this.#active = false;
  }

  #next(): void {
    const { kernel, draw, everySeconds } = this.#cast;
    kernel.in(everySeconds * 2000 * draw(), () => {
      if (!this.#active) return;
      this.#act();
      this.#next();
    });
  }

  #pick<T>(from: readonly T[]): T {
    const item = from[Math.floor(this.#cast.draw() * from.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  vmBody(): Record<string, unknown> {
    const { draw, machines } = this.#cast;
    const elsewhere =
      draw() < 0.3 ? { restartElsewhere: true, hosts: machines.map(({ nodeId }) => nodeId).slice(0, 4) } : {};
    return {
      hostId: this.#pick(machines).nodeId,
      ...elsewhere,
      ...(draw() < 0.1 ? { maintenance: 'block' } : {}),
      runStrategy: this.#pick(STRATEGIES),
      launch: { type: 'exec', command: draw() < 0.15 ? 'broken' : `guest-${Math.floor(draw() * 5)}` },
      ...(draw() < 0.2 ? { backoff: { preset: 'kubevirt' } } : {}),
    };
  }

  groupBody(): Record<string, unknown> {
    const backoff = this.#pick(BACKOFFS);
    return { maxConcurrentUpdates: this.#pick(LIMITS), ...(backoff === null ? {} : { backoff }) };
  }

  #act(): void {
    const roll = this.#cast.draw();
    if (roll < 0.45) this.#vm();
    else if (roll < 0.7) this.#node();
    else if (roll < 0.85) this.#group();
    else this.#intrude();
  }

  #vm(): void {
    const { draw, vmIds, checker } = this.#cast;
    if (vmIds.length === 0) return;
    const vmId = this.#pick(vmIds);
    const stored = checker.stored(`vm#${vmId}`);
    const gone = stored === null || at(stored, 'removed') !== null;
    const path = `/v1/vms/${vmId}`;
    if (gone || draw() < 0.2) {
      const body = this.vmBody();
      const hostId = gone ? body['hostId'] : textAt(stored, 'body.hostId');
      this.click({ method: 'PUT', path, body: { ...body, hostId } });
    } else if (draw() < 0.1) this.click({ method: 'DELETE', path });
    else {
      const verb = this.#pick(['start', 'stop', 'stop', 'restart'] as const);
      this.click({ method: 'POST', path: `${path}/${verb}` });
      // A second thought, at the same moment.
      if (draw() < 0.3)
        this.click({ method: 'POST', path: `${path}/${this.#pick(['start', 'stop', 'restart'] as const)}` });
    }
  }

  #node(): void {
    const { draw, machines, groups } = this.#cast;
    const machine = this.#pick(machines);
    const path = `/v1/nodes/${machine.nodeId}`;
    if (machine.dead && draw() < 0.5) this.click({ method: 'POST', path: `${path}/fence` });
    else if (machine.dead && draw() < 0.3) this.click({ method: 'DELETE', path });
    else if (draw() < 0.05) this.click({ method: 'DELETE', path });
    else if (draw() < 0.15) this.click({ method: 'POST', path: `${path}/move`, body: { group: this.#pick(groups) } });
    else
      this.click({ method: 'POST', path: `${path}/${this.#pick(['hold', 'release', 'release', 'retry'] as const)}` });
  }

  #group(): void {
    const { draw, groups } = this.#cast;
    const group = this.#pick(groups);
    const path = `/v1/groups/${group}`;
    if (draw() < 0.5) this.click({ method: 'PUT', path, body: this.groupBody() });
    else if (draw() < 0.1) this.click({ method: 'DELETE', path });
    else this.click({ method: 'POST', path: `${path}/${this.#pick(['pause', 'resume', 'resume'] as const)}` });
  }

  /** Sends what an operator sends, again if there is no answer, and sometimes a second time at once. */
  click(call: Omit<Call, 'caller'>, attempt = 0): void {
    const { network, draw, kernel } = this.#cast;
    this.clicks += 1;
    const whole: Call = { ...call, caller: { kind: 'operator' } };
    network.send(whole, (answer) => {
      if ((answer === null || answer.status >= 500) && attempt < 3)
        kernel.in(3000 + draw() * 5000, () => this.click(call, attempt + 1));
    });
    if (attempt === 0 && draw() < 0.1) network.send(whole, () => undefined);
  }

  #intrude(): void {
    const { network, machines, vmIds, checker, draw } = this.#cast;
    this.intrusions += 1;
    const [one, other] = [this.#pick(machines), this.#pick(machines)];
    const callers: Caller[] = [{ kind: 'stranger' }, { kind: 'nobody' }, { kind: 'node', nodeId: one.nodeId }];
    const caller = this.#pick(callers);
    const send = (call: Omit<Call, 'caller'>): void => network.send({ ...call, caller }, () => undefined);
    const roll = draw();
    if (roll < 0.4) {
      const paths = [
        `/v1/nodes/${other.nodeId}/hold`,
        '/v1/groups/default/pause',
        ...vmIds.map((id) => `/v1/vms/${id}/stop`),
      ];
      send({ method: 'POST', path: this.#pick(paths) });
    } else if (roll < 0.7 && one !== other) {
      const body = {
        generation: 1,
        state: 'ErrorReset',
        bootId: other.bootId,
        currentVersion: other.version,
        updateCheck: { result: 'UpToDate' },
        uptime: 1e9,
      };
      send({ method: 'POST', path: `/v1/nodes/${other.nodeId}/reports`, body });
    } else if (vmIds.length > 0) {
      const vmId = this.#pick(vmIds);
      const stored = checker.stored(`vm#${vmId}`);
      const host = hostOf(stored);
      const instanceId = textAt(stored, 'instance.instanceId');
      if (instanceId === null || host === one.nodeId) return;
      const path = `/v1/vms/${vmId}`;
      const wrong = { wrongHost: true } as const;
      if (draw() < 0.5)
        send({ method: 'POST', path: `${path}/reports`, body: { instanceId, phase: 'Failed' }, ...wrong });
      else send({ method: 'GET', path: `${path}/launch?instanceId=${instanceId}`, ...wrong });
    }
  }
}
