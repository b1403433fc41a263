/** What the demo shows: a live table on a terminal, plain lines elsewhere. */
import type { EventEntry, NodeJson, VmJson } from '../../core/contract/answers.ts';
import { eventLine } from '../../present/events.ts';
import { nodeTable } from '../../present/nodes.ts';
import { vmTable } from '../../present/vms.ts';
import type { Instant } from '../../core/kit/time.ts';

export type Frame = {
  now: Instant;
  nodes: readonly NodeJson[];
  vms: readonly VmJson[];
  events: readonly EventEntry[];
  heading: readonly string[];
};

const byId =
  <T>(id: (item: T) => string) =>
  (a: T, b: T): number =>
    id(a) < id(b) ? -1 : 1;

/** One frame, as many lines as the terminal has at most. */
export function frame(
  { now, nodes, vms, events, heading }: Frame,
  width: number,
  height: number,
  colour: boolean,
): string {
  const surface = { width, colour, now, fit: 'cut' as const };
  const top = [
    ...heading,
    '',
    ...(nodes.length === 0
      ? ['waiting for the first report of a node …']
      : nodeTable([...nodes].sort(byId((n) => n.nodeId)), surface).split('\n')),
    '',
    ...(vms.length === 0 ? [] : vmTable([...vms].sort(byId((vm) => vm.vmId)), surface).split('\n')),
    '',
  ];
  const room = Math.max(3, height - top.length - 1);
  const log = [...events]
    .reverse()
    .slice(-room)
    .map((event) => eventLine(event, { width, colour }));
  return [...top, ...log].slice(0, Math.max(10, height - 1)).join('\n');
}

/** The states alone, for lines that are printed when something changed. */
export const states = (nodes: readonly NodeJson[], vms: readonly VmJson[]): string[] => [
  ...nodes.map((node) => `node/${node.nodeId} ${node.phase}: ${node.explanation}`),
  ...vms.map((vm) => `vm/${vm.vmId} ${vm.printableStatus}: ${vm.explanation}`),
];
