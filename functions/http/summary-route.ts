/**
 * The summary. A small fleet is looked at item by item, and what is said is true now; of a larger one it says what the
 * sweep last counted, so that it costs the same whatever the size of the fleet (DESIGN section 10).
 */
import type { Attention } from '../../core/contract/answer-parts.ts';
import type { AttentionEntry, Summary } from '../../core/contract/answers.ts';
import { attentionEntries, type Troubled } from '../../core/fleet/attention.ts';
import { type FleetCount, summed, tally } from '../../core/fleet/count.ts';
import { describeGroup } from '../../core/group/describe.ts';
import { parseGroupId, parseNodeId, parseVmId } from '../../core/kit/ids.ts';
import { formatInstant } from '../../core/kit/time.ts';
import { describeNode } from '../../core/node/describe.ts';
import { sayUnexpected } from '../../core/node/host-word.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { describeVm } from '../../core/vm/describe.ts';
import type { VmRecord } from '../../core/vm/record.ts';
import { troubleOf } from '../operations/count-fleet.ts';
import { loadGroup } from '../operations/groups.ts';
import type { AggregateKind, ControlPlane, Ids, Records } from '../ports.ts';
import { loadMany, loadReadable, type Unreadable } from '../unreadable.ts';
import { situations } from './node-routes.ts';
import type { Serve } from './handler.ts';

/** So many nodes, VMs and groups each are looked at one by one. */
const LOOKED_AT_MAX = 200;

export const summary: Serve<'getSummary'> = async (plane) => {
  const counted = await plane.store.loadFleet();
  const large = counted !== null && Math.max(counted.nodes.total, counted.vms.total) > LOOKED_AT_MAX;
  const body = large ? await asCounted(plane, counted) : await asItIs(plane, counted);
  const sweptAt = counted === null ? {} : { sweptAt: formatInstant(counted.at) };
  return { status: 200, body: { ...body, ...sweptAt } };
};

/** What a thing is, why a person should look at it, and in which words. */
type Seen = { word: string; trouble: Troubled | null; words: string };

const seen = (
  thing: Pick<Troubled, 'kind' | 'id' | 'place'>,
  word: string,
  attention: Attention | undefined,
  words: string,
): Seen => ({ word, trouble: attention === undefined ? null : { ...thing, ...attention }, words });

/** How each thing is seen now; null: it is gone. */
class Eyes {
  readonly #plane: ControlPlane;
  readonly #situation: ReturnType<typeof situations>;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
    this.#situation = situations(plane);
  }

  async node(node: NodeRecord): Promise<Seen | null> {
    if (node.removed !== null) return null;
    const shown = describeNode(node, await this.#situation(node), this.#plane.now());
    const unexpected = sayUnexpected(node);
    const words = `${shown.phase}: ${shown.explanation}${unexpected === null ? '' : ` ${unexpected}`}`;
    return seen({ kind: 'node', id: node.nodeId, place: node.group }, shown.phase, shown.attention, words);
  }

  vm(vm: VmRecord): Seen | null {
    if (vm.removed !== null) return null;
    const shown = describeVm(vm, this.#plane.now());
    const words = `${shown.printableStatus}: ${shown.explanation}`;
    return seen({ kind: 'vm', id: vm.vmId, place: shown.hostId }, shown.printableStatus, shown.attention, words);
  }

  async group(id: Ids['group']): Promise<Seen> {
    const { own, fallback } = await loadGroup(this.#plane, id);
    const shown = describeGroup(own, fallback, this.#plane.now());
    return seen({ kind: 'group', id, place: id }, '', shown.attention, shown.explanation);
  }
}

/** @param counted what there is to say where the fleet turns out to be larger than that */
async function asItIs(plane: ControlPlane, counted: FleetCount | null): Promise<Summary> {
  const [nodes, vms, groups] = await Promise.all([
    firstOf(plane, 'node'),
    firstOf(plane, 'vm'),
    firstOf(plane, 'group'),
  ]);
  const partly = nodes.more || vms.more || groups.more;
  if (partly && counted !== null) return asCounted(plane, counted);
  const eyes = new Eyes(plane);
  const nodesSeen = there(await Promise.all(nodes.records.map((node) => eyes.node(node))));
  const vmsSeen = there(vms.records.map((vm) => eyes.vm(vm)));
  const groupsSeen = await Promise.all(groups.records.map(({ group }) => eyes.group(group)));
  const words = (all: readonly Seen[]): string[] => all.map(({ word }) => word);
  const everything = [...nodesSeen, ...vmsSeen, ...groupsSeen];
  const unreadable = [...nodes.unreadable, ...vms.unreadable, ...groups.unreadable].map(troubleOf);
  const said = new Map(
    everything.flatMap(({ trouble, words: why }) => (trouble === null ? [] : [[keyOf(trouble), why]])),
  );
  const entries = attentionEntries([...unreadable, ...everything.flatMap(({ trouble }) => trouble ?? [])]);
  return {
    ...summed({ nodes: tally(words(nodesSeen)), vms: tally(words(vmsSeen)) }),
    attention: entries.map((entry) => ({ ...entry, why: (alone(entry) ? said.get(keyOf(entry)) : null) ?? entry.why })),
    ...(partly ? { partly: true as const } : {}),
  };
}

const there = (all: readonly (Seen | null)[]): Seen[] => all.filter((one) => one !== null);
const keyOf = ({ kind, id }: { kind: string; id: string }): string => `${kind}/${id}`;
const alone = ({ count = 1 }: AttentionEntry): boolean => count === 1;

type First<K extends AggregateKind> = { records: Records[K][]; unreadable: Unreadable[]; more: boolean };

async function firstOf<K extends AggregateKind>(plane: ControlPlane, kind: K): Promise<First<K>> {
  const page = await plane.store.list(kind, LOOKED_AT_MAX, null);
  return { ...(await loadMany(plane, kind, page.items)), more: page.cursor !== null };
}

/** The first thing of each entry is looked at again: one that is well by now is left out, one that stands alone explains itself. */
async function asCounted(plane: ControlPlane, { at, attention, ...counts }: FleetCount): Promise<Summary> {
  const eyes = new Eyes(plane);
  const entries = await Promise.all(
    attention.map(async (entry) => {
      if (!alone(entry) || entry.code === 'Unreadable') return entry;
      const now = await lookAgain(plane, eyes, entry);
      return now?.trouble == null ? null : { ...entry, code: now.trouble.code, why: now.words };
    }),
  );
  return { ...summed(counts), at: formatInstant(at), attention: entries.filter((entry) => entry !== null) };
}

async function lookAgain(plane: ControlPlane, eyes: Eyes, { kind, id }: AttentionEntry): Promise<Seen | null> {
  const ids = { node: parseNodeId(id), vm: parseVmId(id), group: parseGroupId(id) };
  if (kind === 'group') return ids.group === null ? null : eyes.group(ids.group);
  if (kind === 'vm') {
    const vm = ids.vm === null ? null : await loadReadable(plane, 'vm', ids.vm);
    return vm === null || 'why' in vm ? null : eyes.vm(vm.record);
  }
  const node = ids.node === null ? null : await loadReadable(plane, 'node', ids.node);
  return node === null || 'why' in node ? null : eyes.node(node.record);
}
