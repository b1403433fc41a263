/** The demo's fleet: five nodes in two groups and five VMs, each with a story (issue 2); the rollout is in rollout.ts. */
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import type { Faults } from '../machine/faults.ts';
import type { GuestStory } from './boot-sector.ts';

export const OLD_VERSION = '1.20.5';
export const NEW_VERSION = '1.21.0';

export type DemoNode = { nodeId: string; group: string; story: string; faults: Faults; hostsVms: boolean };
/** The nodes of a story, and their groups by name. */
export type DemoFleet = { nodes: readonly DemoNode[]; groups: Readonly<Record<string, GroupBody>> };

export const demoNode = (digit: string, group: string, story: string, faults: Faults, hostsVms = false): DemoNode => ({
  nodeId: `i-${digit.repeat(17)}`,
  group,
  story,
  faults: { commandSeconds: 1, rebootSeconds: 2, ...faults },
  hostsVms,
});

export const VM_HOST = 'i-eeeeeeeeeeeeeeeee';

/** Nodes that an update is offered to; the VM host is up to date. */
export const NODES: readonly DemoNode[] = [
  demoNode('a', 'web', 'updates without trouble', {}),
  demoNode('b', 'web', 'its activate always fails', { failActivate: true }),
  demoNode('c', 'web', 'updates without trouble', {}),
  demoNode('d', 'hosts', 'boots back into the old version', { bootsBack: true }),
  demoNode('e', 'hosts', 'is up to date and hosts the VMs', {}, true),
];

/** What to look at, in one line. */
export const STORY =
  'look at: node b… (crashes each time, and waits twice as long), node d… (rolls back), group shop (follows canary until its breaker opens), the VMs never-launches and boots-and-dies; each says why, and what happens next';

/** Deadlines and soak of the demo, so that everything happens within two minutes; said on screen. */
export const SHORT: GroupBody = {
  deadlines: {
    StagedUpdate: '30s',
    PerformedUpdate: '20s',
    RebootedIntoUpdate: '40s',
    MonitoringUpdate: '20s',
    Idle: '20s',
  },
  monitor: { soak: '4s' },
};
export const GROUPS: Readonly<Record<string, GroupBody>> = {
  web: { ...SHORT, maxConcurrentUpdates: 1 },
  hosts: { ...SHORT, maxConcurrentUpdates: 1 },
};

const vm = (runStrategy: VmBody['runStrategy'], script: string): VmBody => ({
  hostId: VM_HOST,
  runStrategy,
  launch: { type: 'exec', command: ['/bin/sh', '-c', script] },
  grace: '2s',
  stableFor: '60s',
});

export const VMS: Readonly<Record<string, VmBody>> = {
  database: vm('Always', 'exec sleep 86400'),
  frontend: vm('Always', 'exec sleep 86400'),
  'never-launches': { ...vm('Always', 'true'), launch: { type: 'exec', command: ['/nonexistent/hypervisor'] } },
  'boots-and-dies': vm('Always', 'sleep 3; echo "kernel panic: no init found" >&2; exit 3'),
  'nightly-batch': vm('RerunOnFailure', 'echo working; sleep 15; echo done; exit 0'),
};

/** The same VMs as real guests, each a boot sector; a guest that powers off or panics does so itself. */
export const GUESTS: Readonly<Record<string, GuestStory | null>> = {
  database: { says: 'database: booted', does: 'obey' },
  frontend: { says: 'frontend: booted', does: 'obey' },
  // Its image does not exist.
  'never-launches': null,
  'boots-and-dies': { says: 'kernel panic: no init found', afterTicks: 54, does: 'panic' },
  'nightly-batch': { says: 'working', afterTicks: 270, does: 'powerOff' },
};

/** How often agents report in the demo, and how long their steps may take. */
export const DEMO_ENVIRONMENT: Readonly<Record<string, string>> = {
  HOLDOFF_IDLE_REPORT_SECONDS: '3',
  HOLDOFF_ACTIVE_REPORT_SECONDS: '1',
  HOLDOFF_SWEEP_SECONDS: '10',
};
export const AGENT_ENVIRONMENT: Readonly<Record<string, string>> = {
  HOLDOFF_REFRESH_EVERY: '3s',
  HOLDOFF_POLL_EVERY: '0.3s',
  HOLDOFF_SETTLE: '0.5s',
  HOLDOFF_SLOW_RETRY: '5s',
};
