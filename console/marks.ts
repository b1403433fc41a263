/** The fleet as marks: which there are, and where each stands. Positions follow from the ids: a mark does not jump about. */
import type { NodeJson, VmJson } from '../core/contract/answers.ts';
import { nodeTone } from '../present/nodes.ts';
import { counted } from '../present/text.ts';
import type { Tone } from '../present/tone.ts';
import { vmTone } from '../present/vms.ts';
import type { FleetView, Grouping } from './address.ts';

export type Mark = {
  readonly kind: 'node' | 'vm';
  readonly id: string;
  readonly state: string;
  readonly tone: Tone;
  readonly group: string;
  readonly host: string;
  readonly zone: string;
  /** What runs there; null: a VM, or a node that never said. */
  readonly version: string | null;
  readonly explanation: string;
};

/** Every node and VM. A VM has the group and zone of its host. */
export function marksOf(nodes: ReadonlyMap<string, NodeJson>, vms: ReadonlyMap<string, VmJson>): Mark[] {
  const ofNodes = [...nodes.values()].map((node): Mark => {
    const version = node.status?.currentVersion ?? null;
    const { nodeId: id, phase: state, group, zone, explanation } = node;
    return { kind: 'node', id, state, tone: nodeTone(node), group, host: id, zone, version, explanation };
  });
  const ofVms = [...vms.values()].map((vm): Mark => {
    const host = nodes.get(vm.hostId);
    const { vmId: id, printableStatus: state, hostId, explanation } = vm;
    const place = { group: host?.group ?? 'host unknown', host: hostId, zone: host?.zone ?? 'host unknown' };
    return { kind: 'vm', id, state, tone: vmTone(vm), ...place, version: null, explanation };
  });
  return [...ofNodes, ...ofVms].sort((a, b) => byText(a.kind, b.kind) || byText(a.id, b.id));
}

/** What the address asks for. */
export const matches = (mark: Mark, { state, version, find }: FleetView): boolean =>
  (state === '' || mark.state === state) &&
  (version === '' || mark.version === version) &&
  (find === '' || mark.id.includes(find) || mark.group.includes(find) || mark.host.includes(find));

export type Block = {
  readonly label: string;
  readonly caption: string;
  readonly marks: readonly Mark[];
};

/** Marks of one place together; where places are groups or zones, its nodes and its VMs apart. */
export function blocksOf(marks: readonly Mark[], by: Grouping): Block[] {
  const places = new Map<string, Mark[]>();
  for (const mark of marks) {
    const place = places.get(mark[by]);
    if (place === undefined) places.set(mark[by], [mark]);
    else place.push(mark);
  }
  return [...places]
    .sort(([a], [b]) => byText(a, b))
    .flatMap(([label, members]) => {
      if (by === 'host') {
        const caption = sayMembers(members.filter(({ kind }) => kind === 'vm'));
        return [{ label, caption, marks: members }];
      }
      const kinds = [members.filter(({ kind }) => kind === 'node'), members.filter(({ kind }) => kind === 'vm')];
      return kinds
        .filter((one) => one.length > 0)
        .map((one, n) => ({ label: n === 0 ? label : '', caption: sayMembers(one), marks: one }));
    });
}

function sayMembers(marks: readonly Mark[]): string {
  const nodes = marks.filter(({ kind }) => kind === 'node').length;
  const vms = marks.length - nodes;
  return [nodes === 0 ? '' : counted(nodes, 'node'), vms === 0 ? '' : counted(vms, 'VM')].filter(Boolean).join(', ');
}

export type Placed = {
  readonly block: Block;
  readonly top: number;
  readonly marksTop: number;
  readonly height: number;
  readonly columns: number;
};
export type Layout = {
  readonly cell: number;
  readonly left: number;
  readonly height: number;
  readonly placed: readonly Placed[];
};

const LABEL_WIDTH = 190;
/** Of the label and what stands beside it, at most; and what a letter takes of it. */
const LABEL_WIDTH_MAX = 260;
const LETTER_WIDTH = 7.4;
const CAPTION_WIDTH = 90;
const LABEL_HEIGHT = 20;
const NARROW = 560;
const GAP = 10;

/** Larger marks for a small fleet: it is looked at, not scanned. */
export const cellOf = (count: number, width: number): number => {
  if (count <= 60) return 24;
  if (count <= 600) return 17;
  return width < NARROW ? 9 : 11;
};

/** Labels stand left of the marks; above them on a phone. */
export function layoutOf(blocks: readonly Block[], width: number): Layout {
  const count = blocks.reduce((sum, { marks }) => sum + marks.length, 0);
  const cell = cellOf(count, width);
  const narrow = width < NARROW;
  const letters = blocks.reduce((most, { label }) => Math.max(most, label.length), 0);
  const left = narrow ? 0 : Math.min(LABEL_WIDTH_MAX, Math.max(LABEL_WIDTH, letters * LETTER_WIDTH + CAPTION_WIDTH));
  const columns = Math.max(1, Math.floor((width - left) / cell));
  let top = 0;
  const placed = blocks.map((block): Placed => {
    const marksTop = top + (narrow ? LABEL_HEIGHT : 0);
    const rows = Math.ceil(block.marks.length / columns) * cell;
    const height = narrow ? LABEL_HEIGHT + rows : Math.max(rows, LABEL_HEIGHT);
    const one = { block, top, marksTop, height, columns };
    top += height + GAP;
    return one;
  });
  return { cell, left, height: Math.max(0, top - GAP), placed };
}

/** The mark at a place of the drawing; null between marks. */
export function markAt({ placed, cell, left }: Layout, x: number, y: number): Mark | null {
  const there = placed.find(({ top, height }) => y >= top && y < top + height);
  if (there === undefined || x < left || y < there.marksTop) return null;
  const column = Math.floor((x - left) / cell);
  if (column >= there.columns) return null;
  return there.block.marks[Math.floor((y - there.marksTop) / cell) * there.columns + column] ?? null;
}

/** Where a mark stands: the middle of its cell. */
export function placeOf(
  { placed, cell, left }: Layout,
  id: string,
  kind: Mark['kind'],
): { x: number; y: number } | null {
  for (const { block, marksTop, columns } of placed) {
    const index = block.marks.findIndex((mark) => mark.id === id && mark.kind === kind);
    if (index < 0) continue;
    const x = left + (index % columns) * cell + cell / 2;
    return { x, y: marksTop + Math.floor(index / columns) * cell + cell / 2 };
  }
  return null;
}

/** How many are in each state, the most first, in the calmest tone that it has. */
export function countsOf(marks: readonly Mark[]): { state: string; tone: Tone; count: number }[] {
  const counts = new Map<string, { state: string; tone: Tone; count: number }>();
  for (const { state, tone } of marks) {
    const known = counts.get(state) ?? { state, tone, count: 0 };
    counts.set(state, { ...known, tone: calmer(known.tone, tone), count: known.count + 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count || byText(a.state, b.state));
}

const CALM: Readonly<Record<Tone, number>> = { bad: 0, warn: 1, busy: 2, quiet: 3, plain: 4, good: 5 };
/** A healthy state in which some have a warning is shown as healthy: the warnings are a cause of their own. */
const calmer = (a: Tone, b: Tone): Tone => (CALM[a] > CALM[b] ? a : b);

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
