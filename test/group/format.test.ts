/** DESIGN section 7, formats: a release that would ignore a policy's windows does not get to read them. */
import { describe, expect, test } from 'vitest';
import { newGroup } from '../../core/group/record.ts';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import { instant } from '../../core/kit/time.ts';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import { toAttributes } from '../../functions/aws/attributes.ts';
import { readItem, writeOf } from '../../functions/aws/item.ts';

const formatOf = (body: GroupBody | null): unknown =>
  writeOf({ ...newGroup(DEFAULT_GROUP), revision: 1, body }, 'w', 60, instant(0)).ExpressionAttributeValues[':v0']?.N;

describe('the format that a group is written in', () => {
  test.each<[string, GroupBody | null, string]>([
    ['nobody declared', null, '1'],
    ['a limit', { maxConcurrentUpdates: 3 }, '1'],
    ['windows', { windows: [{ cron: '0 2 * * *', duration: '1h' }] }, '2'],
    ['a breaker', { breaker: { failures: 2, within: '1h' } }, '2'],
    ['a pin', { version: { pin: '1.2' } }, '2'],
  ])('%s', (_what, body, format) => {
    expect(formatOf(body)).toBe(format);
  });

  const item = (format: number) =>
    toAttributes({ format, revision: 1, writeId: 'w', record: { ...newGroup(DEFAULT_GROUP), revision: 1 } });
  test.each([0, 1, 2])('%s is read', (format) => {
    expect(readItem('group', item(format)).record.group).toBe('default');
  });
  test('a newer one is refused, and says which are read', () => {
    expect(() => readItem('group', item(3))).toThrow(
      /format 3; this version reads 0 to 2: deploy the version that wrote it/,
    );
  });
});
