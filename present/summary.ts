/** The whole fleet on one page: what a person should look at, then the counts. */
import type { AttentionEntry, Summary } from '../core/contract/answers.ts';
import { separated, table, type Surface } from './table.ts';
import { counted } from './text.ts';
import { paint } from './tone.ts';

/** Attention first, then how many nodes and VMs are in which state. */
export function summaryPage(summary: Summary, surface: Surface): string {
  const { attention } = summary;
  const head =
    attention.length === 0
      ? paint('Nothing needs attention.', 'good', surface)
      : paint(`${counted(attention.length, 'thing needs', 'things need')} attention`, 'bad', surface);
  const list =
    attention.length === 0
      ? []
      : [
          table(
            [{ title: '' }, { title: 'WHAT' }, { title: 'WHY' }],
            attention.map((item) => [
              { text: item.kind },
              { text: sayId(item), tone: 'bad' as const },
              { text: item.why },
            ]),
            surface,
          ),
        ];
  const counts = [
    `Nodes  ${sayCounts(summary.nodes.total, summary.nodes.byPhase)}`,
    `VMs    ${sayCounts(summary.vms.total, summary.vms.byStatus)}`,
  ];
  return [head, ...list, '', ...counts, ...sayAge(summary)].join('\n');
}

/** Rows `attention kind id why`, then `nodes|vms state count`. */
export const summaryRows = ({ attention, nodes, vms }: Summary): string =>
  separated([
    ...attention.map((item) => ['attention', item.kind, item.id, item.why]),
    ['nodes', 'total', String(nodes.total)],
    ...Object.entries(nodes.byPhase).map(([phase, count]) => ['nodes', phase, String(count)]),
    ['vms', 'total', String(vms.total)],
    ...Object.entries(vms.byStatus).map(([status, count]) => ['vms', status, String(count)]),
  ]);

/** Of a fleet that is too large to be looked at item by item, when it was counted. */
function sayAge({ at, partly }: Summary): string[] {
  if (partly === true) return ['There is more than this: the next sweep counts it.'];
  return at === undefined ? [] : [`Counted by the sweep at ${at}.`];
}

/** `i-a`, or `i-a and 199 more` where one entry stands for many. */
const sayId = ({ id, count = 1 }: AttentionEntry): string => (count < 2 ? id : `${id} and ${count - 1} more`);

function sayCounts(total: number, by: Readonly<Record<string, number>>): string {
  const parts = Object.entries(by)
    .filter(([, count]) => count > 0)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([state, count]) => `${count} ${state}`);
  return parts.length === 0 ? String(total) : `${total}: ${parts.join(', ')}`;
}
