/** The worked scenarios of docs/scenarios pass, and a scenario that fails or is wrong says where. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { simulateFiles } from '../../../world/simulate/report.ts';
import { runScenario } from '../../../world/simulate/run.ts';
import { readScenario } from '../../../world/simulate/scenario.ts';

const folder = resolve(import.meta.dirname, '../../../docs/scenarios');
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');

describe('docs/scenarios', () => {
  test.each(files)(
    '%s passes',
    async (file) => {
      const scenario = readScenario(textOf(file));
      expect(scenario.steps.some((step) => step.expect !== undefined)).toBe(true);
      const { failures, passed } = await runScenario(scenario);
      expect(failures).toEqual([]);
      expect(passed).toBe(true);
    },
    120_000,
  );

  test('every worked scenario is there', () => {
    expect(files).toEqual([
      'activate-never-succeeds.json',
      'boot-rollback.json',
      'guest-powers-off.json',
      'late-scheduler.json',
      'launch-time-out.json',
      'node-never-activates.json',
      'stop-during-back-off.json',
      'twenty-vms-fail-at-once.json',
      'two-early-failures.json',
      'two-hundred-vms-fail-at-once.json',
    ]);
  });

  test('the same scenario gives the same timeline', async () => {
    const scenario = readScenario(textOf('twenty-vms-fail-at-once.json'));
    const first = await runScenario(scenario);
    expect(first.timeline.length).toBeGreaterThan(100);
    expect((await runScenario(scenario)).timeline).toEqual(first.timeline);
  });
});

const VMS = {
  web: { hostId: 'i-0000000000000000a', runStrategy: 'Always', launch: { type: 'libvirt', domain: 'web' } },
};
const run = (steps: unknown[], more: object = {}) =>
  runScenario(readScenario(JSON.stringify({ vms: VMS, steps, ...more })));
const simulate = (text: string, json = false) => simulateFiles(['a.json'], () => Promise.resolve(text), json);

const NODE = 'i-0000000000000000b';
const node = (report: object) => ({
  node: NODE,
  report: { bootId: 'b1', currentVersion: '1.0', generation: '$current', ...report },
});

describe('what a scenario may say', () => {
  test('an instance by its place, in the instances of a node too', async () => {
    const instances = [{ vmId: 'web', instanceId: '$current', phase: 'Running' }];
    const { failures } = await run([
      { at: 1, vm: 'web', report: { instanceId: '$1', phase: 'Running' } },
      {
        at: 2,
        node: VMS.web.hostId,
        report: {
          state: 'Idle',
          bootId: 'b1',
          currentVersion: '1.0',
          updateCheck: { result: 'UpToDate' },
          uptime: 1,
          instances,
        },
      },
      { at: 3, expect: { vm: 'web', match: { printableStatus: 'Running', 'instance.instanceId': '$1' } } },
      { at: 4, vm: 'web', verb: 'stop', status: { oneOf: [200, 202] } },
      { at: 5, vm: 'web', report: { instanceId: '$current', phase: 'Succeeded', cause: 'Requested' } },
      { at: 6, vm: 'web', delete: true },
      { at: 7, expect: { vm: 'web', absent: true } },
    ]);
    expect(failures).toEqual([]);
  });

  test('an alarm without its state', async () => {
    await expect(async () => run([{ at: 1, alarm: 'errors' }])).rejects.toThrow(
      /^steps\.0: alarm and state belong together/,
    );
  });
});

test('the summary says of a node what the API shows at the end, not what was last written', async () => {
  const offered = { result: 'Available', version: '1.1' };
  const { failures, summary } = await run([
    { at: 0, ...node({ state: 'Idle', updateCheck: offered, uptime: 1 }) },
    {
      at: 5,
      ...node({
        state: 'ErrorReset',
        updateCheck: offered,
        uptime: 6,
        error: { reason: 'Broken', message: 'no disk' },
      }),
    },
    { at: 10, ...node({ state: 'Idle', updateCheck: { result: 'UpToDate' }, uptime: 11 }) },
    { at: '20m', expect: { node: NODE, match: { phase: 'Idle', 'crash.count': 1 } } },
  ]);
  expect(failures).toEqual([]);
  expect(summary?.nodes).toEqual({ Idle: 1 });
  expect(summary?.failures.nodeCrashes).toBe(1);
});

describe('a failing expectation names step, expected and actual', () => {
  test('of a match', async () => {
    const { passed, failures } = await run([
      { at: 0, vm: 'web', report: { instanceId: '$current', phase: 'Running' } },
      { at: 5, expect: { vm: 'web', match: { printableStatus: 'Stopped', 'instance.since': 3 } } },
    ]);
    expect(passed).toBe(false);
    expect(failures).toHaveLength(2);
    expect(failures[0]).toMatchObject({ step: 1, at: 5, expected: 'Stopped', actual: 'Running' });
    expect(failures[0]?.what).toMatch(/^vm web: printableStatus differs; Running on host i-0000000000000000a/);
    expect(failures[1]).toMatchObject({ step: 1, expected: 3, actual: '2026-01-01T00:00:00.000Z (0 s from start)' });
  });

  test('of a count of commands, a status, and a presence', async () => {
    const { failures } = await run([
      { at: 1, expect: { vm: 'web', commands: { action: 'StartInstance', count: 2 } } },
      { at: 2, vm: 'web', verb: 'stop', status: 409 },
      { at: 3, expect: { vm: 'web', absent: true } },
      { at: 4, expect: { vm: 'db' } },
      { at: 5, vm: 'db', verb: 'start' },
    ]);
    expect(failures).toMatchObject([
      { step: 0, expected: 2, actual: 1 },
      { step: 1, expected: 409, actual: 202 },
      { step: 2, expected: 'absent', actual: 'present' },
      { step: 3, expected: 'present', actual: 'absent' },
      { step: 4, expected: 'a 2xx status', actual: 404 },
    ]);
    expect(failures[4]?.what).toContain('there is no VM db');
  });

  test('a path into null is null, and null is not a number', async () => {
    const { failures } = await run([
      {
        at: 0,
        expect: {
          vm: 'web',
          match: { 'startFailure.retryAfter': null, 'startFailure.consecutiveFailCount': { min: 0 } },
        },
      },
    ]);
    expect(failures).toMatchObject([{ step: 0, expected: { min: 0 }, actual: null }]);
  });

  test('printed, with the steps that led to it', async () => {
    const { passed, text } = await simulate(
      JSON.stringify({
        name: 'wrong',
        vms: VMS,
        steps: [{ at: 90, expect: { vm: 'web', match: { printableStatus: 'Running' } } }],
      }),
    );
    expect(passed).toBe(false);
    expect(text).toMatch(/^FAIL {2}a\.json {2}wrong\n/);
    expect(text).toContain('✗ step 0 (at 90s): vm web: printableStatus differs');
    expect(text).toContain('expected "Running"');
    expect(text).toContain('actual   "Starting"');
  });

  test('as JSON', async () => {
    const { text } = await simulate(
      JSON.stringify({ vms: VMS, steps: [{ at: 1, vm: 'web', verb: 'stop', status: 500 }] }),
      true,
    );
    expect(JSON.parse(text)).toMatchObject({
      passed: false,
      failures: [{ step: 0, expected: 500, actual: 202 }],
      timeline: expect.any(Array) as unknown,
    });
  });
});

describe('a bad file gives a clear error, and the others still run', () => {
  const step = (more: object) => JSON.stringify({ steps: [{ at: 0, ...more }] });
  test.each([
    ['{', /not JSON/],
    ['[]', /\(file\): .*expected object/i],
    ['{}', /steps: /],
    [JSON.stringify({ steps: [{ at: -1, vm: 'web', verb: 'stop' }] }), /steps\.0\.at: /],
    [JSON.stringify({ steps: [], colour: 'red' }), /\(file\): .*colour/],
    [JSON.stringify({ steps: [], start: 'yesterday' }), /start: must be an RFC 3339 instant/],
    [step({ vm: 'web' }), /steps\.0: a step does one thing of .*; this one has none/],
    [step({ vm: 'web', verb: 'stop', delete: true }), /steps\.0: .*verb and delete/],
    [step({ verb: 'stop' }), /steps\.0: name exactly one of node, vm and group/],
    [step({ vm: 'web', node: 'i-0000000a', verb: 'stop' }), /steps\.0: name exactly one/],
    [step({ group: 'default', report: {} }), /steps\.0: a group does not report/],
    [JSON.stringify({ steps: [], nodes: ['nonsense'] }), /nodes\.nonsense: not a node id/],
    [JSON.stringify({ steps: [], vms: { web: { ...VMS.web, runStrategy: 'Sometimes' } } }), /vms\.web: .*runStrategy/],
    [JSON.stringify({ steps: [], vms: { web: { ...VMS.web, maintenance: 'ignore' } } }), /vms\.web: .*maintenance/],
  ])('%s', async (text, error) => {
    const { passed, text: said } = await simulate(text);
    expect(passed).toBe(false);
    expect(said).toMatch(error);
    expect(said).toContain('not a scenario that can be run');
  });

  test('a file that cannot be read', async () => {
    const { passed, text } = await simulateFiles(
      ['gone.json', 'two-early-failures.json'],
      (file) => Promise.resolve().then(() => textOf(file)),
      false,
    );
    expect(passed).toBe(false);
    expect(text).toMatch(/FAIL {2}gone\.json\n.*cannot be read: ENOENT/);
    expect(text).toContain('PASS  two-early-failures.json');
  });
});

const IDLE = { state: 'Idle', bootId: 'b1', currentVersion: '1.0', updateCheck: { result: 'UpToDate' } };

describe('a rollout by the hour', () => {
  const read = (name: string) => textOf(join('rollouts', name));

  test('is in the result and in the text where it took that long', async () => {
    const { hours = [] } = await runScenario(readScenario(read('promotion.json')));
    expect(hours[0]).toMatchObject({
      at: 3600,
      groups: { canary: { done: 1 }, default: { done: 0, waiting: { WaitsForGroup: 1 } } },
    });
    const { text } = await simulateFiles(['promotion.json'], (name) => Promise.resolve(read(name)), false);
    expect(text).toMatch(/By the hour\n +hour \(UTC\) +group +done +under way +waiting +for what\n/);
    expect(text).toMatch(/2026-01-05 01:00 +canary +1 +0 +0 +–\n +default +0 +0 +1 +1 WaitsForGroup\n/);
  });

  test('is left out of what is over within the hour, and of what is no rollout', async () => {
    const short = JSON.stringify({ steps: [{ at: 0, node: 'i-0000000000000000a', report: IDLE }] });
    expect(await runScenario(readScenario(short))).not.toHaveProperty('hours');
    const quiet = JSON.stringify({
      steps: [
        { at: 0, node: 'i-0000000000000000a', report: IDLE },
        { at: '3h', node: 'i-0000000000000000a', report: { ...IDLE, uptime: 10_000 } },
      ],
    });
    expect(await runScenario(readScenario(quiet))).not.toHaveProperty('hours');
  });
});
