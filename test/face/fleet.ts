/** A small fleet as the API describes it, for the tests of everything that prints. */
import { canOfGroup, canOfNode, canOfVm } from '../../core/contract/can.ts';
import type { EventEntry, GroupJson, NodeJson, Summary, VmJson } from '../../core/contract/answers.ts';
import { instant } from '../../core/kit/time.ts';

/** 2026-01-05T00:10:00.000Z */
export const NOW = instant(Date.UTC(2026, 0, 5, 0, 10, 0));

export const NODE_A = 'i-0000000000000000a';
export const NODE_B = 'i-0000000000000000b';

const NO_CRASH: NodeJson['crash'] = {
  count: 0,
  firstAt: null,
  lastAt: null,
  retryAfter: null,
  resetAt: null,
  lastState: null,
  lastReason: null,
  lastMessage: null,
};

/** A node that is up to date and has never crashed. */
export const idleNode = (changes: Partial<NodeJson> = {}): NodeJson => ({
  nodeId: NODE_A,
  group: 'default',
  spec: { state: 'Idle', version: null, generation: 7, since: '2026-01-05T00:00:00.000Z' },
  status: {
    state: 'Idle',
    currentVersion: '1.20.0',
    bootId: 'boot-1',
    reportedAt: '2026-01-05T00:09:48.000Z',
    updateCheck: { result: 'UpToDate' },
    agentVersion: '0.1.0',
  },
  crash: NO_CRASH,
  blockedVersions: [],
  heldBy: null,
  zone: 'none',
  phase: 'Idle',
  waitingFor: null,
  can: canOfNode({ nodeId: NODE_A, group: 'default', underWay: false }),
  explanation: 'Up to date with 1.20.0.',
  ...changes,
});

/** A node that crashed three times and waits for 12 s more. */
export const crashedNode = (changes: Partial<NodeJson> = {}): NodeJson =>
  idleNode({
    nodeId: NODE_B,
    group: 'canary',
    crash: {
      count: 3,
      firstAt: '2026-01-05T00:05:00.000Z',
      lastAt: '2026-01-05T00:09:40.000Z',
      retryAfter: '2026-01-05T00:10:12.000Z',
      resetAt: '2026-01-06T00:05:00.000Z',
      lastState: 'PerformedUpdate',
      lastReason: 'ActivateFailed',
      lastMessage: 'exit status 1',
    },
    phase: 'BackingOff',
    explanation: 'Crashed 3 times, last on the way to PerformedUpdate (ActivateFailed); it is tried again in 12 s.',
    ...changes,
  });

/** A VM that runs. */
export const runningVm = (changes: Partial<VmJson> = {}): VmJson => ({
  vmId: 'db',
  uid: 'u-1',
  hostId: NODE_A,
  placement: { declaredHostId: NODE_A, hosts: [], restartElsewhere: false },
  maintenance: { policy: 'stop', since: null },
  runStrategy: 'Always',
  power: { on: true, sequence: 1 },
  instance: {
    instanceId: 'db-1',
    phase: 'Running',
    since: '2026-01-05T00:00:00.000Z',
    everRunning: true,
    cause: null,
  },
  startFailure: null,
  unstableRuns: null,
  lastFailure: null,
  printableStatus: 'Running',
  restartCount: 0,
  can: canOfVm({ vmId: 'db', deleting: false, runStrategy: 'Always', on: true, had: null }),
  failuresInARow: 0,
  explanation: 'Running since 00:00.',
  ...changes,
});

/** A VM in its second start failure, tried again in 20 s. */
export const loopingVm = (changes: Partial<VmJson> = {}): VmJson =>
  runningVm({
    vmId: 'web',
    instance: null,
    startFailure: {
      consecutiveFailCount: 2,
      lastFailedInstanceId: 'web-2',
      retryAfter: '2026-01-05T00:10:20.000Z',
      reason: 'LaunchFailed',
      message: 'exit 1',
    },
    lastFailure: {
      reason: 'LaunchFailed',
      message: 'exit 1',
      console: 'no bootable device\n\u001b[31mhalted\u001b[0m',
      at: '2026-01-05T00:09:50.000Z',
    },
    printableStatus: 'CrashLoopBackOff',
    restartCount: 1,
    explanation: 'Failed to start twice; the next start is in 20 s.',
    ...changes,
  });

export const group = (changes: Partial<GroupJson> = {}): GroupJson => ({
  window: { open: true },
  expedited: [],
  alarms: [],
  breakers: [],
  settled: [],
  rollout: null,
  group: 'default',
  declared: true,
  policy: {
    maxConcurrentUpdates: 1,
    backoff: { preset: 'seed' },
    deadlines: {
      Idle: '2m',
      StagedUpdate: '12m',
      PerformedUpdate: '5m',
      RebootedIntoUpdate: '15m',
      MonitoringUpdate: '5m',
    },
    monitor: { soak: '2m', checks: [], onFailure: 'rollback' },
    drain: null,
  },
  paused: false,
  memberCount: 3,
  limit: 1,
  underWay: [],
  can: canOfGroup({ group: 'default', isDefault: true, declared: true, frozen: null }),
  explanation: 'Nothing to do.',
  ...changes,
});

export const event = (changes: Partial<EventEntry> = {}): EventEntry => ({
  id: 'vm/web/4',
  at: '2026-01-05T00:09:50.000Z',
  type: 'VM Start Delayed',
  severity: 'warning',
  subject: 'web',
  message: 'The next start waits for 30 s.',
  ...changes,
});

export const summary = (changes: Partial<Summary> = {}): Summary => ({
  nodes: { total: 3, byPhase: { BackingOff: 1, Idle: 2 } },
  vms: { total: 2, byStatus: { Running: 1, CrashLoopBackOff: 1 } },
  attention: [{ kind: 'node', id: NODE_B, why: 'Crashed 3 times.' }],
  ...changes,
});
