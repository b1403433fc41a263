/** What the list of a host's VMs asks for, given the instances this host remembers. Pure. */
import type { HostVm } from '../../core/contract/agent-answers.ts';
import type { EndCause } from '../../core/contract/words.ts';
import { type Instance, type InstanceKey, isLive, keyOf } from './instance.ts';

export type Order =
  | { kind: 'takeOn'; item: HostVm }
  /** Nobody here knows whose it is: the answer to its report adopts or ends it (DESIGN section 3 rule 8). */
  | { kind: 'ask'; key: InstanceKey }
  | { kind: 'stop'; key: InstanceKey; cause: EndCause; graceMs: number | null }
  /** It is to end and was never taken on: remembered as ended, and said so. */
  | { kind: 'neverLaunch'; item: HostVm }
  /** It has ended, and the control plane has not understood: told again. */
  | { kind: 'tellEnd'; key: InstanceKey };

/**
 * One live instance per VM, no instance id twice, and nothing begun while the host drains. An instance that is not
 * listed is left alone unless its VM is to have another one: its own report's answer decides.
 */
export function plan(items: readonly HostVm[], known: ReadonlyMap<InstanceKey, Instance>, draining: boolean): Order[] {
  const orders = items.flatMap((item): Order[] => {
    const instance = known.get(keyOf(item));
    if (instance === undefined)
      return item.power === 'off' ? [{ kind: 'neverLaunch', item }] : begin(item, known, draining);
    if (!isLive(instance)) return [{ kind: 'tellEnd', key: keyOf(item) }];
    return item.power === 'off' ? [{ kind: 'stop', key: keyOf(item), cause: 'Requested', graceMs: graceOf(item) }] : [];
  });
  const drained = draining ? [...known.values()].filter(isLive) : [];
  return [
    ...orders,
    ...drained.map((instance): Order => ({
      kind: 'stop',
      key: keyOf(instance),
      cause: 'HostMaintenance',
      graceMs: null,
    })),
  ];
}

function begin(item: HostVm, known: ReadonlyMap<InstanceKey, Instance>, draining: boolean): Order[] {
  const others = [...known.values()].filter((instance) => instance.vmId === item.vmId && isLive(instance));
  if (others.length > 0) {
    return others.map((other) =>
      other.uid === null
        ? { kind: 'ask', key: keyOf(other) }
        : { kind: 'stop', key: keyOf(other), cause: 'Requested', graceMs: graceOf(item) },
    );
  }
  return draining ? [] : [{ kind: 'takeOn', item }];
}

const graceOf = ({ graceSeconds }: HostVm): number | null => (graceSeconds === undefined ? null : graceSeconds * 1000);
