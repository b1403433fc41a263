/** Checks every step of a history against the guarantees. It reads what is stored, answered and alive, and no code of the product. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Answer, Call } from './call.ts';
import { checkAnswer } from './check-answer.ts';
import { GroupCheck } from './check-group.ts';
import { NodeCheck } from './check-node.ts';
import { VmCheck } from './check-vm.ts';
import type { Item } from '../../../world/aws/table.ts';
import type { Invocation, Kernel } from '../../../world/kernel.ts';
import { type Guarantee, type Report, type Stored, textAt, type Violation } from './violation.ts';

export class Checker {
  readonly violations: Violation[] = [];
  /** Guarantee → how often it was put to the test. */
  readonly checked = new Map<Guarantee, number>();
  readonly vms = new VmCheck();
  servicesWork = false;
  readonly #kernel: Kernel;
  readonly #nodes = new NodeCheck();
  readonly #groups = new GroupCheck();
  readonly #stored = new Map<string, Stored>();
  readonly #writers = new Map<string, { id: number; at: number }[]>();
  /** Invocation → the call it serves. */
  readonly #calls = new Map<number, { by: string; body: unknown }>();
  /** Invocation → the items that it has written; kept until it is answered. */
  readonly #wrote = new Map<number, string[]>();
  readonly #fenced = new Set<string>();
  readonly #boots = new Set<string>();
  readonly #booted = new Map<string, number>();
  readonly #alive = new Map<string, Set<string>>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  stored(key: string): Stored | null {
    return this.#stored.get(key) ?? null;
  }

  all(kind: 'node' | 'vm' | 'group'): [string, Stored][] {
    return [...this.#stored].flatMap(([key, item]) =>
      key.startsWith(`${kind}#`) ? [[key.slice(kind.length + 1), item] as [string, Stored]] : [],
    );
  }

  guests(vmId: string): ReadonlySet<string> {
    return this.#alive.get(vmId) ?? new Set();
  }

  /** A call is about to be handled by an invocation of this name. */
  serving(invocation: Invocation, call: Call): void {
    const [, fenced] = /^\/v1\/nodes\/([^/]+)\/fence$/.exec(call.path) ?? [];
    if (fenced !== undefined) this.#fenced.add(fenced);
    const [, reports] = /^\/v1\/nodes\/([^/]+)\/reports$/.exec(call.path) ?? [];
    const bootId = textAt(call.body, 'bootId');
    if (reports !== undefined && bootId !== null && call.caller.kind === 'node') this.#heardOf(reports, bootId);
    this.#calls.set(invocation.id, { by: `${call.method} ${call.path}`, body: call.body });
  }

  #heardOf(host: string, bootId: string): void {
    const boot = `${host} ${bootId}`;
    if (!this.#boots.has(boot)) this.#booted.set(host, this.#kernel.now);
    this.#boots.add(boot);
  }

  /** The machine is off for good, and that can be seen. */
  knownOff(nodeId: string): void {
    this.#fenced.add(nodeId);
  }

  written(after: Item, by: Invocation): void {
    const key = after['pk']?.S ?? '';
    const [kind = '', id = ''] = key.split('#');
    this.#wrote.set(by.id, [...(this.#wrote.get(by.id) ?? []), key]);
    const record = recordOf(after);
    const previous = this.stored(key);
    this.#stored.set(key, record);
    const writers = this.#writers.get(key) ?? [];
    writers.push({ id: by.id, at: this.#kernel.now });
    this.#writers.set(key, writers.slice(-40));
    const served = this.#calls.get(by.id);
    const write = {
      id,
      before: previous,
      after: record,
      now: this.#kernel.now,
      by: served?.by ?? by.name,
      body: served?.body,
      servicesWork: this.servicesWork,
      stored: (other: string): Stored | null => this.stored(other),
      all: (others: 'node' | 'vm' | 'group'): [string, Stored][] => this.all(others),
      fenced: this.#fenced,
      booted: this.#booted,
    };
    const report = this.#reporter(`${kind}/${id}`);
    if (kind === 'node') {
      this.#count('G1', 'G2', 'G4', 'G7', 'G8');
      this.#nodes.write(write, report);
      this.#groups.node(write, report);
    } else if (kind === 'vm') {
      this.#count('G1', 'G2', 'G5', 'G6', 'G8');
      this.vms.write(write, report);
    } else if (kind === 'group') this.#groups.group(write);
  }

  answered(call: Call, answer: Answer | null, self: Invocation): void {
    this.#count('G10', 'G11');
    const nodeReport = /^\/v1\/nodes\/([^/]+)\/reports$/.exec(call.path);
    if (nodeReport?.[1] !== undefined && answer?.status === 200)
      this.#nodes.answered(nodeReport[1], call.body, this.stored(`node#${nodeReport[1]}`));
    const seen = {
      wrote: ({ id }: Invocation): readonly string[] => this.#wrote.get(id) ?? [],
      stored: (key: string): Stored | null => this.stored(key),
      othersSince: (key: string, invocation: Invocation): boolean =>
        (this.#writers.get(key) ?? []).some(({ id, at: when }) => id !== invocation.id && when >= invocation.startedAt),
    };
    for (const { guarantee, what } of checkAnswer(call, answer, self, seen))
      this.#reporter(subjectOf(call.path))(guarantee, what);
    this.#calls.delete(self.id);
    this.#wrote.delete(self.id);
  }

  guestBegan(vmId: string, instanceId: string, hostId: string): void {
    this.#count('G5');
    const alive = this.#alive.get(vmId) ?? new Set();
    this.#alive.set(vmId, alive);
    if (alive.size > 0 && !alive.has(instanceId))
      this.#reporter(`vm/${vmId}`)(
        'G5',
        `${instanceId} was launched on ${hostId} while ${[...alive].join(', ')} is alive`,
      );
    alive.add(instanceId);
  }

  guestEnded(vmId: string, instanceId: string): void {
    this.#alive.get(vmId)?.delete(instanceId);
  }

  fail(guarantee: Guarantee, subject: string, what: string): void {
    this.#reporter(subject)(guarantee, what);
  }

  #reporter(subject: string): Report {
    return (guarantee, what, expected) => {
      this.violations.push({ guarantee, subject, at: this.#kernel.now, what, expected: expected ?? null });
    };
  }

  #count(...guarantees: Guarantee[]): void {
    for (const guarantee of guarantees) this.checked.set(guarantee, (this.checked.get(guarantee) ?? 0) + 1);
  }
}

function recordOf(item: Item): Stored {
  const attribute = item['record'];
  const record = attribute === undefined ? null : plain(attribute);
  if (typeof record !== 'object' || record === null) throw new Error('an item without a record');
  return record as Stored; // an object has names and values
}

/** An attribute as DynamoDB's own documentation describes it; what the product makes of it is not asked. */
function plain(attribute: AttributeValue): unknown {
  if (attribute.M !== undefined)
    return Object.fromEntries(Object.entries(attribute.M).map(([name, value]) => [name, plain(value)]));
  if (attribute.L !== undefined) return attribute.L.map(plain);
  if (attribute.N !== undefined) return Number(attribute.N);
  return attribute.NULL === true ? null : (attribute.S ?? attribute.BOOL ?? null);
}

const subjectOf = (path: string): string => {
  const [, kinds = '', id = ''] = /^\/v1\/(nodes|vms|groups)\/([^/?]+)/.exec(path) ?? [];
  return kinds === '' ? path : `${kinds.slice(0, -1)}/${id}`;
};
