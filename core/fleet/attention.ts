/**
 * What a person should look at, worst first, and grouped by its cause: 200 VMs of one host that fail for the same reason
 * are one line (DESIGN section 6).
 */
import type { Attention } from '../contract/answer-parts.ts';
import type { AttentionEntry } from '../contract/answers.ts';
import type { AttentionCode } from '../contract/words.ts';
import type { AggregateKind } from '../kit/ref.ts';
import { attentionRank } from './order.ts';

/** One thing that needs attention. `place` is where its likes are: the group of a node, the host of a VM. */
export type Troubled = Attention & { kind: AggregateKind; id: string; place: string };

/** How many entries are named; each says how many things it stands for. */
export const ATTENTION_MAX = 50;
/** How many ids an entry names. */
const NAMED_MAX = 20;

/** What says nothing of the rest where many have it: each of these is a person's business of its own. */
const ALONE: readonly AttentionCode[] = ['Unreadable', 'GaveUp'];

const SAID: Readonly<Record<AttentionCode, string>> = {
  Unreadable: 'cannot be read',
  BreakerOpen: 'breaker open',
  AlarmRinging: 'stopped by an alarm',
  Unreachable: 'unreachable',
  Silent: 'silent',
  GaveUp: 'given up',
  CrashLoop: 'in a crash loop',
  Failed: 'failed',
  Unknown: 'host silent, nothing is known of them',
  ZoneKept: 'its zone is kept for more than 90 min',
  Unwell: 'not well',
  VersionBlocked: 'rolled back, and will not take that version again for a while',
  Terminating: 'being deleted',
  Crashed: 'crashed, and tried again',
  Recovering: 'coming back to Idle',
  Unexpected: 'running something unexpected',
  Paused: 'paused',
  Held: 'held',
  UpdateCheckFailed: 'update check failed',
};

/** The cause of a failing VM says what fails; numbers in it (a pid, a time) are not what tells causes apart. */
const likeness = ({ kind, code, place, cause, id }: Troubled): string =>
  JSON.stringify([
    code,
    kind,
    place,
    cause.replaceAll(/\d+/g, '0'),
    kind === 'group' || ALONE.includes(code) ? id : '',
  ]);

/** Things of one cause, in the order in which they were found; its key is the same from one look to the next. */
export type OneCause<T extends Troubled> = { key: string; first: T; all: readonly T[] };

/** In the order of attention; within a code what stands for most first. */
export function byCause<T extends Troubled>(troubled: Iterable<T>): OneCause<T>[] {
  const causes = new Map<string, { first: T; all: T[] }>();
  for (const item of troubled) {
    const key = likeness(item);
    const known = causes.get(key);
    if (known === undefined) causes.set(key, { first: item, all: [item] });
    else known.all.push(item);
  }
  return [...causes]
    .map(([key, cause]) => ({ key, ...cause }))
    .sort(
      (a, b) =>
        attentionRank(a.first.code) - attentionRank(b.first.code) ||
        b.all.length - a.all.length ||
        (a.first.id < b.first.id ? -1 : 1),
    );
}

/** The entries of a summary: a line for each cause, worst first. */
export const attentionEntries = (troubled: Iterable<Troubled>, most: number = ATTENTION_MAX): AttentionEntry[] =>
  byCause(troubled)
    .slice(0, most)
    .map(({ first, all }) => ({
      kind: first.kind,
      id: first.id,
      code: first.code,
      count: all.length,
      ids: all
        .slice(0, NAMED_MAX)
        .map(({ id }) => id)
        .sort(),
      why: sayWhy(first, all.length),
    }));

/** `200 VMs of host i-e, in a crash loop: LaunchFailed: disk full`; of a single thing without its place. */
export function sayWhy({ kind, code, place, cause }: Troubled, count: number): string {
  const said = cause === '' ? SAID[code] : `${SAID[code]}: ${cause}`;
  if (count === 1) return `${said.slice(0, 1).toUpperCase()}${said.slice(1)}`;
  return `${sayMany({ kind, place }, count)}, ${said}`;
}

/** `200 VMs of host i-e`. */
export function sayMany({ kind, place }: Pick<Troubled, 'kind' | 'place'>, count: number): string {
  const things = { node: 'nodes', vm: 'VMs', group: 'groups' }[kind];
  const where = { node: ' of group', vm: ' of host', group: '' }[kind];
  return `${count} ${things}${place === '' || where === '' ? '' : `${where} ${place}`}`;
}
