/** A timeline for people: what happened at each instant to each thing, alike things together. */
import type { TimelineEntry } from './run.ts';
import { clock, merge, template } from './wording.ts';

export type PrintOptions = {
  /** Every thing for itself, and nothing shortened. */
  full: boolean;
  /** Only what is about this: `vm/web`, `node/i-…`, `group/default`. */
  subject: string | null;
};

/** What happened at one instant to one thing. */
type Block = { at: number; subject: string; lines: string[] };

/** The lines of a timeline. */
export function timelineText(timeline: readonly TimelineEntry[], { full, subject }: PrintOptions): string[] {
  const about = timeline.filter((entry) => subject === null || entry.subject === subject);
  const blocks = blocksOf(about);
  const groups = full ? blocks.map((block) => [block]) : alike(blocks);
  return groups.flatMap((group) => groupText(group, full));
}

/** Entries of one instant, by subject, in the order in which each was first heard of. */
function blocksOf(timeline: readonly TimelineEntry[]): Block[] {
  const blocks = new Map<string, Block>();
  for (const entry of timeline) {
    const key = `${entry.at} ${entry.subject}`;
    const block = blocks.get(key) ?? { at: entry.at, subject: entry.subject, lines: [] };
    blocks.set(key, block);
    block.lines.push(...linesOf(entry));
  }
  return [...blocks.values()];
}

const LABELS: Readonly<Record<TimelineEntry['kind'], string>> = {
  step: 'step',
  decision: 'decided',
  event: 'event',
  timer: 'timer',
  wake: 'command',
  sweep: 'sweep',
  problem: 'problem',
};

function linesOf({ at, kind, text, cause, why, waits }: TimelineEntry): string[] {
  const label = (name: string, words: string): string => `${name.padEnd(8)} ${words}`;
  if (waits !== undefined) {
    const until = at + waits.seconds;
    const how = waits.vernier ? 'vernier and Scheduler' : 'Scheduler alone';
    return [label('waits', `for ${waits.what} until ${clock(until)} (in ${round(waits.seconds)} s; ${how})`)];
  }
  const because = kind === 'decision' && cause !== undefined && !/^[A-Z]+ \//.test(cause) ? ` – because ${cause}` : '';
  return [label(LABELS[kind], `${text}${because}`), ...(why === undefined ? [] : [label('why', why)])];
}

const round = (seconds: number): number => Number(seconds.toFixed(3));

/** Blocks of one instant that say the same of different things, apart from ids, times and numbers of seconds. */
function alike(blocks: readonly Block[]): Block[][] {
  const groups = new Map<string, Block[]>();
  for (const block of blocks) {
    const key = `${block.at} ${kindOf(block)} ${template(block.lines.join('\n'), idOf(block))}`;
    groups.set(key, [...(groups.get(key) ?? []), block]);
  }
  return [...groups.values()];
}

const kindOf = ({ subject }: Block): string => subject.split('/')[0] ?? subject;
const idOf = ({ subject }: Block): string => subject.slice(subject.indexOf('/') + 1);

function groupText(group: readonly Block[], full: boolean): string[] {
  const [first] = group;
  if (first === undefined) return [];
  const lines = first.lines.map((_line, index) =>
    merge(group.map((block) => ({ text: block.lines[index] ?? '', id: idOf(block) }))),
  );
  const shown = full ? lines : lines.map((line) => shorten(line));
  return [`  ${clock(first.at).padStart(10)}  ${title(group)}`, ...shown.map((line) => `${' '.repeat(16)}${line}`)];
}

const NAMED = 3;

function title(group: readonly Block[]): string {
  const [first] = group;
  if (first === undefined) return '';
  if (group.length === 1) return first.subject.replace('/', ' ');
  const names = group.slice(0, NAMED).map(idOf).join(', ');
  return `${group.length} ${kindOf(first)}s: ${names}${group.length > NAMED ? ', …' : ''}`;
}

const LINE_MAX = 220;
const shorten = (line: string): string => (line.length <= LINE_MAX ? line : `${line.slice(0, LINE_MAX - 1)}…`);
