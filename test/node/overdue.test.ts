/** What the passing of time leaves alone, and which failures block a version (DESIGN section 2, rules 2, 5 and 8). */
import { describe, expect, test } from 'vitest';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { at, crashedAt, type NodeLife, nodeAt, UPDATED } from './life.ts';
import { asked, changed, soaked, soaking } from './situations.ts';

describe('time changes nothing', () => {
  test.each<[string, () => NodeLife, number]>([
    ['before a step is overdue', () => nodeAt('PerformedUpdate'), 299],
    ['before a wake for a step is repeated', asked, 59],
    ['before the way back to Idle is overdue', () => crashedAt('StagedUpdate'), 59],
    [
      'for a node of which nothing is known: its way back is not overdue, and it is not silent',
      () => {
        const { spec } = nodeAt('Idle').node;
        return changed(nodeAt('Idle'), { status: null, spec: { ...spec, reachedAt: null }, waitingSince: null });
      },
      100_000,
    ],
  ])('%s', (_what, make, seconds) => {
    expect(make().to(seconds).due()).toEqual({ kind: 'unchanged' });
  });
});

describe('a check that fails', () => {
  const failed = { ...UPDATED, state: 'ErrorReset', error: { reason: 'HealthCheckFailed', message: 'web' } } as const;
  const checking = (onFailure: 'rollback' | 'report') =>
    groupPolicyOf({ monitor: { checks: [{ name: 'web', type: 'tcp', port: 80 }], onFailure } });
  const under = (onFailure: 'rollback' | 'report' | undefined, life: NodeLife): NodeLife =>
    onFailure === undefined ? life : changed(life, { policy: checking(onFailure) });

  test.each([
    ['blocks the version that it sends the node back from', 'rollback', ['1.1']],
    ['blocks it also where no check of ours is known', undefined, ['1.1']],
    ['blocks nothing where the node stays on it', 'report', []],
  ] as const)('%s', (_what, onFailure, blocked) => {
    const watched = under(onFailure, soaking());
    watched.report(failed);
    expect(watched.node).toMatchObject({
      blockedVersions: blocked,
      crash: { count: 1, lastReason: 'HealthCheckFailed' },
    });
    const late = under(onFailure, soaked());
    late.report(failed);
    expect(late.node).toMatchObject({ blockedVersions: blocked, crash: { count: 0 }, attempt: { succeeded: false } });
  });

  test.each([{ reason: 'Broken' }, undefined])('is not any failure: %j blocks nothing', (error) => {
    const life = soaked();
    life.report({ ...UPDATED, state: 'ErrorReset', ...(error === undefined ? {} : { error }) });
    expect(life.node).toMatchObject({ blockedVersions: [], attempt: { succeeded: false } });
    expect(life.node.spec).toMatchObject({ state: 'Idle', since: at(120) });
  });

  test('while the soak time runs out says nothing by itself: the way back does', () => {
    const life = soaked();
    life.report(failed);
    expect(life.facts.filter(({ kind }) => kind !== 'hostMaintenance')).toEqual([]);
  });
});
