/** When a VM must be looked at again. */
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
import { vmPolicyOf } from '../policy.ts';
import type { Alarm } from '../node/timing.ts';
import { after, earliest, type Instant } from '../time.ts';
import { live, type VmRecord } from './record.ts';

/** The earliest instant for which a timer is armed; null when the VM waits for nothing that time brings. */
export function vmAlarm(vm: VmRecord): Alarm | null {
  if (stryMutAct_9fa48("1241")) {
    {}
  } else {
    stryCov_9fa48("1241");
    if (stryMutAct_9fa48("1244") ? vm.removed === null : stryMutAct_9fa48("1243") ? false : stryMutAct_9fa48("1242") ? true : (stryCov_9fa48("1242", "1243", "1244"), vm.removed !== null)) return null;
    const {
      instance
    } = vm;
    const present = live(instance) ? instance : null;
    const retryAt = (stryMutAct_9fa48("1247") ? vm.pendingStart !== null && present === null || vm.power.on : stryMutAct_9fa48("1246") ? false : stryMutAct_9fa48("1245") ? true : (stryCov_9fa48("1245", "1246", "1247"), (stryMutAct_9fa48("1249") ? vm.pendingStart !== null || present === null : stryMutAct_9fa48("1248") ? true : (stryCov_9fa48("1248", "1249"), (stryMutAct_9fa48("1251") ? vm.pendingStart === null : stryMutAct_9fa48("1250") ? true : (stryCov_9fa48("1250", "1251"), vm.pendingStart !== null)) && (stryMutAct_9fa48("1253") ? present !== null : stryMutAct_9fa48("1252") ? true : (stryCov_9fa48("1252", "1253"), present === null)))) && vm.power.on)) ? vm.pendingStart.notBefore : null;
    const at = earliest(stryMutAct_9fa48("1254") ? [] : (stryCov_9fa48("1254"), [retryAt, stryMutAct_9fa48("1255") ? present?.startDeadlineAt && null : (stryCov_9fa48("1255"), (stryMutAct_9fa48("1256") ? present.startDeadlineAt : (stryCov_9fa48("1256"), present?.startDeadlineAt)) ?? null), stryMutAct_9fa48("1257") ? present?.nextWakeAt && null : (stryCov_9fa48("1257"), (stryMutAct_9fa48("1258") ? present.nextWakeAt : (stryCov_9fa48("1258"), present?.nextWakeAt)) ?? null), stableAt(vm)]));
    return (stryMutAct_9fa48("1261") ? at !== null : stryMutAct_9fa48("1260") ? false : stryMutAct_9fa48("1259") ? true : (stryCov_9fa48("1259", "1260", "1261"), at === null)) ? null : stryMutAct_9fa48("1262") ? {} : (stryCov_9fa48("1262"), {
      at,
      retry: stryMutAct_9fa48("1265") ? at !== retryAt : stryMutAct_9fa48("1264") ? false : stryMutAct_9fa48("1263") ? true : (stryCov_9fa48("1263", "1264", "1265"), at === retryAt)
    });
  }
}
function stableAt(vm: VmRecord): Instant | null {
  if (stryMutAct_9fa48("1266")) {
    {}
  } else {
    stryCov_9fa48("1266");
    const {
      instance,
      unstableRuns
    } = vm;
    if (stryMutAct_9fa48("1269") ? (unstableRuns === null || instance?.phase !== 'Running') && instance.runningSince === null : stryMutAct_9fa48("1268") ? false : stryMutAct_9fa48("1267") ? true : (stryCov_9fa48("1267", "1268", "1269"), (stryMutAct_9fa48("1271") ? unstableRuns === null && instance?.phase !== 'Running' : stryMutAct_9fa48("1270") ? false : (stryCov_9fa48("1270", "1271"), (stryMutAct_9fa48("1273") ? unstableRuns !== null : stryMutAct_9fa48("1272") ? false : (stryCov_9fa48("1272", "1273"), unstableRuns === null)) || (stryMutAct_9fa48("1275") ? instance?.phase === 'Running' : stryMutAct_9fa48("1274") ? false : (stryCov_9fa48("1274", "1275"), (stryMutAct_9fa48("1276") ? instance.phase : (stryCov_9fa48("1276"), instance?.phase)) !== (stryMutAct_9fa48("1277") ? "" : (stryCov_9fa48("1277"), 'Running')))))) || (stryMutAct_9fa48("1279") ? instance.runningSince !== null : stryMutAct_9fa48("1278") ? false : (stryCov_9fa48("1278", "1279"), instance.runningSince === null)))) return null;
    return after(instance.runningSince, vmPolicyOf(vm.body).stableFor);
  }
}
export const vmDueAt = stryMutAct_9fa48("1280") ? () => undefined : (stryCov_9fa48("1280"), (() => {
  const vmDueAt = (vm: VmRecord): Instant | null => stryMutAct_9fa48("1281") ? vmAlarm(vm)?.at && null : (stryCov_9fa48("1281"), (stryMutAct_9fa48("1282") ? vmAlarm(vm).at : (stryCov_9fa48("1282"), vmAlarm(vm)?.at)) ?? null);
  return vmDueAt;
})());