import { expect } from 'vitest';
import { PRINTABLE_STATUSES, type RunStrategy } from '../../core/contract/words.ts';
import { after, seconds } from '../../core/kit/time.ts';
import { readTable, type Row } from './row.ts';
import { HOST, VmLife } from './vm-life.ts';

type Status = {
  name: string;
  strategy: RunStrategy;
  statusStrategy?: string;
  instance: { phase: string; everRunning?: boolean; deleting?: boolean } | null;
  startFailure: { count: number; retryAfterOffsetSeconds: number } | null;
  createRefused?: boolean;
  expect?: string;
  expectNot?: string;
};
type Table = { precedence: string[]; cases: Status[]; derivedCasesNotInPeerTests: Status[] };

/** The row's situation, reached by events wherever events lead to it. */
function situation(row: Status): VmLife {
  const { instance, startFailure, strategy } = row;
  const life = VmLife.declared(instance === null && strategy !== 'RerunOnFailure' ? 'Always' : strategy);
  if (instance === null) {
    if (row.createRefused === true) life.report('Failed', { cause: 'LaunchFailed', message: 'quota' });
    else if (startFailure !== null) backOff(life, startFailure.retryAfterOffsetSeconds);
    // The strategy that the peer has acted on is in force already: the instance is gone because of a stop.
    if (row.statusStrategy === 'RerunOnFailure') stopAndEnd(life);
    if (life.vm.body.runStrategy !== strategy) life.put(strategy);
    if (strategy === 'Halted' && life.vm.startFailure === null) life.report('Succeeded', { cause: 'Requested' });
    return life;
  }
  if (strategy === 'Once' && startFailure !== null && instance.phase === 'Running') recordByHand(life, startFailure);
  if (instance.everRunning === true || instance.phase === 'Running') life.report('Running');
  if (instance.phase === 'Scheduling' || instance.phase === 'Scheduled' || instance.phase === 'Unknown')
    life.report('Scheduled');
  if (instance.phase === 'Unknown') life.send({ kind: 'hostSilent', hostId: HOST });
  if (instance.deleting === true) life.stop();
  if (instance.phase === 'Failed' || instance.phase === 'Succeeded') life.report(instance.phase);
  return life;
}

function backOff(life: VmLife, offsetSeconds: number): void {
  life.failEarly();
  const { vm } = life;
  if (vm.startFailure === null) throw new Error('the failure was not counted');
  if (offsetSeconds > 0) return;
  const retryAfter = after(life.now, seconds(offsetSeconds));
  life.vm = { ...vm, startFailure: { ...vm.startFailure, retryAfter }, pendingStart: { notBefore: retryAfter } };
  life.send({ kind: 'due' });
}

function stopAndEnd(life: VmLife): void {
  life.stop();
  life.report('Failed', { cause: 'Requested' });
}

/** A stale record, which no event leaves behind. */
function recordByHand(life: VmLife, { count, retryAfterOffsetSeconds }: NonNullable<Status['startFailure']>): void {
  const { vm } = life;
  if (vm.instance === null) throw new Error('no instance');
  const { instanceId } = vm.instance;
  const retryAfter = after(life.now, seconds(retryAfterOffsetSeconds));
  life.vm = {
    ...vm,
    startFailure: {
      consecutiveFailCount: count,
      lastFailedInstanceId: instanceId,
      retryAfter,
      reason: 'LaunchFailed',
      message: null,
    },
  };
}

function check(row: Status): void {
  const { status } = situation(row);
  if (row.expect !== undefined) expect(status).toBe(row.expect);
  else if (row.expectNot !== undefined) expect(status).not.toBe(row.expectNot);
  else throw new Error('the row expects nothing');
}

export function statusRows(): Row[] {
  const { precedence, cases, derivedCasesNotInPeerTests } = readTable<Table>('printable-status');
  const toRow =
    (section: string) =>
    (row: Status): Row => ({ id: `printable-status/${section}/${row.name}`, check: () => check(row) });
  return [
    ...cases.map(toRow('cases')),
    ...derivedCasesNotInPeerTests.map(toRow('derived')),
    {
      id: 'printable-status/precedence',
      check: () => {
        const ours: readonly string[] = PRINTABLE_STATUSES;
        const shared = precedence.filter((status) => ours.includes(status));
        expect(shared.length).toBeGreaterThan(5);
        expect(ours.filter((status) => precedence.includes(status))).toEqual(shared);
      },
    },
  ];
}
