/** Which VMs the gauge counts: by the record, never by the momentary status (DESIGN section 6). */
import { expect, test } from 'vitest';
import { inCrashLoop } from '../../core/vm/timing.ts';
import { VmLife } from '../kubevirt/vm-life.ts';

const failing = (times: number): VmLife => {
  const life = VmLife.declared('Always', { backoff: { preset: 'seed' } });
  for (let count = 0; count < times; count += 1) {
    life.failEarly();
    life.wait(300);
  }
  return life;
};

test('a VM counts from its third failure in a row on, also while the next instance starts', () => {
  expect(inCrashLoop(failing(2).vm)).toBe(false);
  const life = failing(3);
  expect(life.status).toBe('Starting');
  expect(inCrashLoop(life.vm)).toBe(true);
});

test('young runs count as well, until one has been stable', () => {
  const life = VmLife.declared('Always', { backoff: { preset: 'seed' } });
  for (let count = 0; count < 3; count += 1) {
    life.report('Running');
    life.wait(5);
    life.report('Failed', { cause: 'GuestPanic' });
    life.wait(300);
  }
  life.report('Running');
  expect(inCrashLoop(life.vm)).toBe(true);
  life.wait(600);
  expect(inCrashLoop(life.vm)).toBe(false);
});

test('a stop ends it, whatever had happened', () => {
  const life = failing(5);
  life.stop();
  expect(inCrashLoop(life.vm)).toBe(false);
});
