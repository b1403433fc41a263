/**
 * What a person should look at, worst first, and grouped by its cause: 200 VMs of one host that fail for the same reason
 * are one line (DESIGN section 6).
 */
import type { Attention } from '../contract/answer-parts.ts';
import type { AttentionEntry } from '../contract/answers.ts';
import { ATTENTION_CODES, type AttentionCode } from '../contract/words.ts';
import type { AggregateKind } from '../kit/ref.ts';

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

/** Entries in the order of attention; within a code what stands for most first. */
export function groupAttention(troubled: Iterable<Troubled>, most: number = ATTENTION_MAX): AttentionEntry[] {
  const groups = new Map<string, { first: Troubled; ids: string[]; count: number }>();
  for (const item of troubled) {
    const key = likeness(item);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { first: item, ids: [item.id], count: 1 });
    else {
      known.count += 1;
      if (known.ids.length < NAMED_MAX) known.ids.push(item.id);
    }
  }
  const rank = (code: AttentionCode): number => ATTENTION_CODES.indexOf(code);
  return [...groups.values()]
    .sort((a, b) => rank(a.first.code) - rank(b.first.code) || b.count - a.count || (a.first.id < b.first.id ? -1 : 1))
    .slice(0, most)
    .map(({ first, ids, count }) => ({
      kind: first.kind,
      id: first.id,
      code: first.code,
      count,
      ids: ids.toSorted(),
      why: sayWhy(first, count),
    }));
}

/** `200 VMs of host i-e, in a crash loop: LaunchFailed: disk full`; of a single thing without its place. */
export function sayWhy({ kind, code, place, cause }: Troubled, count: number): string {
  const said = cause === '' ? SAID[code] : `${SAID[code]}: ${cause}`;
  if (count === 1) return `${said.slice(0, 1).toUpperCase()}${said.slice(1)}`;
  const things = kind === 'node' ? `nodes of group ${place}` : kind === 'vm' ? `VMs of host ${place}` : 'groups';
  return `${count} ${things}, ${said}`;
}
