/** One filler for each group, however many ask: that it was asked for stands in the group's item (DESIGN section 2 rule 4). */
import { describe, expect, test } from 'vitest';
import { decideGroup, groupAlarmAt, groupDueAt, type GroupEvent } from '../../core/group/group.ts';
import { type GroupRecord, newGroup } from '../../core/group/record.ts';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import { hours, type Instant } from '../../core/kit/time.ts';
import { at, NODE } from '../node/life.ts';

const ASK: GroupEvent = { kind: 'askFill', proceed: false };
const PROCEED: GroupEvent = { kind: 'askFill', proceed: true };
const idle: GroupRecord = { ...newGroup(DEFAULT_GROUP), revision: 1 };

/** What the group is after an event; the same where nothing is written. */
function after(group: GroupRecord, event: GroupEvent, now: Instant): GroupRecord {
  const outcome = decideGroup(group, DEFAULT_GROUP, event, now);
  return outcome.kind === 'changed' ? outcome.next : group;
}

const asked = after(idle, ASK, at(0));
const through = (group: GroupRecord, now: Instant, more = false): GroupRecord =>
  after(group, { kind: 'filled', answers: asked.fill ?? null, more, back: [] }, now);

describe('a fill', () => {
  test('is asked for at once, and the group stands in the due-time index until it is through', () => {
    expect(asked.fill).toEqual({ at: at(0), proceed: false, again: null });
    expect(groupDueAt(asked)).toBe(at(0));
    expect(groupAlarmAt(asked)).toBe(at(0));
    const done = through(asked, at(0.2));
    expect(done.fill).toBeUndefined();
    expect(groupDueAt(done)).toBeNull();
  });

  test('that may have begun already is asked for once more, a second after; further askers have nothing to write', () => {
    const again = after(asked, ASK, at(0.1));
    expect(again.fill).toEqual({ at: at(0), proceed: false, again: { proceed: false } });
    expect(after(again, ASK, at(0.2))).toBe(again);
    expect(through(again, at(0.3)).fill).toEqual({ at: at(1.3), proceed: false, again: null });
  });

  test('that a crowd asks for keeps others from trying meanwhile; one that a verb asked for does not', () => {
    const crowd: GroupEvent = { kind: 'askFill', proceed: false, soon: true };
    expect(after(idle, crowd, at(0)).fill).toEqual({ at: at(1), proceed: false, again: null, busy: true });
    expect(asked.fill?.busy).toBeUndefined();
    const joined = after(asked, crowd, at(0.1));
    expect(joined.fill).toEqual({ at: at(0), proceed: false, again: { proceed: false }, busy: true });
    expect(after(joined, crowd, at(0.2))).toBe(joined);
    expect(through(asked, at(0.3), true).fill?.busy).toBe(true);
    expect(through(joined, at(0.3)).fill?.busy).toBeUndefined();
  });

  test('that is still to come is asked for by nobody', () => {
    const soon = after(idle, { ...ASK, soon: true }, at(0));
    expect(soon.fill).toMatchObject({ at: at(1) });
    expect(after(soon, ASK, at(0.4))).toBe(soon);
    expect(after(soon, ASK, at(0.6)).fill).toMatchObject({ again: { proceed: false } });
  });

  test('looks at staged and activated nodes where anybody asked for that', () => {
    const soon = after(idle, { ...ASK, soon: true }, at(0));
    expect(after(soon, PROCEED, at(0)).fill).toMatchObject({ at: at(1), proceed: true });
    const again = after(after(asked, ASK, at(0.1)), PROCEED, at(0.1));
    expect(again.fill).toMatchObject({ proceed: false, again: { proceed: true } });
    expect(through(again, at(0.3)).fill).toMatchObject({ proceed: true });
  });

  test('that is not through after 20 s was lost: whoever asks then sends another, for all that was asked of it', () => {
    const proceeds = after(asked, PROCEED, at(0.1));
    expect(after(proceeds, ASK, at(20))).toBe(proceeds);
    expect(after(proceeds, ASK, at(20.001)).fill).toEqual({ at: at(20.001), proceed: true, again: null });
  });

  test('that was brought twice ends what it was asked for, and not what was asked for since', () => {
    const since = after(through(asked, at(0.2)), ASK, at(5));
    expect(through(since, at(6))).toBe(since);
  });

  test('of which there is more goes on at once, under an instant of its own', () => {
    expect(through(asked, at(2), true).fill).toMatchObject({ at: at(2) });
    expect(through(asked, at(0), true).fill).toMatchObject({ at: at(0.001) });
    const swept = after(idle, { kind: 'filled', answers: null, more: true, back: [] }, at(3));
    expect(swept.fill).toMatchObject({ at: at(3) });
  });

  test('gives back what it claimed and did not use, all in one write, and is tried again in a second', () => {
    const claims = [{ nodeId: NODE, claimId: 'c' }];
    const claimed = after(asked, { kind: 'claim', claims, limit: 2 }, at(0.1));
    expect(Object.keys(claimed.slots)).toEqual([NODE]);
    const back = after(claimed, { kind: 'filled', answers: asked.fill ?? null, more: false, back: claims }, at(0.2));
    expect(back).toMatchObject({ slots: {}, fill: { at: at(1.2) }, revision: claimed.revision + 1 });
    const others = {
      kind: 'filled',
      answers: asked.fill ?? null,
      more: false,
      back: [{ nodeId: NODE, claimId: 'd' }],
    } as const;
    expect(after(claimed, others, at(0.2)).slots).toEqual(claimed.slots);
  });

  test('is asked for by what frees a slot, in the same write', () => {
    const claims = [{ nodeId: NODE, claimId: 'c' }];
    const claimed = after(idle, { kind: 'claim', claims, limit: 2 }, at(0));
    const freed = after(claimed, { kind: 'release', nodeId: NODE, claimId: 'c' }, at(1));
    expect(freed).toMatchObject({ slots: {}, fill: { at: at(1), proceed: false }, revision: claimed.revision + 1 });
  });

  test.each<GroupEvent>([
    { kind: 'put', body: { maxConcurrentUpdates: 7 } },
    { kind: 'openWindow', freezes: [], for: hours(1), by: 'ann' },
    { kind: 'expedite', version: '1.1', for: hours(1), by: 'ann' },
  ])('is asked for by $kind, in the same write', (event) => {
    const next = after(idle, event, at(1));
    expect(next).toMatchObject({ fill: { at: at(1), proceed: true }, revision: idle.revision + 1 });
  });
});

describe('a paused group', () => {
  const paused = after(asked, { kind: 'pause', by: 'ann' }, at(1));

  test('waits for no fill, and nobody asks for one', () => {
    expect(groupAlarmAt(paused)).toBeNull();
    expect(after(paused, ASK, at(2))).toBe(paused);
  });

  test('is filled when it is resumed', () => {
    const resumed = after(paused, { kind: 'resume' }, at(60));
    expect(resumed.fill).toEqual({ at: at(60), proceed: true, again: null });
    expect(groupAlarmAt(resumed)).toBe(at(60));
  });
});
