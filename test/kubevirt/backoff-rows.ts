import { expect } from 'vitest';
import { VM_BACKOFF_KUBEVIRT, vmRetryDelay } from '../../core/policy/backoff.ts';
import { after, seconds } from '../../core/kit/time.ts';
import { vmAlarm } from '../../core/vm/timing.ts';
import { readTable, type Row } from './row.ts';
import { VmLife } from './vm-life.ts';

type Delay = { failCount: number; maxDelaySeconds: number; minSeconds: number; maxSeconds: number };
type DelayTable = { cases: Delay[]; derivedCasesNotInPeerTests: Delay[] };

const SAMPLES = 1000;

/** Every sample lies in the row's range, and the samples fill it. */
function checkDelay({ failCount, maxDelaySeconds, minSeconds, maxSeconds }: Delay): void {
  const backoff = { ...VM_BACKOFF_KUBEVIRT, cap: seconds(maxDelaySeconds) };
  const samples = Array.from({ length: SAMPLES }, (_, i) => vmRetryDelay(backoff, failCount, i / SAMPLES) / 1000);
  expect(Math.min(...samples)).toBeGreaterThanOrEqual(minSeconds);
  expect(Math.max(...samples)).toBeLessThanOrEqual(maxSeconds);
  expect(Math.max(...samples) - Math.min(...samples)).toBeGreaterThan((maxSeconds - minSeconds) * 0.9);
}

type Left = {
  name: string;
  startFailure: { retryAfterOffsetSeconds: number | null } | null;
  expectSeconds?: number;
  ourExpectSeconds?: number;
};
type LeftTable = { toleranceSeconds: number; cases: Left[]; derivedCasesNotInPeerTests: Left[] };

/** How long the next start is still waited for: what the VM's own alarm says, once time has been looked at. */
function secondsToWait(offsetSeconds: number | null): number {
  const life = VmLife.declared('Always');
  if (offsetSeconds === null) return life.vm.instance === null ? Number.NaN : 0;
  life.failEarly();
  const { vm } = life;
  if (vm.startFailure === null) throw new Error('the failure was not counted');
  const retryAfter = after(life.now, seconds(offsetSeconds));
  life.vm = { ...vm, startFailure: { ...vm.startFailure, retryAfter }, pendingStart: { notBefore: retryAfter } };
  const before = life.instanceId;
  life.send({ kind: 'due' });
  if (life.instanceId !== before) return 0;
  return ((vmAlarm(life.vm)?.at ?? Number.NaN) - life.now) / 1000;
}

export function backoffRows(): Row[] {
  const delays = readTable<DelayTable>('backoff-delay');
  const left = readTable<LeftTable>('backoff-time-left');
  const delayRow =
    (section: string) =>
    (row: Delay): Row => ({
      id: `backoff-delay/${section}/failure ${row.failCount}, cap ${row.maxDelaySeconds} s`,
      check: () => checkDelay(row),
    });
  const leftRow =
    (section: string) =>
    (row: Left): Row => ({
      id: `backoff-time-left/${section}/${row.name}`,
      check:
        row.startFailure !== null && row.startFailure.retryAfterOffsetSeconds === null
          ? null
          : () => {
              const wait = secondsToWait(row.startFailure === null ? null : row.startFailure.retryAfterOffsetSeconds);
              expect(wait).toBe(row.expectSeconds ?? row.ourExpectSeconds);
            },
    });
  return [
    ...delays.cases.map(delayRow('cases')),
    ...delays.derivedCasesNotInPeerTests.map(delayRow('derived')),
    ...left.cases.map(leftRow('cases')),
    ...left.derivedCasesNotInPeerTests.map(leftRow('derived')),
  ];
}
