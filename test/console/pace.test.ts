import { describe, expect, test } from 'vitest';
import { nodeMoves, vmMoves, waitMs } from '../../console/pace.ts';
import { instant } from '../../core/kit/time.ts';
import { crashedNode, idleNode, loopingVm, NOW, runningVm } from '../face/fleet.ts';

describe('how often the page asks', () => {
  test('fast while something moves, slow otherwise', () => {
    expect(waitMs({ moving: true, failures: 0, pages: 3 })).toBe(1500);
    expect(waitMs({ moving: false, failures: 0, pages: 3 })).toBe(10_000);
  });

  test('a fleet of ten thousand is not walked every second', () => {
    expect(waitMs({ moving: true, failures: 0, pages: 60 })).toBe(12_000);
  });

  test('nobody answers: soon again, then less often, never less than every 15 s', () => {
    const waits = [1, 2, 3, 4, 5, 100].map((failures) => waitMs({ moving: true, failures, pages: 1 }));
    expect(waits).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000]);
  });

  test('an idle node does not move; one under way, recovering or soon tried again does', () => {
    expect(nodeMoves(idleNode(), NOW)).toBe(false);
    expect(nodeMoves(idleNode({ phase: 'Updating' }), NOW)).toBe(true);
    expect(nodeMoves(idleNode({ phase: 'Recovering' }), NOW)).toBe(true);
    expect(nodeMoves(crashedNode(), NOW)).toBe(true);
    expect(nodeMoves(crashedNode(), instant(NOW - 60_000))).toBe(false);
  });

  test('a VM that runs does not move; one that starts, or is soon started again, does', () => {
    expect(vmMoves(runningVm(), NOW)).toBe(false);
    expect(vmMoves(runningVm({ printableStatus: 'Starting' }), NOW)).toBe(true);
    const retryAfter = '2026-01-05T00:10:10.000Z';
    const record = loopingVm().startFailure;
    expect(vmMoves(loopingVm({ startFailure: record === null ? null : { ...record, retryAfter } }), NOW)).toBe(true);
  });
});
