/** The health checks of an updated node: when a round is due, how long it has, and what it means (docs/agent.md, Health checks). */
import { describe, expect, test } from 'vitest';
import { decide } from '../../../agent/node/decide.ts';
import type { NodeRecord } from '../../../agent/node/memory.ts';
import { absorbChecks } from '../../../agent/node/monitor.ts';
import { type AgentMonitorPlan, type CheckResult, readMonitorPlan } from '../../../agent/node/monitor-record.ts';
import type { Move } from '../../../agent/node/move.ts';
import { limits, onTheWay, seen, T0 } from './node-record.ts';

const web = { name: 'web', type: 'tcp', port: 80, timeoutSeconds: 5 } as const;
const slow = { name: 'slow', type: 'exec', hook: 'slow', timeoutSeconds: 90 } as const;
const plan = (change: Partial<AgentMonitorPlan> = {}): AgentMonitorPlan => ({
  checks: [web, slow],
  onFailure: 'rollback',
  ...change,
});

/** On its way to MonitoringUpdate with this plan. */
const checking = (watched: AgentMonitorPlan, change: { nextAt?: number; failing?: string } = {}): NodeRecord =>
  onTheWay(
    'RebootedIntoUpdate',
    'MonitoringUpdate',
    {},
    { monitor: { plan: watched, nextAt: 0, failing: null, bootId: 'b1', windowMs: null, ...change } },
  );
/** There, and watched through the soak time. */
const soaking = (watched: AgentMonitorPlan, nextAt = 0): NodeRecord => ({
  ...checking(watched, { nextAt }),
  state: 'MonitoringUpdate',
  step: null,
});

/** A check move is said as the time each check has. */
function inWords(move: Move): string {
  if (move.kind === 'check')
    return move.checks.map(({ name, timeoutSeconds }) => `${name} ${timeoutSeconds} s`).join(', ');
  if (move.kind !== 'end') return move.kind;
  const { state, error } = move.record;
  return error === null ? `reached ${state}` : `${error.reason}: ${error.message}`;
}

describe('a round of checks', () => {
  const down = { failing: 'check web failed: refused' };
  test.each<[string, NodeRecord, number, string]>([
    ['begins with the step', checking(plan()), 0, 'web 5 s, slow 90 s'],
    ['waits until it is due', checking(plan(), { nextAt: T0 + 10_000 }), 9999, 'wait'],
    ['comes when it is', checking(plan(), { nextAt: T0 + 10_000 }), 10_000, 'web 5 s, slow 90 s'],
    ['has no longer than is left of the step', checking(plan()), 180_000, 'web 5 s, slow 60 s'],
    ['down to the last instant', checking(plan()), 239_999, 'web 0.001 s, slow 0.001 s'],
    [
      'has less where the control plane allows less',
      checking(plan({ withinSeconds: 40 })),
      36_000,
      'web 4 s, slow 4 s',
    ],
    ['has no more where it allows more', checking(plan({ withinSeconds: 3540 })), 180_000, 'web 5 s, slow 60 s'],
    [
      'that never passes ends with what failed',
      checking(plan({ withinSeconds: 40 }), down),
      40_000,
      'HealthCheckFailed: MonitoringUpdate was not reached in 40 s: check web failed: refused',
    ],
    [
      'with an old control plane after the agent’s own time',
      checking(plan(), down),
      240_000,
      'HealthCheckFailed: MonitoringUpdate was not reached in 240 s: check web failed: refused',
    ],
    [
      'in the soak time comes when it is due',
      soaking(plan({ withinSeconds: 40 }), T0 + 600_000),
      600_000,
      'web 5 s, slow 90 s',
    ],
    ['and waits until then', soaking(plan(), T0 + 600_000), 599_999, 'wait'],
  ])('%s', (_what, record, ms, words) => {
    const move = decide({ kind: 'kept', record }, null, seen({ now: T0 + ms, version: '2.0.0' }), limits);
    expect(inWords(move)).toBe(words);
  });
});

describe('what a round means', () => {
  const passed: CheckResult[] = [
    { name: 'web', failure: null },
    { name: 'slow', failure: null },
  ];
  const one: CheckResult[] = [
    { name: 'web', failure: 'refused' },
    { name: 'slow', failure: null },
  ];
  const both: CheckResult[] = [
    { name: 'web', failure: 'refused' },
    { name: 'slow', failure: 'lag' },
  ];
  const named = 'check web failed: refused';

  test.each<[string, NodeRecord, CheckResult[], string, string | null]>([
    ['all pass: the state is reached', checking(plan()), passed, 'reached MonitoringUpdate', null],
    ['the first may fail: services still start', checking(plan()), one, 'note', named],
    ['each that fails is named', checking(plan()), both, 'note', `${named}; check slow failed: lag`],
    [
      'one that passes again is forgotten',
      checking(plan(), { failing: named }),
      passed,
      'reached MonitoringUpdate',
      null,
    ],
    ['in the soak time all pass: watched on', soaking(plan()), passed, 'note', null],
    ['in the soak time one failure is enough', soaking(plan()), one, `HealthCheckFailed: ${named}`, named],
  ])('%s', (_what, record, results, words, failing) => {
    const move = absorbChecks(record, results, T0 + 1, limits);
    expect(inWords(move)).toBe(words);
    expect('record' in move && move.record.monitor).toMatchObject({ plan: plan(), nextAt: T0 + 10_001, failing });
  });

  test('nothing, for a record that has none', () => {
    expect(absorbChecks({ ...soaking(plan()), monitor: null }, one, T0, limits)).toEqual({ kind: 'wait' });
  });
});

describe('the plan of an answer', () => {
  test.each<[string, unknown, AgentMonitorPlan | null]>([
    ['none', undefined, null],
    ['null', null, null],
    [
      'as it is',
      { checks: [web], onFailure: 'rollback', withinSeconds: 40 },
      plan({ checks: [web], withinSeconds: 40 }),
    ],
    [
      'of an old control plane, which does not say how long',
      { checks: [web], onFailure: 'rollback' },
      plan({ checks: [web] }),
    ],
    [
      'what is newer is left alone',
      { checks: [{ ...web, mood: 1 }], onFailure: 'rollback', mood: 1 },
      plan({ checks: [web] }),
    ],
    [
      'a word for onFailure that is newer undoes nothing',
      { checks: [], onFailure: 'shout' },
      { checks: [], onFailure: 'report' },
    ],
    [
      'a check that is newer is kept, and fails',
      { checks: [{ name: 'dns', type: 'dns', timeoutSeconds: 9 }] },
      { checks: [{ type: 'unknown', name: 'dns', kind: 'dns', timeoutSeconds: 1 }], onFailure: 'report' },
    ],
    [
      'one that cannot be read fails, and undoes nothing',
      { checks: 'all', onFailure: 'rollback' },
      {
        checks: [{ type: 'unknown', name: 'monitor', kind: 'that cannot be read', timeoutSeconds: 1 }],
        onFailure: 'report',
      },
    ],
  ])('%s', (_what, value, read) => {
    expect(readMonitorPlan(value)).toEqual(read);
  });
});
