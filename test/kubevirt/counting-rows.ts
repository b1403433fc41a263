import { expect } from 'vitest';
import type { RunStrategy } from '../../core/contract/words.ts';
import { parseInstanceId } from '../../core/kit/ids.ts';
import { after, instant, seconds } from '../../core/kit/time.ts';
import { readTable, type Row } from './row.ts';
import { VmLife } from './vm-life.ts';

type Counting = {
  name: string;
  strategy: RunStrategy;
  instance: { uid: string; phase: 'Failed' | 'Running' | 'Succeeded' | 'Scheduling'; everRunning: boolean };
  requests?: { action: string }[];
  before: { count: number; uid: string; retryAfterOffsetSeconds: number } | null;
  after: { count: number; uid: string; retryAfter: 'set' | 'changed' | 'unchanged' } | null;
  queueStart?: boolean;
};
type Table = { cases: Counting[]; derivedCasesNotInPeerTests: Counting[] };

function idOf(text: string): NonNullable<ReturnType<typeof parseInstanceId>> {
  const id = parseInstanceId(text);
  if (id === null) throw new Error(`${text} is no instance id`);
  return id;
}

/** A VM that has the row's record and the row's instance, which is Scheduled on its host. */
function given(row: Counting): VmLife {
  const life = VmLife.declared('Always');
  const { vm } = life;
  if (vm.instance === null) throw new Error('a VM that is Always has an instance');
  const { before } = row;
  life.vm = {
    ...vm,
    instance: { ...vm.instance, instanceId: idOf(row.instance.uid), phase: 'Scheduled' },
    startFailure:
      before === null
        ? null
        : {
            consecutiveFailCount: before.count,
            lastFailedInstanceId: idOf(before.uid),
            retryAfter: after(life.now, seconds(before.retryAfterOffsetSeconds)),
            reason: 'LaunchFailed',
            message: null,
          },
  };
  if (row.strategy !== 'Always') life.put(row.strategy);
  if (row.instance.everRunning) life.report('Running');
  if (before?.uid === row.instance.uid) endAsCounted(life);
  if (row.requests?.some((request) => request.action === 'Stop') === true) life.stop();
  return life;
}

/** The instance whose end the record already holds. */
function endAsCounted(life: VmLife): void {
  const { vm } = life;
  if (vm.instance === null || vm.startFailure === null) throw new Error('nothing to end');
  life.vm = {
    ...vm,
    instance: { ...vm.instance, phase: 'Failed', cause: 'LaunchFailed' },
    pendingStart: { notBefore: vm.startFailure.retryAfter },
  };
}

function check(row: Counting): void {
  const life = given(row);
  const { phase } = row.instance;
  const previous = life.vm.startFailure?.retryAfter ?? null;
  life.report(phase === 'Scheduling' ? 'Scheduled' : phase);
  const { startFailure, pendingStart } = life.vm;
  if (row.after === null) {
    expect(startFailure).toBeNull();
  } else {
    expect(startFailure).toMatchObject({ consecutiveFailCount: row.after.count, lastFailedInstanceId: row.after.uid });
    const retryAfter = startFailure?.retryAfter ?? instant(0);
    if (row.after.retryAfter === 'unchanged') expect(retryAfter).toBe(previous);
    else {
      expect(retryAfter).not.toBe(previous);
      expect(retryAfter).toBeGreaterThan(life.now);
    }
  }
  // Whoever restarts by itself plans the next start; the peer queues one for RerunOnFailure only.
  if (row.queueStart !== undefined && row.strategy !== 'Always') expect(pendingStart !== null).toBe(row.queueStart);
}

export function countingRows(): Row[] {
  const { cases, derivedCasesNotInPeerTests } = readTable<Table>('start-failure-counting');
  const toRow =
    (section: string) =>
    (row: Counting): Row => ({
      id: `start-failure-counting/${section}/${row.name}`,
      check: () => check(row),
    });
  return [...cases.map(toRow('cases')), ...derivedCasesNotInPeerTests.map(toRow('derived'))];
}
