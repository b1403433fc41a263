import { describe, expect, test } from 'vitest';
import { backoffRows } from './backoff-rows.ts';
import { countingRows } from './counting-rows.ts';
import { DIFFERENCES } from './differences.ts';
import { statusRows } from './status-rows.ts';
import { strategyRows } from './strategy-rows.ts';
import { verbRows } from './verb-rows.ts';

const rows = [...backoffRows(), ...countingRows(), ...statusRows(), ...strategyRows(), ...verbRows()];
const listed = new Map(DIFFERENCES.map(({ row, reason }) => [row, reason]));

describe('the rows of KubeVirt, under preset kubevirt', () => {
  test.each(rows.filter(({ id }) => !listed.has(id)).map(({ id, check }) => [id, check] as const))(
    '%s',
    (id, check) => {
      expect(check, `${id} is about something that we do not have, and differences.ts does not say so`).not.toBeNull();
      check?.();
    },
  );
});

describe('the rows where we differ on purpose', () => {
  // A difference that is none any more would be a row that nobody asserts.
  const differing = rows
    .filter(({ id }) => listed.has(id))
    .flatMap(({ id, check }) => (check === null ? [] : [[id, check] as const]));
  test.each(differing)('%s', (_id, check) => {
    expect(check).toThrow(/expected/);
  });

  test('each is a row, once, with a reason', () => {
    const ids = rows.map(({ id }) => id);
    expect(DIFFERENCES.map(({ row }) => row).filter((row) => !ids.includes(row))).toEqual([]);
    expect(listed.size).toBe(DIFFERENCES.length);
    expect(DIFFERENCES.filter(({ reason }) => reason.length < 20)).toEqual([]);
  });
});

test('no two rows have the same name, and every table is read', () => {
  const ids = rows.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ids.map((id) => id.split('/')[0]))).toEqual(
    new Set([
      'api-restart',
      'api-start',
      'api-stop',
      'backoff-delay',
      'backoff-time-left',
      'printable-status',
      'run-strategy',
      'start-failure-counting',
    ]),
  );
});
