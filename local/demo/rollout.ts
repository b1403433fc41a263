/** The demo's rollout: a canary, a group that follows it, a version that is bad for that group, and its breaker. */
import { demoNode, type DemoFleet, SHORT } from './fleet.ts';

export const CANARY = 'canary';
export const FOLLOWER = 'shop';

/**
 * The canary has no trouble with the new version. Two of the shop fail to activate it, once each, and the third takes
 * long to stage it: it is still under way when the breaker opens, and is withdrawn.
 */
export const ROLLOUT: DemoFleet = {
  nodes: [
    demoNode('f', CANARY, 'is the canary: updates first', {}),
    demoNode('1', FOLLOWER, 'follows the canary; its first activate fails', { failActivate: 1 }),
    demoNode('2', FOLLOWER, 'follows the canary; its first activate fails', { failActivate: 1 }),
    demoNode('3', FOLLOWER, 'follows the canary; is slow, and withdrawn by the breaker', { commandSeconds: 6 }),
  ],
  // In this order: a group is put after the one that it waits for.
  groups: {
    [CANARY]: { ...SHORT, maxConcurrentUpdates: 1 },
    [FOLLOWER]: {
      ...SHORT,
      maxConcurrentUpdates: 3,
      after: { group: CANARY, soak: '10s' },
      breaker: { failures: 2, within: '1h' },
    },
  },
};
