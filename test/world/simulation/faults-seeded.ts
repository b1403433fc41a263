/** Faults put into the product on purpose: for each guarantee the mistakes that would break it. The simulation must notice each. */
export type SeededFault = {
  id: string;
  what: string;
  file: string;
  /** Occurs exactly once in the file; white space counts as such. */
  find: string;
  replace: string;
};

export const SEEDED_FAULTS: readonly SeededFault[] = [
  {
    id: 'count-every-report',
    what: 'an end is counted again with each report of it (count before dedupe)',
    file: 'core/vm/report.ts',
    find: 'if (!live(instance) || instance.instanceId !== report.instanceId) return { vm, facts: [] };',
    replace:
      "if (instance === null || instance.instanceId !== report.instanceId) return { vm, facts: [] }; if (!live(instance) && vm.startFailure !== null && report.phase === 'Failed') return { vm: { ...vm, startFailure: { ...vm.startFailure, consecutiveFailCount: vm.startFailure.consecutiveFailCount + 1 } }, facts: [] }; if (!live(instance)) return { vm, facts: [] };",
  },
  {
    id: 'no-generation-check',
    what: 'a report of an older generation is taken for news',
    file: 'core/node/accept.ts',
    find: 'report.generation < known.spec.generation',
    replace: 'report.generation < -1',
  },
  {
    id: 'clear-on-monitoring',
    what: 'the crash record is cleared when Monitoring is reached, not on Idle after it',
    file: 'core/node/judge.ts',
    find: 'return goOn(reach(watched.node, report, now), group, now);',
    replace:
      "const step = goOn(reach(watched.node, report, now), group, now); return report.state === 'MonitoringUpdate' ? { ...step, node: { ...step.node, crash: { ...step.node.crash, count: 0, firstAt: null, retryAfter: null } } } : step;",
  },
  {
    id: 'slot-released-early',
    what: 'a crash gives up the slot before the node is back',
    file: 'core/node/crash.ts',
    find: "const freed = reason === 'DrainBlocked' ? giveUpSlot(moved.node) : { node: moved.node, facts: [] };",
    replace: 'const freed = giveUpSlot(moved.node);',
  },
  {
    id: 'claim-ignores-limit',
    what: 'a slot is claimed although none is free',
    file: 'core/group/group.ts',
    find: 'const free = limit - Object.keys(before.slots).length',
    replace: 'const free = 1 + limit - Object.keys(before.slots).length',
  },
  {
    id: 'retry-too-early',
    what: 'a node starts a minute before its retryAfter',
    file: 'core/rollout/backing-off.ts',
    find: 'retryAfter <= now',
    replace: 'retryAfter - 60_000 <= now',
  },
  {
    id: 'vm-early',
    what: 'a VM starts eleven seconds before its retryAfter',
    file: 'core/vm/life.ts',
    find: 'if (now < notBefore || live(vm.instance)) {',
    replace: 'if (now < notBefore - 11_000 || live(vm.instance)) {',
  },
  {
    id: 'second-instance',
    what: 'the next instance starts before the end of the old one is known',
    file: 'core/vm/life.ts',
    find: 'if (now < notBefore || live(vm.instance)) {',
    replace: 'if (now < notBefore || (live(vm.instance) && vm.instance.timedOutAt === null)) {',
  },
  {
    id: 'stop-restarts',
    what: 'a stop leaves the planned retry in place',
    file: 'core/vm/verbs.ts',
    find: 'const idle = off.pendingStart === null ? off : { ...off, pendingStart: null };',
    replace: 'const idle = { ...off, power: { ...off.power, on: true } };',
  },
  {
    id: 'running-keeps-count',
    what: 'Running does not clear the start failures',
    file: 'core/vm/report.ts',
    find: '{ ...noted, instance: next, startFailure: null, wakeFailure: null }',
    replace: '{ ...noted, instance: next, wakeFailure: null }',
  },
  {
    id: 'errorreset-is-a-spec',
    what: 'a crash makes the spec ErrorReset',
    file: 'core/node/crash.ts',
    find: "const moved = moveSpec(node, 'Idle', null, now);",
    replace: "const moved = moveSpec(node, 'ErrorReset' as 'Idle', null, now);",
  },
  {
    id: 'skips-a-state',
    what: 'StagedUpdate is followed by the reboot',
    file: 'core/node/spec.ts',
    find: "StagedUpdate: 'PerformedUpdate',",
    replace: "StagedUpdate: 'RebootedIntoUpdate',",
  },
  {
    id: 'sweep-skips-a-shard',
    what: 'the sweep asks all shards of the due-time index but one',
    file: 'functions/aws/dynamodb-store.ts',
    find: 'shardNumbers(SHARDS.due).map(',
    replace: 'shardNumbers(SHARDS.due - 1).map(',
  },
  {
    id: 'vernier-ignored',
    what: 'short waits get no vernier message',
    file: 'functions/aws/timers.ts',
    find: 'const short = hasVernier({ at, retry }, now);',
    replace: 'const short = false;',
  },
  {
    id: 'lost-race-wins',
    what: 'a write that lost its race is taken for done',
    file: 'functions/aws/dynamodb-store.ts',
    find: 'if (error instanceof ConditionalCheckFailedException) return false;',
    replace: 'if (error instanceof ConditionalCheckFailedException) return true;',
  },
  {
    id: 'silence-is-an-end',
    what: 'a silent host is taken for a fenced one',
    file: 'core/vm/decide.ts',
    find: 'return hostSilent(vm, event.hostId, now);',
    replace:
      "return hostFenced(vm, { ...event, kind: 'hostFenced' } as Extract<VmEvent, { kind: 'hostFenced' }>, context);",
  },
  {
    id: 'anyone-is-an-operator',
    what: 'a node may call an operator route',
    file: 'functions/http/admission.ts',
    find: "case 'operator': return caller.name; case 'node': case 'unknownNode':",
    replace: "case 'operator': return caller.name; case 'node': return caller.nodeId; case 'unknownNode':",
  },
  {
    id: 'any-node-reports',
    what: 'a node may report for another',
    file: 'functions/http/admission.ts',
    find: "return admitNode(caller, who === 'node' ? named : null);",
    replace: 'return admitNode(caller, null);',
  },
  {
    id: 'wrong-host',
    what: 'a VM is reported by a node that is not its host',
    file: 'functions/http/agent-routes.ts',
    find: 'if (hostOf(vm) !== caller) throw',
    replace: "if (vm.body.hostId === '') throw",
  },
  {
    id: 'no-withdrawal',
    what: 'a step that nobody picked up keeps its slot for ever',
    file: 'core/node/time.ts',
    find: "case 'withdrawal': return giveUpUnheard(node, now);",
    replace: "case 'withdrawal': return { node, facts: [] };",
  },
  {
    id: 'refusal-writes',
    what: 'a launch that is refused takes the instance on',
    file: 'core/vm/decide.ts',
    find: 'if (held || !wanted(instance) || instance.instanceId !== instanceId) return same(vm);',
    replace: 'if (held || !live(instance) || instance.instanceId !== instanceId) return same(vm);',
  },
];
