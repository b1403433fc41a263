/** What Brupop #160 says and what its reviewers asked for (docs/seed-coverage.md). */
import { describe, expect, test } from 'vitest';
import { nodeBackoffOf, nodeRetryAfter } from '../../core/policy/backoff.ts';
import { hours, instant, minutes, parseDuration, seconds } from '../../core/kit/time.ts';
import { nodeIdentity, OPERATOR } from '../../world/environment.ts';
import { World } from '../../world/simulate/world.ts';
import { A, B, crashes, looksLike, reports, tell } from './story.ts';

const NOTHING = {
  count: 0,
  firstAt: null,
  lastAt: null,
  retryAfter: null,
  resetAt: null,
  lastState: null,
  lastReason: null,
  lastMessage: null,
};

/** Enrols a node at `at`, and lets it stage and fail to activate one and two seconds later. */
const firstCrash = (at: number, node: string): object[] => [
  reports(at, node, { state: 'Idle', generation: null }),
  reports(at + 1, node, { state: 'StagedUpdate' }),
  crashes(at + 2, node),
];

describe('a crash', () => {
  test('sets the spec to Idle', () =>
    tell([...firstCrash(0, A), looksLike(2, A, { 'spec.state': 'Idle', 'spec.generation': 4 })]));

  test('records when the first one was, and keeps it', () =>
    tell([
      ...firstCrash(0, A),
      looksLike(2, A, { 'crash.firstAt': 2, 'crash.lastAt': 2 }),
      reports(3, A, { state: 'Idle' }),
      reports(5, A, { state: 'StagedUpdate' }),
      crashes(9, A),
      looksLike(9, A, { 'crash.firstAt': 2, 'crash.lastAt': 9 }),
    ]));

  test('counts one, also when it is reported twice', () =>
    tell([
      ...firstCrash(0, A),
      looksLike(2, A, { 'crash.count': 1 }),
      crashes(3, A),
      crashes(4, A),
      looksLike(4, A, { 'crash.count': 1 }),
      // The same report again, with the generation that it was sent for: late, and after the next one too.
      reports(5, A, { state: 'ErrorReset', generation: '$previous', error: { reason: 'ActivateFailed' } }),
      looksLike(5, A, { 'crash.count': 1, 'crash.lastAt': 2 }),
      reports(6, A, { state: 'Idle', offered: null }),
      reports(7, A, { state: 'ErrorReset', generation: '$previous', error: { reason: 'ActivateFailed' } }),
      looksLike(7, A, { 'crash.count': 1, 'crash.lastAt': 2 }),
    ]));

  test('emits a metric, once', async () => {
    const world = new World({ start: instant(0), seed: 1, timerLateness: 0 });
    const report = {
      bootId: 'boot-1',
      currentVersion: '1.20.5',
      updateCheck: { result: 'Available', version: '1.21.0' },
    };
    const send = (body: object) =>
      world.call('POST', `/v1/nodes/${A}/reports`, { ...report, ...body }, nodeIdentity(A));
    expect((await send({ state: 'Idle' })).status).toBe(200);
    expect(world.metrics.get('NodeCrash')).toBe(0);
    const failure = { state: 'ErrorReset', generation: 2, error: { reason: 'PrepareFailed' } };
    expect((await send(failure)).status).toBe(200);
    expect((await send(failure)).status).toBe(200);
    expect(world.metrics.get('NodeCrash')).toBe(1);
    expect((await world.call('GET', `/v1/nodes/${A}`, undefined, OPERATOR)).body).toMatchObject({
      crash: { count: 1 },
    });
  });

  test('is one record, empty as a whole once it is cleared', () =>
    tell([
      ...firstCrash(0, A),
      looksLike(2, A, {
        crash: {
          count: 1,
          firstAt: '2026-01-05T00:00:02.000Z',
          lastAt: '2026-01-05T00:00:02.000Z',
          retryAfter: '2026-01-05T00:00:04.000Z',
          resetAt: '2026-01-06T00:00:02.000Z',
          lastState: 'PerformedUpdate',
          lastReason: 'ActivateFailed',
          lastMessage: 'exit 1',
        },
      }),
      reports(3, A, { state: 'Idle', offered: null }),
      looksLike('25h', A, { crash: NOTHING }),
    ]));
});

describe('recovery', () => {
  test('nothing moves until the node is Idle again', () =>
    tell([
      ...firstCrash(0, A),
      reports(2.5, B, { state: 'Idle', generation: null }),
      crashes(60, A),
      reports(120, A, { state: 'StagedUpdate' }),
      looksLike(120, A, { 'spec.state': 'Idle', phase: 'Recovering', 'status.state': 'StagedUpdate' }),
      looksLike(120, B, { phase: 'Queued' }),
    ]));

  test('a crashed node keeps its slot until it is Idle, so that one after the other does not go down', () =>
    tell([
      ...firstCrash(0, A),
      reports(3, B, { state: 'Idle', generation: null }),
      looksLike(50, B, { 'spec.state': 'Idle', phase: 'Queued' }),
      reports(60, A, { state: 'Idle' }),
      looksLike(61, B, { 'spec.state': 'StagedUpdate' }),
    ]));

  test('each attempt begins in Idle and takes what is offered then', () =>
    tell([
      ...firstCrash(0, A),
      reports(3, A, { state: 'Idle', offered: '1.21.1' }),
      looksLike(3, A, { 'spec.state': 'Idle', 'spec.version': null }),
      looksLike(4, A, { 'spec.state': 'StagedUpdate', 'spec.version': '1.21.1' }),
    ]));
});

describe('waiting', () => {
  test('lasts until 2^count seconds after the first crash', () =>
    tell([
      ...firstCrash(10, A),
      looksLike(12, A, { 'crash.retryAfter': 14 }),
      reports(12.5, A, { state: 'Idle' }),
      looksLike(13.9, A, { phase: 'BackingOff', 'spec.state': 'Idle' }),
      looksLike(14, A, { 'spec.state': 'StagedUpdate' }),
      reports(15, A, { state: 'StagedUpdate' }),
      crashes(15.5, A),
      looksLike(15.5, A, { 'crash.retryAfter': 16 }),
      reports(15.6, A, { state: 'Idle' }),
      reports(17, A, { state: 'StagedUpdate' }),
      crashes(17.5, A),
      looksLike(17.5, A, { 'crash.count': 3, 'crash.retryAfter': 20 }),
    ]));

  test('doubles with each crash', () =>
    tell([
      ...firstCrash(0, A),
      reports(3, A, { state: 'Idle' }),
      crashes(5, A, 'PrepareFailed'),
      reports(5.5, A, { state: 'Idle' }),
      crashes(6.5, A, 'PrepareFailed'),
      looksLike(6.5, A, { 'crash.count': 3, 'crash.retryAfter': 10 }),
      reports(7, A, { state: 'Idle' }),
      crashes(11, A, 'PrepareFailed'),
      looksLike(11, A, { 'crash.count': 4, 'crash.retryAfter': 18 }),
    ]));

  test('is 24 hours at most, whatever the count', () => {
    const backoff = nodeBackoffOf({ preset: 'brupop' });
    const crashes = { firstAt: instant(0), lastAt: instant(1000) };
    for (const count of [11, 12, 60, 10_000]) {
      for (const disruptive of [false, true])
        expect(nodeRetryAfter(backoff, { ...crashes, count, disruptive })).toBe(1000 + hours(24));
    }
  });

  test('a node that waits is skipped, and another one is taken', () =>
    tell([
      ...firstCrash(0, A),
      reports(2.5, A, { state: 'Idle' }),
      reports(3, B, { state: 'Idle', generation: null }),
      looksLike(3, A, { phase: 'BackingOff', 'spec.state': 'Idle' }),
      looksLike(3, B, { 'spec.state': 'StagedUpdate' }),
    ]));

  test('is forgotten 24 hours after the first crash, and the node is treated as any', () =>
    tell([
      ...firstCrash(0, A),
      reports(3, A, { state: 'Idle', offered: null }),
      looksLike(86_401, A, { 'crash.count': 1 }),
      looksLike(86_402, A, { crash: NOTHING }),
      reports(86_403, A, { state: 'Idle' }),
      looksLike(86_403, A, { 'spec.state': 'StagedUpdate' }),
    ]));
});

describe('choosing', () => {
  test('the lowest crash count goes first, whoever waited longest', () =>
    tell([
      ...firstCrash(0, A),
      reports(2.5, A, { state: 'Idle' }),
      reports(3, 'i-0000000000000000c', { state: 'Idle', generation: null }),
      looksLike(10, A, { phase: 'Queued' }),
      reports(20, B, { state: 'Idle', generation: null }),
      crashes(30, 'i-0000000000000000c'),
      reports(31, 'i-0000000000000000c', { state: 'Idle', offered: null }),
      looksLike(31, B, { 'spec.state': 'StagedUpdate' }),
      looksLike(31, A, { phase: 'Queued' }),
    ]));

  test('a lower count goes first among nodes that have both crashed, ten times and twice', async () => {
    const OTHER = 'i-0000000000000000c';
    const DAY = 100_000;
    const crashed = (from: number, node: string, times: number): object[] =>
      Array.from({ length: times }, (_, i) => [
        reports(from + DAY * i, node, { state: 'Idle', ...(i === 0 ? { generation: null } : {}) }),
        crashes(from + DAY * i + 1, node, 'PrepareFailed'),
        reports(from + DAY * i + 2, node, { state: 'Idle', offered: null }),
      ]).flat();
    await tell(
      [
        ...crashed(0, A, 10),
        ...crashed(DAY * 11, B, 2),
        reports(DAY * 14, OTHER, { state: 'Idle', generation: null }),
        reports(DAY * 14 + 1, A, { state: 'Idle' }),
        reports(DAY * 14 + 2, B, { state: 'Idle' }),
        looksLike(DAY * 14 + 3, A, { 'crash.count': 10, phase: 'Queued' }),
        looksLike(DAY * 14 + 3, B, { 'crash.count': 2, phase: 'Queued' }),
        crashes(DAY * 14 + 10, OTHER, 'PrepareFailed'),
        reports(DAY * 14 + 11, OTHER, { state: 'Idle', offered: null }),
        looksLike(DAY * 14 + 12, B, { 'spec.state': 'StagedUpdate' }),
        looksLike(DAY * 14 + 12, A, { phase: 'Queued' }),
      ],
      { groups: { default: { maxConcurrentUpdates: 1, backoff: { preset: 'brupop' } } } },
    );
  });

  test('a node without a status waits and comes last', () =>
    tell(
      [
        looksLike(5, A, { phase: 'Idle', 'spec.state': 'Idle', status: null }),
        reports(6, B, { state: 'Idle', generation: null }),
        looksLike(6, B, { 'spec.state': 'StagedUpdate' }),
        looksLike(6, A, { 'spec.state': 'Idle' }),
      ],
      { nodes: [A] },
    ));
});

const BOOTED = { boot: 'boot-2', version: '1.21.0', offered: null };

/** After one crash, the second attempt goes well up to the soak time, which passes at 135. */
const secondAttempt = (): object[] => [
  ...firstCrash(0, A),
  reports(3, A, { state: 'Idle' }),
  reports(5, A, { state: 'StagedUpdate' }),
  reports(6, A, { state: 'PerformedUpdate' }),
  reports(10, A, { state: 'RebootedIntoUpdate', ...BOOTED }),
  reports(15, A, { state: 'MonitoringUpdate', ...BOOTED }),
];

describe('success', () => {
  test('clears the crash count and the timestamps', () =>
    tell([
      ...secondAttempt(),
      reports(139, A, { state: 'MonitoringUpdate', ...BOOTED }),
      reports(140, A, { state: 'Idle', ...BOOTED }),
      looksLike(140, A, { crash: NOTHING, phase: 'Idle' }),
    ]));

  test('is not success before Idle is reached: until then the record stays', () =>
    tell([
      ...secondAttempt(),
      looksLike(16, A, { 'spec.state': 'MonitoringUpdate', 'crash.count': 1 }),
      reports(138, A, { state: 'MonitoringUpdate', ...BOOTED }),
      looksLike(139, A, { 'spec.state': 'Idle', 'crash.count': 1, 'crash.firstAt': 2 }),
      reports(140, A, { state: 'ErrorReset', ...BOOTED, error: { reason: 'Unhealthy' } }),
      reports(141, A, { state: 'Idle', ...BOOTED }),
      looksLike(141, A, { 'crash.count': 1, 'crash.firstAt': 2 }),
    ]));
});

test('three old hosts are brought to the new version, one after the other', () => {
  const HOSTS = [A, B, 'i-0000000000000000c'];
  const others = (host: string) => HOSTS.filter((it) => it !== host);
  const updated = (at: number, host: string): object[] => [
    looksLike(at, host, { 'spec.state': 'StagedUpdate' }),
    ...others(host).map((other) => looksLike(at, other, { 'spec.state': 'Idle' })),
    reports(at + 1, host, { state: 'StagedUpdate' }),
    reports(at + 2, host, { state: 'PerformedUpdate' }),
    reports(at + 60, host, { state: 'RebootedIntoUpdate', ...BOOTED }),
    reports(at + 61, host, { state: 'MonitoringUpdate', ...BOOTED }),
    reports(at + 200, host, { state: 'MonitoringUpdate', ...BOOTED }),
    reports(at + 201, host, { state: 'Idle', ...BOOTED }),
    looksLike(at + 202, host, { 'status.currentVersion': '1.21.0', phase: 'Idle', crash: NOTHING }),
  ];
  return tell([
    ...HOSTS.map((host, i) => reports(i, host, { state: 'Idle', generation: null })),
    ...HOSTS.flatMap((host, i) => updated(10 + 300 * i, host)),
  ]);
});

test('durations are typed and written with their unit', () => {
  expect(parseDuration('1.5m')).toBe(seconds(90));
  expect(parseDuration('90')).toBeNull();
  expect(nodeBackoffOf({ preset: 'brupop' })).toMatchObject(
    nodeBackoffOf({ unit: '60s', from: 'lastCrash', cap: '24h', resetAfter: 'none' }),
  );
  expect(nodeBackoffOf({ unit: '1m', from: 'lastCrash', cap: '1d', resetAfter: 'none' })).toMatchObject({
    unit: minutes(1),
    cap: hours(24),
  });
});
