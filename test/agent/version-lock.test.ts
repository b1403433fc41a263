/** Whose the version-lock is, and what a pin asks of it (DESIGN section 2b, Version). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HeldLock, openLockStore, pinLock, sayPinned } from '../../agent/updater/version-lock.ts';

const ours: HeldLock = { ours: ['2.0.0'], before: 'latest' };

describe('a pin', () => {
  test.each<[string, string | null, string | null, HeldLock | null, ReturnType<typeof pinLock>]>([
    ['is set where nobody has locked', '2.0.0', 'latest', null, { act: 'hold', version: '2.0.0', held: ours }],
    ["is never set over an owner's own", '2.0.0', '1.5.0', null, null],
    ['that is what an owner has set stays theirs', '2.0.0', '2.0.0', null, null],
    ['that is set stays', '2.0.0', '2.0.0', ours, null],
    [
      'that the agent died before setting is set',
      '2.0.0',
      'latest',
      ours,
      { act: 'hold', version: '2.0.0', held: ours },
    ],
    [
      'that has changed is changed',
      '3.0.0',
      '2.0.0',
      ours,
      { act: 'hold', version: '3.0.0', held: { ours: ['2.0.0', '3.0.0'], before: 'latest' } },
    ],
    ['that an owner has locked over is forgotten', '2.0.0', '1.5.0', ours, { act: 'forget' }],
    ['that is gone is given back', null, '2.0.0', ours, { act: 'giveBack', version: 'latest' }],
    ["that is gone leaves an owner's later lock", null, '1.5.0', ours, { act: 'forget' }],
    ['that never was asks for nothing', null, '1.5.0', null, null],
    ['waits while the lock cannot be read', '2.0.0', null, ours, null],
    [
      "waits for a way back under an owner's lock to be over",
      '2.0.0',
      '1.0.0',
      { ours: ['1.0.0'], before: '1.5.0' },
      { act: 'giveBack', version: '1.5.0' },
    ],
  ])('%s', (_what, pin, lock, held, change) => {
    expect(pinLock(pin, lock, held)).toEqual(change);
  });

  test("says why it is not at work: an owner's lock", () => {
    expect(sayPinned('2.0.0', '1.5.0')).toMatch(/version-lock is 1\.5\.0, set by its owner: .* 2\.0\.0 is not set/);
    for (const lock of ['latest', '2.0.0', null]) expect(sayPinned('2.0.0', lock)).toBeNull();
    expect(sayPinned(null, '1.5.0')).toBeNull();
  });
});

describe('the file', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'holdoff-lock-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  test('keeps what is ours until it is forgotten, twice too', () => {
    const store = openLockStore(dir);
    expect(store.load()).toBeNull();
    store.save(ours);
    expect(openLockStore(dir).load()).toEqual(ours);
    store.forget();
    store.forget();
    expect(store.load()).toBeNull();
  });

  test.each(['{"ours":', '{"ours":7}'])('that cannot be read (%s) claims nothing', (text) => {
    writeFileSync(join(dir, 'version-lock.json'), text);
    expect(openLockStore(dir).load()).toBeNull();
  });
});
