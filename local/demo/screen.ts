/** What the demo shows: a live table on a terminal, plain lines elsewhere. */
import type { EventEntry, NodeJson, VmJson } from '../../core/contract/answers.ts';
import { eventLine } from '../../present/events.ts';
import { nodeTable } from '../../present/nodes.ts';
import type { Surface } from '../../present/table.ts';
import { vmTable } from '../../present/vms.ts';
import { counted, wrap } from '../../present/text.ts';
import { paint } from '../../present/tone.ts';
import type { Instant } from '../../core/kit/time.ts';

export type Frame = {
  now: Instant;
  nodes: readonly NodeJson[];
  vms: readonly VmJson[];
  events: readonly EventEntry[];
  heading: readonly string[];
  /** What goes on, told in sentences. */
  story: readonly string[];
};

/** So many events at least stand below the tables; where they would not, nodes without news give way. */
const EVENTS_MIN = 5;

const byId =
  <T>(id: (item: T) => string) =>
  (a: T, b: T): number =>
    id(a) < id(b) ? -1 : 1;

/** One frame, as many lines as the terminal has at most. */
export function frame(seen: Frame, width: number, height: number, colour: boolean): string {
  const { now, nodes, vms, events, heading, story } = seen;
  const surface = { width, colour, now, fit: 'cut' as const };
  const above = [
    ...heading.flatMap((line) => wrap(line, width)),
    ...story.flatMap((line) => wrap(`» ${line}`, width)).map((line) => paint(line, 'busy', { colour })),
    '',
  ];
  const below =
    vms.length === 0 ? [''] : ['', ...vmTable([...vms].sort(byId((vm) => vm.vmId)), surface).split('\n'), ''];
  const rows = height - above.length - below.length - EVENTS_MIN - 2;
  const top = [...above, ...nodeLines(nodes, surface, rows), ...below];
  const room = Math.max(3, height - top.length - 1);
  const log = [...events]
    .reverse()
    .slice(-room)
    .map((event) => eventLine(event, { width, colour }));
  return [...top, ...log].slice(0, Math.max(10, height - 1)).join('\n');
}

/** The table of nodes; where it has not so many rows, those that are done and well are counted below it. */
function nodeLines(nodes: readonly NodeJson[], surface: Surface, rows: number): string[] {
  if (nodes.length === 0) return ['waiting for the first report of a node …'];
  const sorted = [...nodes].sort(byId((node) => node.nodeId));
  const shown = sorted.length <= rows ? sorted : sorted.filter((node) => !isQuiet(node));
  const quiet = sorted.length - shown.length;
  return [
    ...(shown.length === 0 ? [] : nodeTable(shown, surface).split('\n')),
    ...(quiet === 0 ? [] : [`and ${counted(quiet, 'node')} up to date and well`]),
  ];
}

const isQuiet = ({ phase, waitingFor, crash, attention }: NodeJson): boolean =>
  phase === 'Idle' && waitingFor === null && crash.count === 0 && attention === undefined;

/** The states alone, for lines that are printed when something changed. */
export const states = (nodes: readonly NodeJson[], vms: readonly VmJson[]): string[] => [
  ...nodes.map((node) => `node/${node.nodeId} ${node.phase}: ${node.explanation}`),
  ...vms.map((vm) => `vm/${vm.vmId} ${vm.printableStatus}: ${vm.explanation}`),
];
