/** What a node is offered, judged by what it runs: a downgrade is refused unless its owner asks for it (scenario 20). */
import { describe, expect, test } from 'vitest';
import { decide } from '../../../agent/node/decide.ts';
import { judgeOffer, type Offer, updateCheckOf } from '../../../agent/node/offer.ts';
import type { Seen } from '../../../agent/node/move.ts';
import type { UpdateStatus } from '../../../agent/updater/update-status.ts';
import { limits, onTheWay, pending, ran, seen, status, T0 } from './node-record.ts';

const NOT_TAKEN =
  '1.9.0 is offered, which is older than 1.10.0: not taken while settings.updates.version-lock is latest; set it to 1.9.0 to go back';
const NO_LOCK = '1.9.0 is offered, which is older than 1.10.0, and settings.updates.version-lock cannot be read';

describe('an offer', () => {
  test.each<[string, string, string | null, string | null, Offer]>([
    ['newer: taken', '1.11.0', '1.10.0', 'latest', { kind: 'taken' }],
    ['newer: taken, whatever the lock', '1.11.0', '1.10.0', null, { kind: 'taken' }],
    ['the same: left to the control plane', '1.10.0', '1.10.0', 'latest', { kind: 'taken' }],
    ['older, and nobody asked for it', '1.9.0', '1.10.0', 'latest', { kind: 'older', message: NOT_TAKEN }],
    ['older, as its owner asks', '1.9.0', '1.10.0', '1.9.0', { kind: 'taken' }],
    ['older, as its owner asks with a v', '1.9.0', '1.10.0', 'v1.9.0', { kind: 'taken' }],
    ['older, and the lock cannot be read', '1.9.0', '1.10.0', null, { kind: 'unclear', message: NO_LOCK }],
    ['not to be compared: no downgrade', 'nightly', '1.10.0', 'latest', { kind: 'taken' }],
    [
      'unclear while nobody says what runs',
      '1.9.0',
      null,
      'latest',
      { kind: 'unclear', message: '1.9.0 is offered, and /os does not say what runs here' },
    ],
  ])('%s', (_what, version, running, lock, offer) => {
    expect(judgeOffer(version, running, lock)).toEqual(offer);
  });
});

const offers = (chosen: string | null, change: Partial<UpdateStatus> = {}): UpdateStatus => ({
  state: 'Available',
  staging: null,
  last: null,
  ...change,
  chosen,
});

describe('the check after a refresh', () => {
  test.each<[string, UpdateStatus, string | null, object]>([
    ['offered', offers('1.11.0'), 'latest', { result: 'Available', version: '1.11.0' }],
    ['nothing chosen', offers(null), 'latest', { result: 'UpToDate' }],
    ['Idle with an older choice left behind', offers('1.11.0', { state: 'Idle' }), 'latest', { result: 'UpToDate' }],
    [
      'nothing, since the owner locks the version',
      offers(null),
      '1.10.0',
      { result: 'UpToDate', message: 'settings.updates.version-lock is 1.10.0' },
    ],
    ['nothing, with a lock that cannot be read', offers(null), null, { result: 'UpToDate' }],
    [
      'an older one is "up to date", and says why',
      offers('1.9.0'),
      'latest',
      { result: 'UpToDate', message: NOT_TAKEN },
    ],
    ['an older one that the owner asks for', offers('1.9.0'), '1.9.0', { result: 'Available', version: '1.9.0' }],
    ['an older one, the lock unknown: not up to date', offers('1.9.0'), null, { result: 'Failed', message: NO_LOCK }],
  ])('%s', (_what, seenStatus, lock, check) => {
    expect(updateCheckOf(seenStatus, '1.10.0', lock)).toEqual(check);
  });
});

describe('staging', () => {
  const running = (change: Partial<Seen>): Seen => seen({ version: '1.10.0', ...change });
  const stage = (step = {}) =>
    onTheWay('Idle', 'StagedUpdate', { refreshed: true, ...step }, { fromVersion: '1.10.0' });
  const older = status({ chosen: '1.9.0' });
  const olderReady = status({ state: 'Ready', chosen: '1.9.0', staging: { version: '1.9.0', nextToBoot: true } });
  const newerReady = status({ state: 'Ready', chosen: '1.9.0', staging: { version: '1.11.0', nextToBoot: true } });

  test.each<[string, Partial<Seen>, string]>([
    ['refuses a downgrade', { update: older }, `DowngradeOffered: ${NOT_TAKEN}`],
    ['also one that somebody has activated', { update: olderReady }, `DowngradeOffered: ${NOT_TAKEN}`],
    ['and takes nothing back for it', { update: newerReady }, `DowngradeOffered: ${NOT_TAKEN}`],
    ['prepares what the owner asks for', { update: older, versionLock: '1.9.0' }, 'act'],
    ['takes what the owner has activated', { update: olderReady, versionLock: '1.9.0' }, 'reached StagedUpdate'],
    ['waits for a lock that cannot be read', { update: older, versionLock: null }, 'wait'],
    [
      'to the deadline',
      { update: older, versionLock: null, now: T0 + 600_000 },
      'UpdateApiUnavailable: StagedUpdate was not reached in 600 s: settings.updates.version-lock cannot be read',
    ],
  ])('%s', (_what, look, words) => {
    const move = decide({ kind: 'kept', record: stage() }, null, running(look), limits);
    const said =
      move.kind !== 'end'
        ? move.kind
        : move.record.error === null
          ? `reached ${move.record.state}`
          : `${move.record.error.reason}: ${move.record.error.message}`;
    expect(said).toBe(words);
  });

  test('reports what its own refresh has found', () => {
    const record = stage({ refreshed: false, pending: pending('refresh') });
    const update = status({ chosen: '1.9.0', last: ran('refresh') });
    expect(decide({ kind: 'kept', record }, null, running({ update }), limits)).toMatchObject({
      kind: 'note',
      record: { updateCheck: { result: 'UpToDate', message: NOT_TAKEN } },
    });
  });
});
