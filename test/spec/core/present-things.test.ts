/** Nodes, VMs and events as people read them: tones, order, cells, rows and fields. */
import { describe, expect, test } from 'vitest';
import {
  NODE_PHASES,
  PRINTABLE_STATUSES,
  type EventEntry,
  type NodeJson,
  type VmJson,
} from '../../../core/contract.ts';
import { EVENT_ROW, eventLine, eventRows, eventsByAge, eventTable } from '../../../core/present/events.ts';
import {
  NODE_ROW,
  nodeFields,
  nodeRows,
  nodesByAttention,
  nodeTable,
  nodeTone,
  sayUpdateCheck,
} from '../../../core/present/nodes.ts';
import { VM_ROW, vmFields, vmRows, vmsByAttention, vmTable, vmTone } from '../../../core/present/vms.ts';
import type { Surface } from '../../../core/present/table.ts';
import { crashedNode, event, idleNode, loopingVm, NODE_A, NOW, runningVm } from '../../cli/fleet.ts';
import { there } from './there.ts';

const wide: Surface = { width: 200, colour: false, now: NOW, fit: 'wrap' };
const plain = (at: string): string => at;
const fieldsOf = (fields: readonly { label: string; text: string; tone?: string | undefined }[]): string[] =>
  fields.map(({ label, text, tone }) => `${label}: ${text}${tone === undefined ? '' : ` [${tone}]`}`);
const columnsOf = (text: string, line = 0): string[] => (text.split('\n')[line] ?? '').split(/ {2,}/);
const status = (changes: Partial<NonNullable<NodeJson['status']>>): NonNullable<NodeJson['status']> => ({
  ...(idleNode().status ?? expect.fail('it has reported')),
  ...changes,
});
const crashes = (count: number): NodeJson['crash'] => ({ ...idleNode().crash, count });

describe('nodes', () => {
  test('each phase has its tone', () => {
    expect(NODE_PHASES.map((phase) => `${phase} ${nodeTone(idleNode({ phase }))}`)).toEqual([
      'Unreachable bad',
      'Recovering warn',
      'Held warn',
      'Monitoring busy',
      'Updating busy',
      'BackingOff bad',
      'WaitingForWindow quiet',
      'Queued quiet',
      'Idle good',
    ]);
  });

  test('an Idle one is a warning while its check fails or it has crashed', () => {
    expect(nodeTone(idleNode({ status: status({ updateCheck: { result: 'Failed' } }) }))).toBe('warn');
    expect(nodeTone(idleNode({ crash: crashes(1) }))).toBe('warn');
    expect(nodeTone(idleNode({ phase: 'Queued', crash: crashes(1) }))).toBe('quiet');
    expect(nodeTone(idleNode({ status: null }))).toBe('good');
  });

  test('come in the order in which a person looks at them', () => {
    const byPhase = nodesByAttention([...NODE_PHASES].reverse().map((phase) => idleNode({ phase })));
    expect(byPhase.map(({ phase }) => phase).join(' ')).toBe(
      'Unreachable BackingOff Recovering Held Monitoring Updating WaitingForWindow Queued Idle',
    );
    const nodes = [
      idleNode({ nodeId: 'd', phase: 'Monitoring' }),
      idleNode({ nodeId: 'c', crash: crashes(1) }),
      idleNode({ nodeId: 'b', crash: crashes(2) }),
      idleNode({ nodeId: 'a', crash: crashes(1) }),
      idleNode({ nodeId: 'e', phase: 'Held' }),
    ];
    expect(nodesByAttention(nodes).map(({ nodeId }) => nodeId)).toEqual(['e', 'b', 'a', 'c', 'd']);
    expect(nodes[0]?.nodeId).toBe('d');
  });

  test('have these columns, and a retry only while they wait for one', () => {
    const waiting = crashedNode({ phase: 'Recovering' });
    const table = nodeTable([waiting, crashedNode({ phase: 'Queued' })], wide);
    expect(columnsOf(table)).toEqual(['NODE', 'GROUP', 'PHASE', 'STEP', 'VERSION', 'CRASHES', 'NEXT', 'WHY']);
    expect(columnsOf(table, 1)).toContain('retry in 12 s');
    expect(table.match(/retry/g)).toHaveLength(1);
  });

  test('show the version that runs, and the one that is wanted where it is another', () => {
    const version = (wanted: string | null): string =>
      columnsOf(nodeTable([idleNode({ spec: { ...idleNode().spec, version: wanted } })], wide), 1)[4] ?? '';
    expect([version(null), version('1.20.0'), version('1.21.0')]).toEqual(['1.20.0', '1.20.0', '1.20.0 → 1.21.0']);
  });

  test('colour their crashes, their phase and their retry', () => {
    const table = nodeTable([crashedNode(), idleNode()], { ...wide, colour: true });
    expect(table).toContain('\u001b[1m\u001b[31m3\u001b[39m\u001b[22m');
    expect(table).toContain('\u001b[2m0\u001b[22m');
    expect(table).toContain('\u001b[1m\u001b[31mretry in 12 s\u001b[39m\u001b[22m');
    expect(table).toContain('\u001b[32mIdle\u001b[39m');
    expect(table).toContain('\u001b[2mNODE\u001b[22m');
  });

  test('give up their columns one after the other on a narrow screen', () => {
    const titles = (width: number): string[] => columnsOf(nodeTable([crashedNode()], { ...wide, width }));
    expect(titles(103)).toContain('VERSION');
    expect(titles(95)).not.toContain('VERSION');
    expect(titles(84)).not.toContain('STEP');
    expect(titles(79)).toEqual(['NODE', 'PHASE', 'CRASHES', 'NEXT', 'WHY']);
    expect(titles(78)).toEqual(['NODE', 'PHASE', 'NEXT', 'WHY']);
    expect(titles(50)).toEqual(['NODE', 'PHASE', 'WHY']);
    expect(titles(10)).toEqual(['NODE', 'PHASE', 'WHY']);
  });

  test.each<[NonNullable<NodeJson['status']>['updateCheck'], string]>([
    [{ result: 'UpToDate', version: '9' }, 'up to date'],
    [{ result: 'Available', version: '9' }, '9 is available'],
    [{ result: 'Available' }, 'a newer version is available'],
    [{ result: 'Failed', message: 'no route' }, 'update check failed: no route'],
    [{ result: 'Failed' }, 'update check failed: no reason given'],
  ])('%j is said in words', (check, said) => {
    expect(sayUpdateCheck(check)).toBe(said);
  });

  test('in full have every field, with its tone', () => {
    const node = crashedNode({
      blockedVersions: ['1', '2'],
      heldBy: 'ann',
      spec: { ...idleNode().spec, version: '9' },
    });
    expect(fieldsOf(nodeFields(node, plain))).toEqual([
      `Explanation: ${node.explanation} [bad]`,
      `Node: ${node.nodeId}`,
      'Phase: BackingOff [bad]',
      'Group: canary',
      'Wanted state: Idle',
      'Wanted since: 2026-01-05T00:00:00.000Z',
      'Wanted version: 9',
      'Generation: 7',
      'Reported state: Idle',
      'Reported at: 2026-01-05T00:09:48.000Z',
      'Running version: 1.20.0',
      'Update check: up to date',
      'Boot id: boot-1',
      'Agent version: 0.1.0',
      'Crashes: 3 [bad]',
      'First crash: 2026-01-05T00:05:00.000Z',
      'Last crash: 2026-01-05T00:09:40.000Z',
      'Failed to reach: PerformedUpdate',
      'Reason: ActivateFailed',
      'Message: exit status 1',
      'Retry: 2026-01-05T00:10:12.000Z',
      'Record cleared: 2026-01-06T00:05:00.000Z',
      'Blocked versions: 1, 2',
      'Held by: ann [warn]',
    ]);
    expect(fieldsOf(nodeFields(idleNode({ status: null }), plain)).slice(6)).toEqual([
      'Wanted version: none',
      'Generation: 7',
      'Reported state: never reported [warn]',
      'Crashes: 0',
      'Blocked versions: none',
      'Held by: nobody',
    ]);
    const bare = idleNode({ status: status({ agentVersion: null, updateCheck: { result: 'Failed' } }) });
    expect(fieldsOf(nodeFields(bare, plain))).toEqual(
      expect.arrayContaining(['Agent version: not said', 'Update check: update check failed: no reason given [warn]']),
    );
  });

  test('in rows have the columns that help texts name', () => {
    expect(NODE_ROW.split(' ')).toHaveLength(nodeRows([idleNode()]).split('\t').length);
    expect(nodeRows([idleNode({ spec: { ...idleNode().spec, version: '9' } })]).split('\t')[6]).toBe('9');
    expect(NODE_ROW).toBe(
      'nodeId group phase specState reportedState currentVersion wantedVersion crashCount retryAfter reportedAt explanation',
    );
  });
});

describe('VMs', () => {
  const failing = (starts: number, shortRuns: number, more: Partial<VmJson> = {}): VmJson => {
    const startFailure = there(loopingVm().startFailure);
    return loopingVm({
      startFailure: starts === 0 ? null : { ...startFailure, consecutiveFailCount: starts },
      unstableRuns: shortRuns === 0 ? null : { count: shortRuns, retryAfter: null },
      ...more,
    });
  };

  test('each status has its tone, and its place in the order in which a person looks', () => {
    expect(
      PRINTABLE_STATUSES.map((printableStatus) => `${printableStatus} ${vmTone(runningVm({ printableStatus }))}`),
    ).toEqual([
      'Terminating busy',
      'Stopping busy',
      'Running good',
      'Starting busy',
      'CrashLoopBackOff bad',
      'Completed quiet',
      'Failed bad',
      'Stopped quiet',
      'Unknown warn',
    ]);
    const vms = [...PRINTABLE_STATUSES].reverse().map((printableStatus) => runningVm({ printableStatus }));
    expect(
      vmsByAttention(vms)
        .map(({ printableStatus }) => printableStatus)
        .join(' '),
    ).toBe('CrashLoopBackOff Failed Unknown Terminating Stopping Starting Running Completed Stopped');
  });

  test('those with more failures come first, then by id', () => {
    const vms = [
      failing(1, 0, { vmId: 'c' }),
      failing(1, 0, { vmId: 'a' }),
      failing(1, 2, { vmId: 'b' }),
      failing(2, 0, { vmId: 'd' }),
    ];
    expect(vmsByAttention(vms).map(({ vmId }) => vmId)).toEqual(['b', 'd', 'a', 'c']);
    expect(vms[0]?.vmId).toBe('c');
  });

  test.each([
    [0, 0, '0'],
    [1, 0, '1 start'],
    [0, 2, '2 short runs'],
    [2, 1, '2 starts, 1 short run'],
  ])('%d starts and %d short runs are said as %s', (starts, shortRuns, said) => {
    const table = vmTable([failing(starts, shortRuns)], wide);
    expect(columnsOf(table)).toEqual(['VM', 'HOST', 'STRATEGY', 'STATUS', 'FAILURES', 'NEXT', 'WHY']);
    expect(columnsOf(table, 1)[4]).toBe(said);
  });

  test('colour their failures, their status and their retry', () => {
    const table = vmTable([loopingVm(), runningVm()], { ...wide, colour: true });
    expect(table).toContain('\u001b[1m\u001b[31m2 starts\u001b[39m\u001b[22m');
    expect(table).toContain('\u001b[1m\u001b[31mretry in 20 s\u001b[39m\u001b[22m');
    expect(table).toContain('\u001b[2m0\u001b[22m');
    expect(table).toContain('\u001b[32mRunning\u001b[39m');
  });

  test('give up their columns one after the other on a narrow screen', () => {
    const titles = (width: number): string[] => columnsOf(vmTable([loopingVm()], { ...wide, width }));
    expect(titles(86)).not.toContain('HOST');
    expect(titles(68)).not.toContain('STRATEGY');
    expect(titles(60)).toContain('NEXT');
    expect(titles(40)).toEqual(['VM', 'STATUS', 'WHY']);
  });

  test('in full have every field, with its tone', () => {
    const vm = failing(2, 3, {
      power: { on: false, sequence: 4 },
      instance: { instanceId: 'web-3', phase: 'Failed', since: 'then', everRunning: false, cause: 'Killed' },
      unstableRuns: { count: 3, retryAfter: 'soon' },
    });
    expect(fieldsOf(vmFields(vm, plain))).toEqual([
      `Explanation: ${vm.explanation} [bad]`,
      'VM: web',
      'Status: CrashLoopBackOff [bad]',
      `Host: ${NODE_A}`,
      'Run strategy: Always',
      'Power: off (intent 4)',
      'Declaration: u-1',
      'Instance: web-3',
      'Instance phase: Failed',
      'Phase since: then',
      'Ever running: no',
      'Cause of its end: Killed',
      'Start failures: 2 [bad]',
      'Failed instance: web-2',
      'Start failure: LaunchFailed: exit 1',
      'Next start: 2026-01-05T00:10:20.000Z',
      'Short runs: 3 [bad]',
      'Next run: soon',
      'Restarts: 1',
      'Last failure: LaunchFailed: exit 1',
      'Failed at: 2026-01-05T00:09:50.000Z',
    ]);
    expect(fieldsOf(vmFields(runningVm(), plain)).slice(5)).toEqual([
      'Power: on (intent 1)',
      'Declaration: u-1',
      'Instance: db-1',
      'Instance phase: Running',
      'Phase since: 2026-01-05T00:00:00.000Z',
      'Ever running: yes',
      'Start failures: 0',
      'Short runs: 0',
      'Restarts: 0',
      'Last failure: none',
    ]);
    const startFailure = there(vm.startFailure);
    const silent = failing(1, 1, {
      startFailure: { ...startFailure, message: null },
      lastFailure: { reason: 'Killed', message: null, console: null, at: 'then' },
    });
    const fields = fieldsOf(vmFields(silent, plain));
    expect(fields).toEqual(
      expect.arrayContaining(['Instance: none', 'Start failure: LaunchFailed', 'Last failure: Killed']),
    );
    expect(fields.some((field) => field.startsWith('Next run'))).toBe(false);
  });

  test('in rows have the columns that help texts name', () => {
    expect(VM_ROW).toBe(
      'vmId hostId runStrategy printableStatus startFailures unstableRuns retryAfter instanceId restartCount explanation',
    );
    expect(
      vmRows([failing(0, 3)])
        .split('\t')
        .slice(4, 8),
    ).toEqual(['0', '3', '', '']);
    expect(vmRows([runningVm()]).split('\t')[7]).toBe('db-1');
    expect(vmRows([runningVm(), runningVm()]).split('\n')).toHaveLength(2);
  });
});

describe('events', () => {
  const calm = event({ severity: 'info' });

  test('are ordered by age, and within an instant by their ids', () => {
    const events = [
      event({ id: 'c', at: '2026-01-05T00:00:02.000Z' }),
      event({ id: 'b', at: '2026-01-05T00:00:01.000Z' }),
      event({ id: 'a', at: '2026-01-05T00:00:01.000Z' }),
      event({ id: 'a', at: '2026-01-05T00:00:01.000Z', message: 'again' }),
      event({ id: 'z', at: 'whenever' }),
    ];
    expect(eventsByAge(events).map(({ id, message }) => id + (message === 'again' ? '!' : ''))).toEqual([
      'z',
      'a',
      'a!',
      'b',
      'c',
    ]);
    expect(events[0]?.id).toBe('c');
  });

  test('as a table say when, and mark what is a warning', () => {
    const table = eventTable([event(), calm], wide);
    expect(columnsOf(table)).toEqual(['WHEN', 'EVENT', 'ABOUT', 'MESSAGE']);
    expect(columnsOf(table, 1)).toEqual(['10 s ago', '!', 'VM Start Delayed', 'web', event().message]);
    expect(columnsOf(table, 2)).toEqual(['10 s ago', 'VM Start Delayed', 'web', event().message]);
    const coloured = eventTable([event(), calm], { ...wide, colour: true });
    expect(coloured).toContain('\u001b[33m!\u001b[39m');
    expect(coloured).toContain('\u001b[33mVM Start Delayed\u001b[39m');
    expect(eventTable([event()], { ...wide, width: 45 })).not.toContain('ABOUT');
  });

  test('as lines say the time of day, and are cut to the screen', () => {
    expect(eventLine(event(), wide)).toBe('00:09:50Z ! VM Start Delayed  web  The next start waits for 30 s.');
    expect(eventLine(calm, wide)).toBe('00:09:50Z   VM Start Delayed  web  The next start waits for 30 s.');
    expect(eventLine(event({ at: 'whenever' }), wide)).toMatch(/^whenever ! /);
    expect(eventLine(event(), { ...wide, width: 50 })).toBe('00:09:50Z ! VM Start Delayed  web  The next start…');
    expect(eventLine(event(), { ...wide, width: 5 })).toBe('00:09:50Z ! VM Start Delayed  web  …');
    expect(eventLine(event(), { ...wide, colour: true })).toContain(
      '\u001b[33m00:09:50Z ! VM Start Delayed  web\u001b[39m',
    );
    // The cast holds nothing, on purpose: this is what an answer of a newer 1.n may be.
    const newer = event({
      severity: 'fatal' as EventEntry['severity'],
      type: 'a\nb',
      subject: 'c\td',
      message: 'e\nf',
    });
    expect(eventLine(newer, { ...wide, colour: true })).toBe('00:09:50Z   a b  c d  e f');
  });

  test('in rows have the columns that help texts name', () => {
    expect(EVENT_ROW).toBe('at severity type subject message id');
    expect(eventRows([event()])).toBe(
      '2026-01-05T00:09:50.000Z\twarning\tVM Start Delayed\tweb\tThe next start waits for 30 s.\tvm/web/4',
    );
  });
});
