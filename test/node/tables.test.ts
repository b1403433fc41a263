/** The tables about one node: why it does not start, when it must be looked at, its place in the queue, what the gauges say. */
import { describe, expect, test } from 'vitest';
import { type Offer, offerOf } from '../../core/node/offer.ts';
import { queueKey } from '../../core/node/queue.ts';
import { waitsFor } from '../../core/node/waits-for.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { underWay } from '../../core/node/record.ts';
import { NEXT_STATE } from '../../core/node/spec.ts';
import type { Alarm } from '../../core/decision/alarm.ts';
import { nodeAlarm, nodeConcerns, nodeDueAt } from '../../core/node/timing.ts';
import { type Instant, instant, sayWhen } from '../../core/kit/time.ts';
import { at, crashedAt, iso, NODE, nodeAt, UPDATED } from './life.ts';

type Change = (node: NodeRecord) => NodeRecord;
const idle = (): NodeRecord => nodeAt('Idle').node;
const status = (node: NodeRecord) => node.status ?? expect.fail('it has reported');
const checked =
  (updateCheck: NonNullable<NodeRecord['status']>['updateCheck']): Change =>
  (node) => ({ ...node, status: { ...status(node), updateCheck } });
const reporting =
  (state: NonNullable<NodeRecord['status']>['state']): Change =>
  (node) => ({ ...node, status: { ...status(node), state } });
const crashed =
  (crash: Partial<NodeRecord['crash']>): Change =>
  (node) => ({ ...node, crash: { ...node.crash, ...crash } });
const spec =
  (more: Partial<NodeRecord['spec']>): Change =>
  (node) => ({ ...node, spec: { ...node.spec, ...more } });
const all =
  (...changes: Change[]): Change =>
  (node) =>
    changes.reduce((changed, change) => change(changed), node);
const removed: Change = (node) => ({ ...node, removed: { at: at(0), reason: 'gone' } });
const held: Change = (node) => ({ ...node, heldBy: 'ann' });
const blocked: Change = (node) => ({ ...node, blockedVersions: ['1.1'] });
const unreported: Change = (node) => ({ ...node, status: null });
const silent: Change = (node) => ({ ...node, silentSince: at(1) });
const unreachable: Change = (node) => ({ ...node, unreachableSince: at(1) });
const settled: Change = (node) => ({ ...node, waitingSince: null });
const as: Change = (node) => node;

describe('what a node could take', () => {
  const underWayNow: Change = (node) => ({ ...node, attempt: nodeAt('StagedUpdate').node.attempt });
  test.each<[string, Change, Offer]>([
    ['what is offered', as, { kind: 'newer', version: '1.1' }],
    ['what is offered, of no named version', checked({ result: 'Available' }), { kind: 'newer', version: null }],
    ['it is gone', all(removed, unreported), { kind: 'removed' }],
    ['it has not reported', unreported, { kind: 'notReported' }],
    ['it is under way', all(underWayNow, spec({ reachedAt: null })), { kind: 'underWay' }],
    ['its spec is no Idle', all(spec({ state: 'StagedUpdate' }), held), { kind: 'underWay' }],
    ['it is not back in Idle', all(spec({ reachedAt: null }), held), { kind: 'recovering' }],
    ['it does not report Idle', all(reporting('StagedUpdate'), held), { kind: 'recovering' }],
    [
      'its check failed',
      checked({ result: 'Failed', message: 'no route' }),
      { kind: 'checkFailed', message: 'no route' },
    ],
    ['its check failed silently', checked({ result: 'Failed' }), { kind: 'checkFailed', message: 'no message' }],
    ['it is up to date', checked({ result: 'UpToDate', version: '1.2' }), { kind: 'upToDate' }],
    ['it runs what is offered', checked({ result: 'Available', version: '1.0' }), { kind: 'upToDate' }],
  ])('%s', (_why, change, expected) => {
    expect(offerOf(change(idle()))).toEqual(expected);
  });
});

describe('what an Idle node with an offer waits for', () => {
  test.each<[string, Change, string[]]>([
    ['nothing', as, []],
    ['a person, and then its wait', all(held, crashed({ retryAfter: at(9) })), ['Held', 'BackingOff']],
    ['its wait', crashed({ retryAfter: at(5.001) }), ['BackingOff']],
    ['nothing, once that is over', crashed({ retryAfter: at(5) }), []],
    ['another version', blocked, ['VersionBlocked']],
    ['nothing, where another version is blocked', all(blocked, checked({ result: 'Available' })), []],
    ['a person, also with nothing offered', all(held, checked({ result: 'UpToDate' })), ['Held']],
  ])('%s', (_what, change, expected) => {
    expect(waitsFor(change(idle()), nodeAt('Idle').group(), at(5)).map(({ code }) => code)).toEqual(expected);
  });
});

describe('the alarm of a node', () => {
  const waits = all(settled, crashed({ retryAfter: at(50), resetAt: at(90) }));
  const told = spec({ reachedAt: null, acknowledgedAt: at(10) });
  test.each<[string, Change, Alarm | null]>([
    ['Idle with nothing to wait for', as, null],
    ['backing off', waits, { at: at(50), retry: true }],
    [
      'backing off, on offer of no named version',
      all(waits, checked({ result: 'Available' })),
      { at: at(50), retry: true },
    ],
    ['backing off, gone', all(waits, removed), null],
    ['backing off, held', all(waits, held), { at: at(90), retry: false }],
    ['waiting for a slot', crashed({ retryAfter: at(50) }), null],
    ['not back in Idle', all(waits, spec({ reachedAt: null, acknowledgedAt: null })), { at: at(90), retry: false }],
    ['up to date', all(waits, checked({ result: 'UpToDate' })), { at: at(90), retry: false }],
    ['check failed', all(waits, checked({ result: 'Failed' })), { at: at(90), retry: false }],
    [
      'running what is offered',
      all(waits, checked({ result: 'Available', version: '1.0' })),
      { at: at(90), retry: false },
    ],
    [
      'offered what it booted back from',
      all(waits, blocked, crashed({ lastAt: at(-86_350) })),
      { at: at(50), retry: false },
    ],
    ['reporting another state', all(waits, reporting('StagedUpdate')), { at: at(90), retry: false }],
    ['never reported', all(waits, unreported), { at: at(90), retry: false }],
    ['its record is forgotten first', all(waits, crashed({ resetAt: at(40) })), { at: at(40), retry: false }],
    ['owing us Idle', told, { at: at(130), retry: false }],
    ['owing us Idle, unreachable already', all(told, unreachable), null],
    ['owing us Idle, never reported', all(told, unreported), null],
    ['owing us Idle, not told', spec({ reachedAt: null, acknowledgedAt: null }), { at: at(120), retry: false }],
    ['owing us Idle, its wake before', all(told, spec({ nextWakeAt: at(60) })), { at: at(60), retry: false }],
    [
      'owing us Idle, heard of since',
      all(told, (n) => ({ ...n, status: { ...status(n), reportedAt: at(130) } })),
      null,
    ],
  ])('%s', (_what, change, expected) => {
    expect(nodeAlarm(change(idle()))).toEqual(expected);
  });

  test.each([
    ['StagedUpdate', 720],
    ['PerformedUpdate', 300],
    ['RebootedIntoUpdate', 900],
    ['MonitoringUpdate', 300],
  ] as const)('on the way to %s is its deadline', (state, deadline) => {
    expect(nodeAlarm(nodeAt(state).node)).toEqual({ at: at(deadline), retry: false });
  });

  test('is when the report that ends the soak time is overdue, the repeat of a wake, or the withdrawal of a step that was not picked up', () => {
    const monitored = nodeAt('MonitoringUpdate');
    monitored.to(7).report(UPDATED);
    expect(nodeAlarm(monitored.node)).toEqual({ at: at(307), retry: false });
    const asked = nodeAt('Idle');
    asked.start(false);
    expect(nodeAlarm(asked.node)).toEqual({ at: at(60), retry: false });
    expect(nodeAlarm(spec({ nextWakeAt: null })(asked.node))).toEqual({ at: at(2100), retry: false });
  });

  test('is none while it waits staged', () => {
    const life = nodeAt('StagedUpdate');
    life.paused = true;
    life.report();
    expect(nodeAlarm(life.node)).toBeNull();
  });
});

test.each<[string, Change, Instant | null]>([
  ['an Idle node when it would be silent', as, at(5400)],
  ['a silent one never', silent, null],
  ['one that never reported never', unreported, null],
  ['a tombstone never', removed, null],
  ['one that waits when its wait is over', all(settled, crashed({ retryAfter: at(50) })), at(50)],
  ['one that waits long when it would be silent', all(settled, crashed({ retryAfter: at(6000) })), at(5400)],
])('%s falls due', (_what, change, expected) => {
  expect(nodeDueAt(change(idle()))).toBe(expected);
});

test.each<[string, Change, string[]]>([
  ['an Idle node', as, []],
  ['one that waits after its second crash', all(settled, crashed({ count: 2, retryAfter: at(50) })), []],
  ['one with three crashes, waiting or under way', crashed({ count: 3 }), ['backingOff']],
  ['one that fell back from a version', (node) => ({ ...node, blockedVersions: ['1.21.0'] }), ['blocked']],
  ['an unreachable and silent one', all(unreachable, silent), ['unreachable', 'silent']],
  ['a tombstone', all(unreachable, silent, settled, crashed({ count: 3, retryAfter: at(50) }), removed), []],
])('%s is of concern as %s', (_what, change, expected) => {
  const concerns = Object.entries(nodeConcerns(change(idle())));
  expect(concerns.filter(([, concerned]) => concerned).map(([name]) => name)).toEqual(expected);
});

describe('the queue', () => {
  const key = (count: number, waitingSince: number | null): string | null =>
    queueKey({ ...crashed({ count })(idle()), waitingSince: waitingSince === null ? null : instant(waitingSince) });

  test('is ordered by crash count, then by how long a node waits, then by its id', () => {
    expect(key(2, 1_767_571_200_000)).toBe(`00000002#001767571200000#${NODE}`);
    expect(key(1e12, -5)).toBe(`99999999#000000000000000#${NODE}`);
    expect(key(0, null)).toBeNull();
  });
});

test('an instant to come is said with its wait and its date, a past one is now', () => {
  expect(sayWhen(at(12), at(0))).toBe(`in 12 s (at ${iso(12)})`);
  expect(sayWhen(at(12), at(12))).toBe('now');
  expect(sayWhen(at(12), at(13))).toBe('now');
});

test('the spec moves along the table, and round it', () => {
  expect(NEXT_STATE).toEqual({
    Idle: 'StagedUpdate',
    StagedUpdate: 'PerformedUpdate',
    PerformedUpdate: 'RebootedIntoUpdate',
    RebootedIntoUpdate: 'MonitoringUpdate',
    MonitoringUpdate: 'Idle',
  });
});

test('a node is under way from its start until it is Idle again', () => {
  expect(underWay(idle())).toBe(false);
  expect(underWay(crashedAt('StagedUpdate').node)).toBe(true);
});
