/** What each body may be: what is accepted, and the path at which it is refused (DESIGN section 6). */
import { describe, expect, test } from 'vitest';
import { nodeReportSchema, vmReportSchema } from '../../core/contract/agent-bodies.ts';
import {
  BODY_BYTES_MAX,
  emptyBodySchema,
  FIELDS_NOT_LANDED,
  nodeMoveBodySchema,
  recoverBodySchema,
  stopBodySchema,
  vmBodySchema,
} from '../../core/contract/operator-bodies.ts';
import {
  END_CAUSES,
  NODE_PHASES,
  PRINTABLE_STATUSES,
  REPORTED_PHASES,
  REPORTED_STATES,
  RUN_STRATEGIES,
} from '../../core/contract/words.ts';
import { groupBodySchema } from '../../core/policy/group-policy.ts';
import { LIMIT_MAX } from '../../core/policy/limit.ts';
import { accepts, issues, type Schema } from './bodies.ts';

const HOST = 'i-0000000000000000a';
const OTHER = 'i-0000000000000000b';
const text = (length: number): string => 'x'.repeat(length);
const report = { state: 'Idle', bootId: 'b', currentVersion: '1', updateCheck: { result: 'UpToDate' } };
const vmReport = { instanceId: 'web-1', phase: 'Running' };
const vm = { hostId: HOST, runStrategy: 'Always', launch: { type: 'libvirt', domain: 'web' } };
const launch = (more: object) => ({ ...vm, launch: more });
const backoff = { base: '10s', factor: 2, cap: '5m', jitter: 0.5 };
const nodeBackoff = { unit: '1s', from: 'firstCrash', cap: '24h', resetAfter: '24h' };

test('the words of the API are these', () => {
  expect(REPORTED_STATES).toEqual([
    'Idle',
    'StagedUpdate',
    'PerformedUpdate',
    'RebootedIntoUpdate',
    'MonitoringUpdate',
    'ErrorReset',
  ]);
  expect(RUN_STRATEGIES).toEqual(['Always', 'RerunOnFailure', 'Manual', 'Halted', 'Once']);
  expect(REPORTED_PHASES).toEqual(['Pending', 'Scheduled', 'Running', 'Succeeded', 'Failed']);
  expect(END_CAUSES.join(' ')).toBe(
    'Requested GuestShutdown GuestPanic GuestReset LaunchFailed LaunchTimeout Killed Unhealthy HostMaintenance HostLost Unknown',
  );
  expect(NODE_PHASES.join(' ')).toBe(
    'Unreachable Recovering Held Monitoring Updating BackingOff WaitingForWindow Queued Idle',
  );
  expect(PRINTABLE_STATUSES.join(' ')).toBe(
    'Terminating Stopping Running Starting CrashLoopBackOff Completed Failed Stopped Unknown',
  );
  expect([BODY_BYTES_MAX, LIMIT_MAX]).toEqual([262_144, 500]);
  expect(FIELDS_NOT_LANDED).toEqual({
    vm: [],
    group: [],
  });
});

describe('accepted', () => {
  test.each<[string, Schema, object]>([
    ['a report with nothing more', nodeReportSchema, report],
    [
      'a report with everything',
      nodeReportSchema,
      {
        ...report,
        generation: 0,
        updateCheck: { result: 'Available', version: text(256), message: '' },
        error: { reason: '', message: '' },
        group: 'web',
        agentVersion: '1',
        uptime: 0,
        progress: '50 %',
        drain: { blockedBy: ['a', 'b'] },
      },
    ],
    ['a check that failed', nodeReportSchema, { ...report, updateCheck: { result: 'Failed', message: 'no route' } }],
    ['progress as a number', nodeReportSchema, { ...report, progress: 3 }],
    ['progress as a record', nodeReportSchema, { ...report, progress: { of: 1 } }],
    ['a drain that is blocked by one', nodeReportSchema, { ...report, drain: { blockedBy: 'a' } }],
    ['a drain that is not blocked', nodeReportSchema, { ...report, drain: {} }],
    ['an error without a message', nodeReportSchema, { ...report, error: { reason: 'x' } }],
    ['an agent’s unknown field', nodeReportSchema, { ...report, mood: 'fine' }],
    ['a VM’s report', vmReportSchema, vmReport],
    [
      'a VM’s report with everything',
      vmReportSchema,
      { ...vmReport, uid: 'u', cause: 'Killed', message: '', console: '', mood: 'fine' },
    ],
    ['a VM', vmBodySchema, vm],
    [
      'a VM with everything',
      vmBodySchema,
      { ...vm, backoff, stableFor: '0s', startDeadline: '5m', grace: '0s', simulateCrash: true },
    ],
    ['a VM that an update of its host waits for', vmBodySchema, { ...vm, maintenance: 'block' }],
    ['other hosts, up to 16', vmBodySchema, { ...vm, hosts: Array(16).fill(OTHER) }],
    ['a start elsewhere, on these hosts', vmBodySchema, { ...vm, restartElsewhere: true, hosts: [OTHER] }],
    ['no start elsewhere', vmBodySchema, { ...vm, restartElsewhere: false }],
    ['a VM without a start deadline', vmBodySchema, { ...vm, startDeadline: 'none' }],
    ['a preset', vmBodySchema, { ...vm, backoff: { preset: 'kubevirt' } }],
    ['the other preset', vmBodySchema, { ...vm, backoff: { preset: 'seed' } }],
    ['a back-off at its lower bounds', vmBodySchema, { ...vm, backoff: { ...backoff, factor: 1, jitter: 0 } }],
    ['a back-off at its upper bounds', vmBodySchema, { ...vm, backoff: { ...backoff, factor: 10, jitter: 1 } }],
    ['a domain of 256 letters', vmBodySchema, launch({ type: 'libvirt', domain: text(256) })],
    ['256 arguments of 4096 letters', vmBodySchema, launch({ type: 'qemu', args: Array(256).fill(text(4096)) })],
    ['no arguments', vmBodySchema, launch({ type: 'qemu', args: [] })],
    ['a command', vmBodySchema, launch({ type: 'exec', command: text(4096) })],
    ['a command in words', vmBodySchema, launch({ type: 'exec', command: Array(256).fill(text(4096)) })],
    ['a group without a policy of its own', groupBodySchema, {}],
    [
      'a group with everything',
      groupBodySchema,
      {
        maxConcurrentUpdates: 500,
        backoff: nodeBackoff,
        deadlines: {
          Idle: '1s',
          StagedUpdate: '1s',
          PerformedUpdate: '1s',
          RebootedIntoUpdate: '1s',
          MonitoringUpdate: '1s',
        },
        monitor: { soak: '0s' },
      },
    ],
    ['a group that forgets no crash', groupBodySchema, { backoff: { ...nodeBackoff, resetAfter: 'none' } }],
    ['a wait from the last crash', groupBodySchema, { backoff: { ...nodeBackoff, from: 'lastCrash' } }],
    ['Brupop’s preset', groupBodySchema, { backoff: { preset: 'brupop' } }],
    ['the seed’s preset', groupBodySchema, { backoff: { preset: 'seed' } }],
    ['no limit', groupBodySchema, { maxConcurrentUpdates: 'unlimited' }],
    ['a limit of one', groupBodySchema, { maxConcurrentUpdates: 1 }],
    ['1%', groupBodySchema, { maxConcurrentUpdates: '1%' }],
    ['42%', groupBodySchema, { maxConcurrentUpdates: '42%' }],
    ['100%', groupBodySchema, { maxConcurrentUpdates: '100%' }],
    ['no body', emptyBodySchema, {}],
    ['a grace', stopBodySchema, { gracePeriod: '0s' }],
    ['a stop without a grace', stopBodySchema, {}],
    ['a recovery', recoverBodySchema, {}],
    ['a recovery that goes on', recoverBodySchema, { force: true, cursor: text(400) }],
    ['a move', nodeMoveBodySchema, { group: 'edge' }],
  ])('%s', (_what, schema, body) => {
    expect(issues(schema, body)).toEqual([]);
  });
});

describe('refused', () => {
  test.each<[string, Schema, object]>([
    ['a state that is none', nodeReportSchema, { ...report, state: 'Resting' }],
    ['a generation below 0', nodeReportSchema, { ...report, generation: -1 }],
    ['a generation that is no integer', nodeReportSchema, { ...report, generation: 1.5 }],
    ['an uptime below 0', nodeReportSchema, { ...report, uptime: -1 }],
    ['an empty boot id', nodeReportSchema, { ...report, bootId: '' }],
    ['a boot id of 257 letters', nodeReportSchema, { ...report, bootId: text(257) }],
    ['no version', nodeReportSchema, { ...report, currentVersion: undefined }],
    ['a check without a result', nodeReportSchema, { ...report, updateCheck: {} }],
    ['an error without a reason', nodeReportSchema, { ...report, error: {} }],
    ['a drain blocked by a number', nodeReportSchema, { ...report, drain: { blockedBy: 1 } }],
    ['a cause that is none', vmReportSchema, { ...vmReport, cause: 'Boredom' }],
    ['a phase that no host reports', vmReportSchema, { ...vmReport, phase: 'Unknown' }],
    ['another maintenance', vmBodySchema, { ...vm, maintenance: 'stop' }],
    ['no other host', vmBodySchema, { ...vm, hosts: [] }],
    ['17 other hosts', vmBodySchema, { ...vm, hosts: Array(17).fill(OTHER) }],
    ['another host that is none', vmBodySchema, { ...vm, hosts: ['x'] }],
    ['a VM without a host', vmBodySchema, { ...vm, hostId: undefined }],
    ['a strategy that is none', vmBodySchema, { ...vm, runStrategy: 'Sometimes' }],
    ['a launch of no known type', vmBodySchema, launch({ type: 'magic' })],
    ['an empty domain', vmBodySchema, launch({ type: 'libvirt', domain: '' })],
    ['a domain and more', vmBodySchema, launch({ type: 'libvirt', domain: 'a', cpu: 2 })],
    ['257 arguments', vmBodySchema, launch({ type: 'qemu', args: Array(257).fill('a') })],
    ['an argument of 4097 letters', vmBodySchema, launch({ type: 'qemu', args: [text(4097)] })],
    ['arguments and more', vmBodySchema, launch({ type: 'qemu', args: [], cpu: 2 })],
    ['an empty command', vmBodySchema, launch({ type: 'exec', command: '' })],
    ['a command of 4097 letters', vmBodySchema, launch({ type: 'exec', command: text(4097) })],
    ['a command of no words', vmBodySchema, launch({ type: 'exec', command: [] })],
    ['a command of 257 words', vmBodySchema, launch({ type: 'exec', command: Array(257).fill('a') })],
    ['a word of 4097 letters', vmBodySchema, launch({ type: 'exec', command: [text(4097)] })],
    ['a command and more', vmBodySchema, launch({ type: 'exec', command: 'a', cpu: 2 })],
    ['a preset that is none', vmBodySchema, { ...vm, backoff: { preset: 'brupop' } }],
    ['a preset and a base', vmBodySchema, { ...vm, backoff: { preset: 'seed', base: '1s' } }],
    ['a back-off in parts', vmBodySchema, { ...vm, backoff: { base: '1s' } }],
    ['a back-off with a base of nothing', vmBodySchema, { ...vm, backoff: { ...backoff, base: '0s' } }],
    ['a back-off with a cap of nothing', vmBodySchema, { ...vm, backoff: { ...backoff, cap: '0s' } }],
    ['a factor below 1', vmBodySchema, { ...vm, backoff: { ...backoff, factor: 0.9 } }],
    ['a factor above 10', vmBodySchema, { ...vm, backoff: { ...backoff, factor: 10.1 } }],
    ['a jitter below 0', vmBodySchema, { ...vm, backoff: { ...backoff, jitter: -0.1 } }],
    ['a jitter above 1', vmBodySchema, { ...vm, backoff: { ...backoff, jitter: 1.1 } }],
    ['a field too many in a back-off', vmBodySchema, { ...vm, backoff: { ...backoff, twist: 1 } }],
    ['a start deadline of nothing', vmBodySchema, { ...vm, startDeadline: '0s' }],
    ['a start deadline of another word', vmBodySchema, { ...vm, startDeadline: 'never' }],
    ['a limit of 0', groupBodySchema, { maxConcurrentUpdates: 0 }],
    ['a limit of 501', groupBodySchema, { maxConcurrentUpdates: 501 }],
    ['a limit of half a node', groupBodySchema, { maxConcurrentUpdates: 1.5 }],
    ['0%', groupBodySchema, { maxConcurrentUpdates: '0%' }],
    ['101%', groupBodySchema, { maxConcurrentUpdates: '101%' }],
    ['1000%', groupBodySchema, { maxConcurrentUpdates: '1000%' }],
    ['05%', groupBodySchema, { maxConcurrentUpdates: '05%' }],
    ['5', groupBodySchema, { maxConcurrentUpdates: '5' }],
    ['a5%', groupBodySchema, { maxConcurrentUpdates: 'a5%' }],
    ['5%a', groupBodySchema, { maxConcurrentUpdates: '5%a' }],
    ['a%', groupBodySchema, { maxConcurrentUpdates: 'a%' }],
    ['1a%', groupBodySchema, { maxConcurrentUpdates: '1a%' }],
    ['another preset', groupBodySchema, { backoff: { preset: 'kubevirt' } }],
    ['a preset and a unit', groupBodySchema, { backoff: { preset: 'seed', unit: '1s' } }],
    ['a unit of nothing', groupBodySchema, { backoff: { ...nodeBackoff, unit: '0s' } }],
    ['a cap of nothing', groupBodySchema, { backoff: { ...nodeBackoff, cap: '0s' } }],
    ['a reset after nothing', groupBodySchema, { backoff: { ...nodeBackoff, resetAfter: '0s' } }],
    ['a reset after another word', groupBodySchema, { backoff: { ...nodeBackoff, resetAfter: 'never' } }],
    ['a wait from nowhere', groupBodySchema, { backoff: { ...nodeBackoff, from: 'now' } }],
    ['a deadline of nothing', groupBodySchema, { deadlines: { Idle: '0s' } }],
    ['a deadline of a state that is no spec', groupBodySchema, { deadlines: { ErrorReset: '1s' } }],
    ['eleven alarms', groupBodySchema, { haltOnAlarm: Array.from({ length: 11 }, (_, n) => `a${n}`) }],
    ['an alarm twice', groupBodySchema, { haltOnAlarm: ['latency', 'latency'] }],
    ['an alarm without a name', groupBodySchema, { haltOnAlarm: [''] }],
    ['zones without a limit', groupBodySchema, { spread: 'zone', maxConcurrentUpdates: 'unlimited' }],
    ['a pin that is skipped', groupBodySchema, { version: { pin: '1.2', skip: ['1.2'] } }],
    ['a breaker of nothing', groupBodySchema, { breaker: { failures: 0, within: '1h' } }],
    ['a breaker of 101 nodes', groupBodySchema, { breaker: { failures: 101, within: '1h' } }],
    ['a breaker over more than a week', groupBodySchema, { breaker: { failures: 1, within: '169h' } }],
    ['a node that is first and last', groupBodySchema, { order: { first: [HOST], last: [HOST] } }],
    ['nobody unavailable', groupBodySchema, { maxUnavailable: 0 }],
    ['another spread', groupBodySchema, { spread: 'host' }],
    ['a body where none is wanted', emptyBodySchema, { now: true }],
    ['a grace and more', stopBodySchema, { force: true }],
    ['a recovery by another word', recoverBodySchema, { force: 'yes' }],
    ['a cursor of 401 letters', recoverBodySchema, { cursor: text(401) }],
    ['a recovery and more', recoverBodySchema, { now: true }],
    ['a move to nowhere', nodeMoveBodySchema, {}],
    ['a move and more', nodeMoveBodySchema, { group: 'edge', now: true }],
  ])('%s', (_what, schema, body) => {
    expect(accepts(schema, body)).toBe(false);
  });

  const NAME =
    'must be 1 to 63 letters, digits, dots, underscores or hyphens, beginning and ending with a letter or digit';
  test.each<[Schema, object, string[]]>([
    [stopBodySchema, { gracePeriod: '5' }, ['gracePeriod: must be a duration such as 90s, 15m or 24h, at most 365d']],
    [
      vmBodySchema,
      { ...vm, restartElsewhere: true },
      ['restartElsewhere: needs hosts: the nodes on which the VM may be started when its own is fenced'],
    ],
    [vmBodySchema, { ...vm, hostId: 'x' }, ['hostId: must be i- with 8 or 17 hexadecimal digits, or mi- with 17']],
    [
      groupBodySchema,
      { deadlines: { Idle: '0s' } },
      ['deadlines.Idle: must be a duration such as 90s, 15m or 24h, longer than nothing and at most 365d'],
    ],
    [
      groupBodySchema,
      { deadlines: { Idle: 'x' } },
      ['deadlines.Idle: must be a duration such as 90s, 15m or 24h, longer than nothing and at most 365d'],
    ],
    [
      groupBodySchema,
      {
        monitor: {
          checks: [
            { name: 'a', type: 'tcp', port: 1, timeout: '59s' },
            { name: 'b', type: 'tcp', port: 2, timeout: '60s' },
          ],
        },
        deadlines: { MonitoringUpdate: '1m' },
      },
      [
        'monitor.checks.1.timeout: must be shorter than the deadline of MonitoringUpdate (5m unless set), in which it has to pass; the default is 5s',
      ],
    ],
    [nodeMoveBodySchema, { group: '-' }, [`group: ${NAME}`]],
    [
      vmReportSchema,
      { ...vmReport, instanceId: '-' },
      [
        'instanceId: must be 1 to 128 letters, digits, dots, underscores, colons or hyphens, beginning and ending with a letter or digit',
      ],
    ],
    [emptyBodySchema, { now: true }, [': Unrecognized key: "now"']],
    [nodeReportSchema, { ...report, bootId: '' }, ['bootId: must have 1 to 256 characters']],
  ])('%# says where and why', (schema, body, expected) => {
    expect(issues(schema, body)).toEqual(expected);
  });

  test('a limit of no form says which forms there are', () => {
    const { error } = groupBodySchema.safeParse({ maxConcurrentUpdates: 'many' });
    expect(JSON.stringify(error?.issues)).toContain(
      'must be a number from 1 to 500, a percentage from 1% to 100%, or unlimited',
    );
  });
});
