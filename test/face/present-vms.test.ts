/** VMs and events as people read them: tones, order, cells, rows and fields. */
import { describe, expect, test } from 'vitest';
import type { EventEntry, VmJson } from '../../core/contract/answers.ts';
import { PRINTABLE_STATUSES } from '../../core/contract/words.ts';
import { EVENT_ROW, eventLine, eventRows, eventsByAge, eventTable } from '../../present/events.ts';
import { VM_ROW, vmFields, vmRows, vmsByAttention, vmTable, vmTone } from '../../present/vms.ts';
import type { Surface } from '../../present/table.ts';
import { event, loopingVm, NODE_A, NODE_B, NOW, runningVm } from './fleet.ts';
import { there } from '../kit/there.ts';

const wide: Surface = { width: 200, colour: false, now: NOW, fit: 'wrap' };

const plain = (at: string): string => at;

const fieldsOf = (fields: readonly { label: string; text: string; tone?: string | undefined }[]): string[] =>
  fields.map(({ label, text, tone }) => `${label}: ${text}${tone === undefined ? '' : ` [${tone}]`}`);

const columnsOf = (text: string, line = 0): string[] => (text.split('\n')[line] ?? '').split(/ {2,}/);

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
      'Other hosts: none',
      'Host update: stops this VM with grace and starts it again; not counted',
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
      'Restarts: 1 since it was declared',
      'Last failure: LaunchFailed: exit 1',
      'Failed at: 2026-01-05T00:09:50.000Z',
    ]);
    expect(fieldsOf(vmFields(runningVm(), plain)).slice(7)).toEqual([
      'Power: on (intent 1)',
      'Declaration: u-1',
      'Instance: db-1',
      'Instance phase: Running',
      'Phase since: 2026-01-05T00:00:00.000Z',
      'Ever running: yes',
      'Start failures: 0',
      'Short runs: 0',
      'Restarts: 0 since it was declared',
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
    expect(fields[fields.indexOf('Short runs: 1 [bad]') + 1]).toBe('Restarts: 1 since it was declared');
  });

  test('in full say where they may go, where they came from, and what of their host they wait for', () => {
    const vm = runningVm({
      hostId: NODE_B,
      placement: { declaredHostId: NODE_A, hosts: [NODE_B, 'i-0000000000000000c'], restartElsewhere: true },
      maintenance: { policy: 'block', since: 'then' },
    });
    expect(fieldsOf(vmFields(vm, plain)).slice(3, 9)).toEqual([
      `Host: ${NODE_B}`,
      `Declared on: ${NODE_A}, which was fenced [warn]`,
      `Other hosts: ${NODE_B}, i-0000000000000000c, once its host is fenced`,
      'Host update: waits before the reboot while this VM lives',
      'Updated since: then [busy]',
      `Waits until: ${NODE_B} has reached MonitoringUpdate or is Idle again`,
    ]);
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
