/** What a node is told of watching its update (DESIGN section 2, MonitoringUpdate; section 6, the answer to a report). */
import { describe, expect, test } from 'vitest';
import { NODE_STATES } from '../../core/contract/words.ts';
import { desiredOf } from '../../core/node/desired.ts';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { at, nodeAt } from '../node/life.ts';

const CHECKS = [{ name: 'web', type: 'tcp', port: 80 }] as const;
const told = (deadline: string | undefined) => {
  const { node } = nodeAt('MonitoringUpdate');
  const body = {
    monitor: { checks: [...CHECKS] },
    ...(deadline === undefined ? {} : { deadlines: { MonitoringUpdate: deadline } }),
  };
  return desiredOf({ ...node, policy: groupPolicyOf(body) }, at(0)).monitor?.withinSeconds;
};

describe('how long the first round of checks may fail: the deadline less what a report of the failure needs', () => {
  test.each<[string, string | undefined, number]>([
    ['the default of 5 min leaves the minute', undefined, 240],
    ['a longer one leaves no more than that', '1h', 3540],
    ['a shorter one leaves a fifth of itself', '50s', 40],
    ['also where that is very little', '1s', 0.8],
  ])('%s', (_what, deadline, withinSeconds) => {
    expect(told(deadline)).toBe(withinSeconds);
  });
});

describe('the checks are told', () => {
  test.each(NODE_STATES)('with MonitoringUpdate and nothing else: %s', (state) => {
    const { node } = nodeAt('MonitoringUpdate');
    const policy = groupPolicyOf({ monitor: { checks: [...CHECKS], onFailure: 'report' } });
    expect(desiredOf({ ...node, policy, spec: { ...node.spec, state } }, at(0)).monitor).toEqual(
      state === 'MonitoringUpdate'
        ? { checks: [{ ...CHECKS[0], timeoutSeconds: 5 }], onFailure: 'report', withinSeconds: 240 }
        : undefined,
    );
  });

  test('only when there are some', () => {
    const { node } = nodeAt('MonitoringUpdate');
    expect(desiredOf({ ...node, policy: groupPolicyOf({ monitor: { checks: [] } }) }, at(0)).monitor).toBeUndefined();
  });
});
