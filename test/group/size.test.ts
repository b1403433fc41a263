/**
 * A group's item holds its slots, its policy and its last events, and everybody who claims or frees a slot writes it whole:
 * DynamoDB takes 1,000 KB a second of it, and 400 KB at all.
 */
import { describe, expect, test } from 'vitest';
import { BODY_BYTES_MAX } from '../../core/contract/operator-bodies.ts';
import { type Claim, claimIdFrom, decideGroup, type GroupEvent } from '../../core/group/group.ts';
import { type GroupRecord, newGroup } from '../../core/group/record.ts';
import { slotsOf } from '../../core/group/slots.ts';
import { DEFAULT_GROUP, parseNodeId } from '../../core/kit/ids.ts';
import { type GroupBody, groupPolicyOf } from '../../core/policy/group-policy.ts';
import { LIMIT_MAX } from '../../core/policy/limit.ts';
import { readItem, writeOf } from '../../functions/aws/item.ts';
import { toAttributes } from '../../functions/aws/attributes.ts';
import { sizeOf } from '../../world/aws/limits.ts';
import { seededDraws } from '../../world/random.ts';
import { at } from '../node/life.ts';

const KB = 1024;
const draw = seededDraws(1);
const nodeIdOf = (index: number) =>
  parseNodeId(`mi-${(0xfedcba98 + index).toString(16).padStart(17, 'a')}`) ?? expect.fail('a node id');
const claims = Array.from({ length: 600 }, (_, index): Claim => ({
  nodeId: nodeIdOf(index),
  claimId: claimIdFrom(draw()),
}));

function after(group: GroupRecord, event: GroupEvent, now = at(0)): GroupRecord {
  const outcome = decideGroup(group, DEFAULT_GROUP, event, now);
  if (outcome.kind !== 'changed') throw new Error(outcome.kind);
  return outcome.next;
}
const bytesOf = (group: GroupRecord): number => sizeOf(writeOf(group, 'write', 60, at(0)).ExpressionAttributeValues);

describe('the item of a group', () => {
  const empty: GroupRecord = { ...newGroup(DEFAULT_GROUP), revision: 1 };

  test('holds 500 slots in 25 KB', () => {
    const full = after(empty, { kind: 'claim', claims, limit: LIMIT_MAX });
    expect(Object.keys(full.slots)).toHaveLength(LIMIT_MAX);
    expect(bytesOf(full) - bytesOf(empty)).toBeLessThanOrEqual(25 * KB);
  });

  test('has no more slots than that whatever share of how many members may be under way', () => {
    const many: GroupRecord = { ...empty, memberCount: 100_000, body: { maxConcurrentUpdates: '50%' } };
    expect(slotsOf(many, many, groupPolicyOf(many.body ?? {}), at(0)).limit).toBe(LIMIT_MAX);
    const few: GroupRecord = { ...many, memberCount: 40 };
    expect(slotsOf(few, few, groupPolicyOf(few.body ?? {}), at(0)).limit).toBe(20);
  });

  test('does not grow with each change of a policy that is as long as one may be', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => nodeIdOf(index));
    const long = (reason: string): GroupBody => ({
      order: { first: ids.slice(0, 500), last: ids.slice(500) },
      freezes: Array.from({ length: 50 }, () => ({
        from: '2026-12-20T00:00:00Z',
        to: '2027-01-02T00:00:00Z',
        reason: reason.repeat(256),
      })),
    });
    let group = after(empty, { kind: 'claim', claims, limit: LIMIT_MAX });
    const sizes: number[] = [];
    for (let change = 1; change <= 200; change += 1) {
      group = after(group, { kind: 'put', body: long(change % 2 === 0 ? 'a' : 'b') }, at(change));
      sizes.push(bytesOf(group));
    }
    expect(JSON.stringify(group.body).length).toBeLessThan(BODY_BYTES_MAX);
    expect((sizes.at(-1) ?? 0) - (sizes[19] ?? 0)).toBeLessThan(KB);
    expect(sizes.at(-1)).toBeLessThan(BODY_BYTES_MAX + 32 * KB);
  });

  test('says in the log of a caller with the longest name what a page can hold', () => {
    const by = `arn:aws:iam::000000000000:user/${'p'.repeat(512)}/${'u'.repeat(64)}`;
    let group = empty;
    for (let turn = 0; turn < 100; turn += 1) {
      group = after(group, { kind: 'pause', by }, at(turn));
      group = after(group, { kind: 'resume' }, at(turn));
    }
    expect(bytesOf(group)).toBeLessThan(20 * KB);
  });

  test('with slots and a fill asked for as this release writes them is in the format that the release before reads', () => {
    const full = after(after(empty, { kind: 'claim', claims, limit: 2 }), { kind: 'askFill', proceed: true });
    const format = writeOf(full, 'w', 60, at(0)).ExpressionAttributeValues[':v0']?.N;
    expect(format).toBe('1');
    // What it does not know stands in the record as it was, and is written back.
    const item = toAttributes({ format: 1, revision: full.revision, writeId: 'w', record: full });
    expect(readItem('group', item).record).toEqual(full);
  });
});
