// @ts-nocheck
function stryNS_9fa48() {
  var g = typeof globalThis === 'object' && globalThis && globalThis.Math === Math && globalThis || new Function("return this")();
  var ns = g.__stryker__ || (g.__stryker__ = {});
  if (ns.activeMutant === undefined && g.process && g.process.env && g.process.env.__STRYKER_ACTIVE_MUTANT__) {
    ns.activeMutant = g.process.env.__STRYKER_ACTIVE_MUTANT__;
  }
  function retrieveNS() {
    return ns;
  }
  stryNS_9fa48 = retrieveNS;
  return retrieveNS();
}
stryNS_9fa48();
function stryCov_9fa48() {
  var ns = stryNS_9fa48();
  var cov = ns.mutantCoverage || (ns.mutantCoverage = {
    static: {},
    perTest: {}
  });
  function cover() {
    var c = cov.static;
    if (ns.currentTestId) {
      c = cov.perTest[ns.currentTestId] = cov.perTest[ns.currentTestId] || {};
    }
    var a = arguments;
    for (var i = 0; i < a.length; i++) {
      c[a[i]] = (c[a[i]] || 0) + 1;
    }
  }
  stryCov_9fa48 = cover;
  cover.apply(null, arguments);
}
function stryMutAct_9fa48(id) {
  var ns = stryNS_9fa48();
  function isActive(id) {
    if (ns.activeMutant === id) {
      if (ns.hitCount !== void 0 && ++ns.hitCount > ns.hitLimit) {
        throw new Error('Stryker: Hit count limit reached (' + ns.hitCount + ')');
      }
      return true;
    }
    return false;
  }
  stryMutAct_9fa48 = isActive;
  return isActive(id);
}
import type { EndCause, InstancePhase, VmBody } from '../contract.ts';
import type { Aggregate } from '../fact.ts';
import type { InstanceId, NodeId, VmId } from '../ids.ts';
import { type Duration, hours, type Instant, minutes } from '../time.ts';

/** One life of a VM. A final phase means that its end is known. */
export type Instance = {
  instanceId: InstanceId;
  phase: InstancePhase;
  since: Instant;
  createdAt: Instant;
  everRunning: boolean;
  /** When it was last seen to become Running; null until then. */
  runningSince: Instant | null;
  cause: EndCause | null;
  /** Somebody asked for its end: a verb, a change of strategy, or a delete. */
  stop: {
    at: Instant;
    grace: Duration;
  } | null;
  /** When it must be Running; set when the host took it on, null when it was not or there is no deadline. */
  startDeadlineAt: Instant | null;
  /** Its start deadline passed: counted, told to end, not replaced before its end is known. */
  timedOutAt: Instant | null;
  /** When the wake for its start or stop is repeated; null once the host has taken it up. */
  nextWakeAt: Instant | null;
  wakesRepeated: number;
};
export type StartFailure = {
  consecutiveFailCount: number;
  lastFailedInstanceId: InstanceId;
  retryAfter: Instant;
  reason: EndCause;
  message: string | null;
};
export type UnstableRuns = {
  count: number;
  retryAfter: Instant | null;
};
export type LastFailure = {
  reason: EndCause;
  message: string | null;
  console: string | null;
  at: Instant;
};
export type VmRecord = Aggregate & {
  kind: 'vm';
  vmId: VmId;
  uid: string;
  body: VmBody;
  launchRevision: number;
  power: {
    on: boolean;
    sequence: number;
  };
  lastVerb: 'start' | 'stop' | 'restart' | null;
  instance: Instance | null;
  /** Instances before this one, newest last: what they report changes nothing. */
  previousInstances: InstanceId[];
  /** A next instance is wanted, not before this instant and not before the end of the present one is known. */
  pendingStart: {
    notBefore: Instant;
  } | null;
  startFailure: StartFailure | null;
  unstableRuns: UnstableRuns | null;
  lastFailure: LastFailure | null;
  restartCount: number;
  deleting: {
    at: Instant;
    deadlineAt: Instant;
  } | null;
  /** Set when the record is gone: a tombstone that knows which reports are late. */
  removed: {
    at: Instant;
  } | null;
};
export const INSTANCES_KEPT = 16;
/** After the first repeats a wake that the host does not take up goes on at this pace: no wait is without an end. */
export const PATIENT_WAKE_EVERY = hours(1);
/** How long after the grace period a delete that is still blocked names its blocker. */
export const DELETE_PATIENCE = minutes(5);

/** An instance that runs, may run, or may yet be run by its host. */
export type LiveInstance = Instance & {
  phase: Exclude<InstancePhase, 'Succeeded' | 'Failed'>;
};
export const live = stryMutAct_9fa48("1005") ? () => undefined : (stryCov_9fa48("1005"), (() => {
  const live = (instance: Instance | null): instance is LiveInstance => stryMutAct_9fa48("1008") ? instance !== null && instance.phase !== 'Succeeded' || instance.phase !== 'Failed' : stryMutAct_9fa48("1007") ? false : stryMutAct_9fa48("1006") ? true : (stryCov_9fa48("1006", "1007", "1008"), (stryMutAct_9fa48("1010") ? instance !== null || instance.phase !== 'Succeeded' : stryMutAct_9fa48("1009") ? true : (stryCov_9fa48("1009", "1010"), (stryMutAct_9fa48("1012") ? instance === null : stryMutAct_9fa48("1011") ? true : (stryCov_9fa48("1011", "1012"), instance !== null)) && (stryMutAct_9fa48("1014") ? instance.phase === 'Succeeded' : stryMutAct_9fa48("1013") ? true : (stryCov_9fa48("1013", "1014"), instance.phase !== (stryMutAct_9fa48("1015") ? "" : (stryCov_9fa48("1015"), 'Succeeded')))))) && (stryMutAct_9fa48("1017") ? instance.phase === 'Failed' : stryMutAct_9fa48("1016") ? true : (stryCov_9fa48("1016", "1017"), instance.phase !== (stryMutAct_9fa48("1018") ? "" : (stryCov_9fa48("1018"), 'Failed')))));
  return live;
})());

/** Ends that never count, whoever reports them (DESIGN section 3). */
export const UNCOUNTED_CAUSES: readonly EndCause[] = stryMutAct_9fa48("1019") ? [] : (stryCov_9fa48("1019"), [stryMutAct_9fa48("1020") ? "" : (stryCov_9fa48("1020"), 'Requested'), stryMutAct_9fa48("1021") ? "" : (stryCov_9fa48("1021"), 'HostMaintenance'), stryMutAct_9fa48("1022") ? "" : (stryCov_9fa48("1022"), 'HostLost')]);

/** The strategies that restart by themselves and keep failure records (rule 1). */
export const keepsRecords = stryMutAct_9fa48("1023") ? () => undefined : (stryCov_9fa48("1023"), (() => {
  const keepsRecords = (vm: VmRecord): boolean => stryMutAct_9fa48("1026") ? vm.body.runStrategy === 'Always' && vm.body.runStrategy === 'RerunOnFailure' : stryMutAct_9fa48("1025") ? false : stryMutAct_9fa48("1024") ? true : (stryCov_9fa48("1024", "1025", "1026"), (stryMutAct_9fa48("1028") ? vm.body.runStrategy !== 'Always' : stryMutAct_9fa48("1027") ? false : (stryCov_9fa48("1027", "1028"), vm.body.runStrategy === (stryMutAct_9fa48("1029") ? "" : (stryCov_9fa48("1029"), 'Always')))) || (stryMutAct_9fa48("1031") ? vm.body.runStrategy !== 'RerunOnFailure' : stryMutAct_9fa48("1030") ? false : (stryCov_9fa48("1030", "1031"), vm.body.runStrategy === (stryMutAct_9fa48("1032") ? "" : (stryCov_9fa48("1032"), 'RerunOnFailure')))));
  return keepsRecords;
})());
export const hostOf = stryMutAct_9fa48("1033") ? () => undefined : (stryCov_9fa48("1033"), (() => {
  const hostOf = (vm: VmRecord): NodeId => vm.body.hostId as NodeId;
  return hostOf;
})()); // the contract has checked it