/** A VM as the API and its host see it: the same record that decides also explains. */
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
import type { DesiredVm, HostVm, PrintableStatus, VmJson } from '../contract.ts';
import { sayWhen } from '../node/readiness.ts';
import { vmPolicyOf } from '../policy.ts';
import { after, formatInstant, type Instant } from '../time.ts';
import { type Instance, live, type VmRecord } from './record.ts';
export function describeVm(vm: VmRecord, now: Instant): VmJson {
  if (stryMutAct_9fa48("406")) {
    {}
  } else {
    stryCov_9fa48("406");
    const {
      instance,
      startFailure,
      unstableRuns,
      lastFailure
    } = vm;
    return stryMutAct_9fa48("407") ? {} : (stryCov_9fa48("407"), {
      vmId: vm.vmId,
      uid: vm.uid,
      hostId: vm.body.hostId,
      runStrategy: vm.body.runStrategy,
      power: vm.power,
      instance: (stryMutAct_9fa48("410") ? instance !== null : stryMutAct_9fa48("409") ? false : stryMutAct_9fa48("408") ? true : (stryCov_9fa48("408", "409", "410"), instance === null)) ? null : stryMutAct_9fa48("411") ? {} : (stryCov_9fa48("411"), {
        instanceId: instance.instanceId,
        phase: instance.phase,
        since: formatInstant(instance.since),
        everRunning: instance.everRunning,
        cause: instance.cause
      }),
      startFailure: (stryMutAct_9fa48("414") ? startFailure !== null : stryMutAct_9fa48("413") ? false : stryMutAct_9fa48("412") ? true : (stryCov_9fa48("412", "413", "414"), startFailure === null)) ? null : stryMutAct_9fa48("415") ? {} : (stryCov_9fa48("415"), {
        ...startFailure,
        retryAfter: formatInstant(startFailure.retryAfter)
      }),
      unstableRuns: (stryMutAct_9fa48("418") ? unstableRuns !== null : stryMutAct_9fa48("417") ? false : stryMutAct_9fa48("416") ? true : (stryCov_9fa48("416", "417", "418"), unstableRuns === null)) ? null : stryMutAct_9fa48("419") ? {} : (stryCov_9fa48("419"), {
        count: unstableRuns.count,
        retryAfter: (stryMutAct_9fa48("422") ? unstableRuns.retryAfter !== null : stryMutAct_9fa48("421") ? false : stryMutAct_9fa48("420") ? true : (stryCov_9fa48("420", "421", "422"), unstableRuns.retryAfter === null)) ? null : formatInstant(unstableRuns.retryAfter)
      }),
      lastFailure: (stryMutAct_9fa48("425") ? lastFailure !== null : stryMutAct_9fa48("424") ? false : stryMutAct_9fa48("423") ? true : (stryCov_9fa48("423", "424", "425"), lastFailure === null)) ? null : stryMutAct_9fa48("426") ? {} : (stryCov_9fa48("426"), {
        ...lastFailure,
        at: formatInstant(lastFailure.at)
      }),
      printableStatus: printableStatus(vm),
      restartCount: vm.restartCount,
      explanation: explain(vm, now)
    });
  }
}

/** The first status that matches (rule 3). CrashLoopBackOff only while a retry is really planned. */
export function printableStatus(vm: VmRecord): PrintableStatus {
  if (stryMutAct_9fa48("427")) {
    {}
  } else {
    stryCov_9fa48("427");
    const {
      instance,
      body
    } = vm;
    if (stryMutAct_9fa48("430") ? vm.deleting === null : stryMutAct_9fa48("429") ? false : stryMutAct_9fa48("428") ? true : (stryCov_9fa48("428", "429", "430"), vm.deleting !== null)) return stryMutAct_9fa48("431") ? "" : (stryCov_9fa48("431"), 'Terminating');
    if (stryMutAct_9fa48("433") ? false : stryMutAct_9fa48("432") ? true : (stryCov_9fa48("432", "433"), live(instance))) {
      if (stryMutAct_9fa48("434")) {
        {}
      } else {
        stryCov_9fa48("434");
        if (stryMutAct_9fa48("437") ? instance.stop === null : stryMutAct_9fa48("436") ? false : stryMutAct_9fa48("435") ? true : (stryCov_9fa48("435", "436", "437"), instance.stop !== null)) return stryMutAct_9fa48("438") ? "" : (stryCov_9fa48("438"), 'Stopping');
        if (stryMutAct_9fa48("441") ? instance.timedOutAt === null : stryMutAct_9fa48("440") ? false : stryMutAct_9fa48("439") ? true : (stryCov_9fa48("439", "440", "441"), instance.timedOutAt !== null)) return (stryMutAct_9fa48("444") ? vm.pendingStart !== null || inCrashLoop(vm) : stryMutAct_9fa48("443") ? false : stryMutAct_9fa48("442") ? true : (stryCov_9fa48("442", "443", "444"), (stryMutAct_9fa48("446") ? vm.pendingStart === null : stryMutAct_9fa48("445") ? true : (stryCov_9fa48("445", "446"), vm.pendingStart !== null)) && inCrashLoop(vm))) ? stryMutAct_9fa48("447") ? "" : (stryCov_9fa48("447"), 'CrashLoopBackOff') : stryMutAct_9fa48("448") ? "" : (stryCov_9fa48("448"), 'Stopping');
        if (stryMutAct_9fa48("451") ? instance.phase !== 'Running' : stryMutAct_9fa48("450") ? false : stryMutAct_9fa48("449") ? true : (stryCov_9fa48("449", "450", "451"), instance.phase === (stryMutAct_9fa48("452") ? "" : (stryCov_9fa48("452"), 'Running')))) return stryMutAct_9fa48("453") ? "" : (stryCov_9fa48("453"), 'Running');
        return (stryMutAct_9fa48("456") ? instance.phase !== 'Unknown' : stryMutAct_9fa48("455") ? false : stryMutAct_9fa48("454") ? true : (stryCov_9fa48("454", "455", "456"), instance.phase === (stryMutAct_9fa48("457") ? "" : (stryCov_9fa48("457"), 'Unknown')))) ? stryMutAct_9fa48("458") ? "" : (stryCov_9fa48("458"), 'Unknown') : stryMutAct_9fa48("459") ? "" : (stryCov_9fa48("459"), 'Starting');
      }
    }
    if (stryMutAct_9fa48("462") ? vm.pendingStart !== null || vm.power.on : stryMutAct_9fa48("461") ? false : stryMutAct_9fa48("460") ? true : (stryCov_9fa48("460", "461", "462"), (stryMutAct_9fa48("464") ? vm.pendingStart === null : stryMutAct_9fa48("463") ? true : (stryCov_9fa48("463", "464"), vm.pendingStart !== null)) && vm.power.on)) return stryMutAct_9fa48("465") ? "" : (stryCov_9fa48("465"), 'CrashLoopBackOff');
    if (stryMutAct_9fa48("468") ? body.runStrategy === 'Once' && vm.power.on || instance?.phase === 'Succeeded' : stryMutAct_9fa48("467") ? false : stryMutAct_9fa48("466") ? true : (stryCov_9fa48("466", "467", "468"), (stryMutAct_9fa48("470") ? body.runStrategy === 'Once' || vm.power.on : stryMutAct_9fa48("469") ? true : (stryCov_9fa48("469", "470"), (stryMutAct_9fa48("472") ? body.runStrategy !== 'Once' : stryMutAct_9fa48("471") ? true : (stryCov_9fa48("471", "472"), body.runStrategy === (stryMutAct_9fa48("473") ? "" : (stryCov_9fa48("473"), 'Once')))) && vm.power.on)) && (stryMutAct_9fa48("475") ? instance?.phase !== 'Succeeded' : stryMutAct_9fa48("474") ? true : (stryCov_9fa48("474", "475"), (stryMutAct_9fa48("476") ? instance.phase : (stryCov_9fa48("476"), instance?.phase)) === (stryMutAct_9fa48("477") ? "" : (stryCov_9fa48("477"), 'Succeeded')))))) return stryMutAct_9fa48("478") ? "" : (stryCov_9fa48("478"), 'Completed');
    if (stryMutAct_9fa48("481") ? body.runStrategy === 'Once' && vm.power.on || instance?.phase === 'Failed' : stryMutAct_9fa48("480") ? false : stryMutAct_9fa48("479") ? true : (stryCov_9fa48("479", "480", "481"), (stryMutAct_9fa48("483") ? body.runStrategy === 'Once' || vm.power.on : stryMutAct_9fa48("482") ? true : (stryCov_9fa48("482", "483"), (stryMutAct_9fa48("485") ? body.runStrategy !== 'Once' : stryMutAct_9fa48("484") ? true : (stryCov_9fa48("484", "485"), body.runStrategy === (stryMutAct_9fa48("486") ? "" : (stryCov_9fa48("486"), 'Once')))) && vm.power.on)) && (stryMutAct_9fa48("488") ? instance?.phase !== 'Failed' : stryMutAct_9fa48("487") ? true : (stryCov_9fa48("487", "488"), (stryMutAct_9fa48("489") ? instance.phase : (stryCov_9fa48("489"), instance?.phase)) === (stryMutAct_9fa48("490") ? "" : (stryCov_9fa48("490"), 'Failed')))))) return stryMutAct_9fa48("491") ? "" : (stryCov_9fa48("491"), 'Failed');
    return stryMutAct_9fa48("492") ? "" : (stryCov_9fa48("492"), 'Stopped');
  }
}
const inARow = stryMutAct_9fa48("493") ? () => undefined : (stryCov_9fa48("493"), (() => {
  const inARow = (count: number): string => (stryMutAct_9fa48("496") ? count !== 1 : stryMutAct_9fa48("495") ? false : stryMutAct_9fa48("494") ? true : (stryCov_9fa48("494", "495", "496"), count === 1)) ? stryMutAct_9fa48("497") ? "" : (stryCov_9fa48("497"), 'once') : stryMutAct_9fa48("498") ? `` : (stryCov_9fa48("498"), `${count} times in a row`);
  return inARow;
})());

/** Failures are recorded: what is planned is a retry, not a start that somebody asked for. */
const inCrashLoop = stryMutAct_9fa48("499") ? () => undefined : (stryCov_9fa48("499"), (() => {
  const inCrashLoop = (vm: VmRecord): boolean => stryMutAct_9fa48("502") ? vm.startFailure !== null && vm.unstableRuns !== null : stryMutAct_9fa48("501") ? false : stryMutAct_9fa48("500") ? true : (stryCov_9fa48("500", "501", "502"), (stryMutAct_9fa48("504") ? vm.startFailure === null : stryMutAct_9fa48("503") ? false : (stryCov_9fa48("503", "504"), vm.startFailure !== null)) || (stryMutAct_9fa48("506") ? vm.unstableRuns === null : stryMutAct_9fa48("505") ? false : (stryCov_9fa48("505", "506"), vm.unstableRuns !== null)));
  return inCrashLoop;
})());
function explain(vm: VmRecord, now: Instant): string {
  if (stryMutAct_9fa48("507")) {
    {}
  } else {
    stryCov_9fa48("507");
    const failure = (stryMutAct_9fa48("510") ? vm.lastFailure !== null : stryMutAct_9fa48("509") ? false : stryMutAct_9fa48("508") ? true : (stryCov_9fa48("508", "509", "510"), vm.lastFailure === null)) ? stryMutAct_9fa48("511") ? "Stryker was here!" : (stryCov_9fa48("511"), '') : stryMutAct_9fa48("512") ? `` : (stryCov_9fa48("512"), ` Last failure ${formatInstant(vm.lastFailure.at)}: ${vm.lastFailure.reason}${(stryMutAct_9fa48("515") ? vm.lastFailure.message !== null : stryMutAct_9fa48("514") ? false : stryMutAct_9fa48("513") ? true : (stryCov_9fa48("513", "514", "515"), vm.lastFailure.message === null)) ? stryMutAct_9fa48("516") ? "Stryker was here!" : (stryCov_9fa48("516"), '') : stryMutAct_9fa48("517") ? `` : (stryCov_9fa48("517"), ` (${vm.lastFailure.message})`)}.`);
    return stryMutAct_9fa48("518") ? `` : (stryCov_9fa48("518"), `${sentence(vm, now)}${(stryMutAct_9fa48("521") ? (vm.startFailure !== null || vm.unstableRuns !== null) && printableStatus(vm) === 'Failed' : stryMutAct_9fa48("520") ? false : stryMutAct_9fa48("519") ? true : (stryCov_9fa48("519", "520", "521"), (stryMutAct_9fa48("523") ? vm.startFailure !== null && vm.unstableRuns !== null : stryMutAct_9fa48("522") ? false : (stryCov_9fa48("522", "523"), (stryMutAct_9fa48("525") ? vm.startFailure === null : stryMutAct_9fa48("524") ? false : (stryCov_9fa48("524", "525"), vm.startFailure !== null)) || (stryMutAct_9fa48("527") ? vm.unstableRuns === null : stryMutAct_9fa48("526") ? false : (stryCov_9fa48("526", "527"), vm.unstableRuns !== null)))) || (stryMutAct_9fa48("529") ? printableStatus(vm) !== 'Failed' : stryMutAct_9fa48("528") ? false : (stryCov_9fa48("528", "529"), printableStatus(vm) === (stryMutAct_9fa48("530") ? "" : (stryCov_9fa48("530"), 'Failed')))))) ? failure : stryMutAct_9fa48("531") ? "Stryker was here!" : (stryCov_9fa48("531"), '')}`);
  }
}
function sentence(vm: VmRecord, now: Instant): string {
  if (stryMutAct_9fa48("532")) {
    {}
  } else {
    stryCov_9fa48("532");
    const {
      instance,
      body
    } = vm;
    if (stryMutAct_9fa48("535") ? vm.deleting === null : stryMutAct_9fa48("534") ? false : stryMutAct_9fa48("533") ? true : (stryCov_9fa48("533", "534", "535"), vm.deleting !== null)) return deletingSentence(vm, vm.deleting, now);
    if (stryMutAct_9fa48("537") ? false : stryMutAct_9fa48("536") ? true : (stryCov_9fa48("536", "537"), live(instance))) return liveSentence(vm, instance, now);
    if (stryMutAct_9fa48("540") ? vm.pendingStart !== null || vm.power.on : stryMutAct_9fa48("539") ? false : stryMutAct_9fa48("538") ? true : (stryCov_9fa48("538", "539", "540"), (stryMutAct_9fa48("542") ? vm.pendingStart === null : stryMutAct_9fa48("541") ? true : (stryCov_9fa48("541", "542"), vm.pendingStart !== null)) && vm.power.on)) return stryMutAct_9fa48("543") ? `` : (stryCov_9fa48("543"), `${loops(vm)}; the next start is tried ${sayWhen(vm.pendingStart.notBefore, now)} on host ${body.hostId}. Start it to try now, stop it to give up.`);
    if (stryMutAct_9fa48("546") ? body.runStrategy !== 'Halted' : stryMutAct_9fa48("545") ? false : stryMutAct_9fa48("544") ? true : (stryCov_9fa48("544", "545", "546"), body.runStrategy === (stryMutAct_9fa48("547") ? "" : (stryCov_9fa48("547"), 'Halted')))) return stryMutAct_9fa48("548") ? "" : (stryCov_9fa48("548"), 'Halted: it never runs; change its runStrategy to run it.');
    if (stryMutAct_9fa48("551") ? !vm.power.on || vm.lastVerb === 'stop' : stryMutAct_9fa48("550") ? false : stryMutAct_9fa48("549") ? true : (stryCov_9fa48("549", "550", "551"), (stryMutAct_9fa48("552") ? vm.power.on : (stryCov_9fa48("552"), !vm.power.on)) && (stryMutAct_9fa48("554") ? vm.lastVerb !== 'stop' : stryMutAct_9fa48("553") ? true : (stryCov_9fa48("553", "554"), vm.lastVerb === (stryMutAct_9fa48("555") ? "" : (stryCov_9fa48("555"), 'stop')))))) return stryMutAct_9fa48("556") ? "" : (stryCov_9fa48("556"), 'Stopped by an operator; it stays off until it is started.');
    if (stryMutAct_9fa48("559") ? instance !== null : stryMutAct_9fa48("558") ? false : stryMutAct_9fa48("557") ? true : (stryCov_9fa48("557", "558", "559"), instance === null)) return stryMutAct_9fa48("560") ? "" : (stryCov_9fa48("560"), 'Off: it has not been started yet; start it to run it.');
    const how = stryMutAct_9fa48("561") ? `` : (stryCov_9fa48("561"), `Its last instance ended ${instance.phase} (${stryMutAct_9fa48("562") ? instance.cause && 'Unknown' : (stryCov_9fa48("562"), instance.cause ?? (stryMutAct_9fa48("563") ? "" : (stryCov_9fa48("563"), 'Unknown')))})`);
    if (stryMutAct_9fa48("566") ? body.runStrategy !== 'Once' : stryMutAct_9fa48("565") ? false : stryMutAct_9fa48("564") ? true : (stryCov_9fa48("564", "565", "566"), body.runStrategy === (stryMutAct_9fa48("567") ? "" : (stryCov_9fa48("567"), 'Once')))) return stryMutAct_9fa48("568") ? `` : (stryCov_9fa48("568"), `${how} and run strategy Once runs it only once; stop it and start it to run it again.`);
    if (stryMutAct_9fa48("571") ? body.runStrategy !== 'RerunOnFailure' : stryMutAct_9fa48("570") ? false : stryMutAct_9fa48("569") ? true : (stryCov_9fa48("569", "570", "571"), body.runStrategy === (stryMutAct_9fa48("572") ? "" : (stryCov_9fa48("572"), 'RerunOnFailure')))) return stryMutAct_9fa48("573") ? `` : (stryCov_9fa48("573"), `${how}: the guest is done, and run strategy RerunOnFailure restarts only after a failure; start it to run it again.`);
    return stryMutAct_9fa48("574") ? `` : (stryCov_9fa48("574"), `${how}; start it to run it again.`);
  }
}

/** What the counters say: both kinds of crash loop in one phrase. */
function loops(vm: VmRecord): string {
  if (stryMutAct_9fa48("575")) {
    {}
  } else {
    stryCov_9fa48("575");
    const {
      startFailure,
      unstableRuns
    } = vm;
    const parts = stryMutAct_9fa48("576") ? [] : (stryCov_9fa48("576"), [...((stryMutAct_9fa48("579") ? startFailure !== null : stryMutAct_9fa48("578") ? false : stryMutAct_9fa48("577") ? true : (stryCov_9fa48("577", "578", "579"), startFailure === null)) ? stryMutAct_9fa48("580") ? ["Stryker was here"] : (stryCov_9fa48("580"), []) : stryMutAct_9fa48("581") ? [] : (stryCov_9fa48("581"), [stryMutAct_9fa48("582") ? `` : (stryCov_9fa48("582"), `failed to start ${inARow(startFailure.consecutiveFailCount)} (${startFailure.reason})`)])), ...((stryMutAct_9fa48("585") ? unstableRuns !== null : stryMutAct_9fa48("584") ? false : stryMutAct_9fa48("583") ? true : (stryCov_9fa48("583", "584", "585"), unstableRuns === null)) ? stryMutAct_9fa48("586") ? ["Stryker was here"] : (stryCov_9fa48("586"), []) : stryMutAct_9fa48("587") ? [] : (stryCov_9fa48("587"), [stryMutAct_9fa48("588") ? `` : (stryCov_9fa48("588"), `ran only shortly ${inARow(unstableRuns.count)}`)]))]);
    return (stryMutAct_9fa48("591") ? parts.length !== 0 : stryMutAct_9fa48("590") ? false : stryMutAct_9fa48("589") ? true : (stryCov_9fa48("589", "590", "591"), parts.length === 0)) ? stryMutAct_9fa48("592") ? "" : (stryCov_9fa48("592"), 'Is to be started') : stryMutAct_9fa48("593") ? `` : (stryCov_9fa48("593"), `In a crash loop: ${parts.join(stryMutAct_9fa48("594") ? "" : (stryCov_9fa48("594"), ' and '))}`);
  }
}
function liveSentence(vm: VmRecord, instance: Instance, now: Instant): string {
  if (stryMutAct_9fa48("595")) {
    {}
  } else {
    stryCov_9fa48("595");
    const host = vm.body.hostId;
    const repeat = (stryMutAct_9fa48("598") ? instance.nextWakeAt !== null : stryMutAct_9fa48("597") ? false : stryMutAct_9fa48("596") ? true : (stryCov_9fa48("596", "597", "598"), instance.nextWakeAt === null)) ? stryMutAct_9fa48("599") ? "Stryker was here!" : (stryCov_9fa48("599"), '') : stryMutAct_9fa48("600") ? `` : (stryCov_9fa48("600"), `; the host is woken again ${sayWhen(instance.nextWakeAt, now)}`);
    if (stryMutAct_9fa48("603") ? instance.stop === null : stryMutAct_9fa48("602") ? false : stryMutAct_9fa48("601") ? true : (stryCov_9fa48("601", "602", "603"), instance.stop !== null)) {
      if (stryMutAct_9fa48("604")) {
        {}
      } else {
        stryCov_9fa48("604");
        const then = (stryMutAct_9fa48("607") ? vm.pendingStart !== null || vm.power.on : stryMutAct_9fa48("606") ? false : stryMutAct_9fa48("605") ? true : (stryCov_9fa48("605", "606", "607"), (stryMutAct_9fa48("609") ? vm.pendingStart === null : stryMutAct_9fa48("608") ? true : (stryCov_9fa48("608", "609"), vm.pendingStart !== null)) && vm.power.on)) ? stryMutAct_9fa48("610") ? "" : (stryCov_9fa48("610"), 'then it is started again') : stryMutAct_9fa48("611") ? "" : (stryCov_9fa48("611"), 'then it stays off');
        return stryMutAct_9fa48("612") ? `` : (stryCov_9fa48("612"), `Stopping: host ${host} was told to end instance ${instance.instanceId} and its end is not known yet${repeat}; ${then}.`);
      }
    }
    if (stryMutAct_9fa48("615") ? instance.timedOutAt === null : stryMutAct_9fa48("614") ? false : stryMutAct_9fa48("613") ? true : (stryCov_9fa48("613", "614", "615"), instance.timedOutAt !== null)) {
      if (stryMutAct_9fa48("616")) {
        {}
      } else {
        stryCov_9fa48("616");
        const next = (stryMutAct_9fa48("619") ? vm.pendingStart !== null : stryMutAct_9fa48("618") ? false : stryMutAct_9fa48("617") ? true : (stryCov_9fa48("617", "618", "619"), vm.pendingStart === null)) ? stryMutAct_9fa48("620") ? "Stryker was here!" : (stryCov_9fa48("620"), '') : stryMutAct_9fa48("621") ? `` : (stryCov_9fa48("621"), `, and the next start waits for that and is tried not before ${sayWhen(vm.pendingStart.notBefore, now)}`);
        return stryMutAct_9fa48("622") ? `` : (stryCov_9fa48("622"), `${loops(vm)}: instance ${instance.instanceId} was not Running within its start deadline, host ${host} was told to end it and its end is not known yet${repeat}${next}.`);
      }
    }
    switch (instance.phase) {
      case stryMutAct_9fa48("624") ? "" : (stryCov_9fa48("624"), 'Running'):
        if (stryMutAct_9fa48("623")) {} else {
          stryCov_9fa48("623");
          {
            if (stryMutAct_9fa48("625")) {
              {}
            } else {
              stryCov_9fa48("625");
              const {
                unstableRuns
              } = vm;
              if (stryMutAct_9fa48("628") ? unstableRuns === null && instance.runningSince === null : stryMutAct_9fa48("627") ? false : stryMutAct_9fa48("626") ? true : (stryCov_9fa48("626", "627", "628"), (stryMutAct_9fa48("630") ? unstableRuns !== null : stryMutAct_9fa48("629") ? false : (stryCov_9fa48("629", "630"), unstableRuns === null)) || (stryMutAct_9fa48("632") ? instance.runningSince !== null : stryMutAct_9fa48("631") ? false : (stryCov_9fa48("631", "632"), instance.runningSince === null)))) return stryMutAct_9fa48("633") ? `` : (stryCov_9fa48("633"), `Running on host ${host} since ${formatInstant(instance.since)}.`);
              return stryMutAct_9fa48("634") ? `` : (stryCov_9fa48("634"), `Running on host ${host} after ${unstableRuns.count} unstable runs, which are forgotten ${sayWhen(after(instance.runningSince, vmPolicyOf(vm.body).stableFor), now)} if it stays up.`);
            }
          }
        }
      case stryMutAct_9fa48("636") ? "" : (stryCov_9fa48("636"), 'Unknown'):
        if (stryMutAct_9fa48("635")) {} else {
          stryCov_9fa48("635");
          return stryMutAct_9fa48("637") ? `` : (stryCov_9fa48("637"), `Host ${host} is silent, so nothing is known of instance ${instance.instanceId}; it is started again only after the host reports or is fenced.`);
        }
      case stryMutAct_9fa48("639") ? "" : (stryCov_9fa48("639"), 'Scheduled'):
        if (stryMutAct_9fa48("638")) {} else {
          stryCov_9fa48("638");
          return stryMutAct_9fa48("640") ? `` : (stryCov_9fa48("640"), `Host ${host} is starting instance ${instance.instanceId}${(stryMutAct_9fa48("643") ? instance.startDeadlineAt !== null : stryMutAct_9fa48("642") ? false : stryMutAct_9fa48("641") ? true : (stryCov_9fa48("641", "642", "643"), instance.startDeadlineAt === null)) ? stryMutAct_9fa48("644") ? "Stryker was here!" : (stryCov_9fa48("644"), '') : stryMutAct_9fa48("645") ? `` : (stryCov_9fa48("645"), `; not Running ${sayWhen(instance.startDeadlineAt, now)} counts as a start failure`)}.`);
        }
      case stryMutAct_9fa48("646") ? "" : (stryCov_9fa48("646"), 'Pending'):
      case stryMutAct_9fa48("647") ? "" : (stryCov_9fa48("647"), 'Succeeded'):
      case stryMutAct_9fa48("649") ? "" : (stryCov_9fa48("649"), 'Failed'):
        if (stryMutAct_9fa48("648")) {} else {
          stryCov_9fa48("648");
          return stryMutAct_9fa48("650") ? `` : (stryCov_9fa48("650"), `Host ${host} has not picked up instance ${instance.instanceId} yet${repeat}; nothing is counted.`);
        }
    }
  }
}
function deletingSentence(vm: VmRecord, deleting: NonNullable<VmRecord['deleting']>, now: Instant): string {
  if (stryMutAct_9fa48("651")) {
    {}
  } else {
    stryCov_9fa48("651");
    const what = (stryMutAct_9fa48("654") ? vm.instance !== null : stryMutAct_9fa48("653") ? false : stryMutAct_9fa48("652") ? true : (stryCov_9fa48("652", "653", "654"), vm.instance === null)) ? stryMutAct_9fa48("655") ? "" : (stryCov_9fa48("655"), 'its record goes') : stryMutAct_9fa48("656") ? `` : (stryCov_9fa48("656"), `the record goes once host ${vm.body.hostId} reports the end of instance ${vm.instance.instanceId}`);
    if (stryMutAct_9fa48("660") ? now >= deleting.deadlineAt : stryMutAct_9fa48("659") ? now <= deleting.deadlineAt : stryMutAct_9fa48("658") ? false : stryMutAct_9fa48("657") ? true : (stryCov_9fa48("657", "658", "659", "660"), now < deleting.deadlineAt)) return stryMutAct_9fa48("661") ? `` : (stryCov_9fa48("661"), `Being deleted: ${what}; a blocker is named ${sayWhen(deleting.deadlineAt, now)}.`);
    return stryMutAct_9fa48("662") ? `` : (stryCov_9fa48("662"), `Being deleted, blocked by host ${vm.body.hostId}: it has not reported the end of instance ${stryMutAct_9fa48("663") ? vm.instance?.instanceId && '' : (stryCov_9fa48("663"), (stryMutAct_9fa48("664") ? vm.instance.instanceId : (stryCov_9fa48("664"), vm.instance?.instanceId)) ?? (stryMutAct_9fa48("665") ? "Stryker was here!" : (stryCov_9fa48("665"), '')))} since ${formatInstant(deleting.at)}. Fence the host, or delete with force, which gives up the guarantee that no second instance runs.`);
  }
}

/** Whether an instance is to run: off for every one that is stopped, timed out, deleted, or not ours (section 6). */
export function desiredFor(vm: VmRecord | null, instanceId: string, uid: string | undefined): DesiredVm {
  if (stryMutAct_9fa48("666")) {
    {}
  } else {
    stryCov_9fa48("666");
    if (stryMutAct_9fa48("669") ? (vm === null || vm.removed !== null) && uid !== undefined && uid !== vm.uid : stryMutAct_9fa48("668") ? false : stryMutAct_9fa48("667") ? true : (stryCov_9fa48("667", "668", "669"), (stryMutAct_9fa48("671") ? vm === null && vm.removed !== null : stryMutAct_9fa48("670") ? false : (stryCov_9fa48("670", "671"), (stryMutAct_9fa48("673") ? vm !== null : stryMutAct_9fa48("672") ? false : (stryCov_9fa48("672", "673"), vm === null)) || (stryMutAct_9fa48("675") ? vm.removed === null : stryMutAct_9fa48("674") ? false : (stryCov_9fa48("674", "675"), vm.removed !== null)))) || (stryMutAct_9fa48("677") ? uid !== undefined || uid !== vm.uid : stryMutAct_9fa48("676") ? false : (stryCov_9fa48("676", "677"), (stryMutAct_9fa48("679") ? uid === undefined : stryMutAct_9fa48("678") ? true : (stryCov_9fa48("678", "679"), uid !== undefined)) && (stryMutAct_9fa48("681") ? uid === vm.uid : stryMutAct_9fa48("680") ? true : (stryCov_9fa48("680", "681"), uid !== vm.uid)))))) return stryMutAct_9fa48("682") ? {} : (stryCov_9fa48("682"), {
      power: stryMutAct_9fa48("683") ? "" : (stryCov_9fa48("683"), 'off'),
      instanceId
    });
    const {
      instance
    } = vm;
    if (stryMutAct_9fa48("686") ? !live(instance) && instance.instanceId !== instanceId : stryMutAct_9fa48("685") ? false : stryMutAct_9fa48("684") ? true : (stryCov_9fa48("684", "685", "686"), (stryMutAct_9fa48("687") ? live(instance) : (stryCov_9fa48("687"), !live(instance))) || (stryMutAct_9fa48("689") ? instance.instanceId === instanceId : stryMutAct_9fa48("688") ? false : (stryCov_9fa48("688", "689"), instance.instanceId !== instanceId)))) return stryMutAct_9fa48("690") ? {} : (stryCov_9fa48("690"), {
      power: stryMutAct_9fa48("691") ? "" : (stryCov_9fa48("691"), 'off'),
      instanceId
    });
    if (stryMutAct_9fa48("694") ? instance.stop === null : stryMutAct_9fa48("693") ? false : stryMutAct_9fa48("692") ? true : (stryCov_9fa48("692", "693", "694"), instance.stop !== null)) return stryMutAct_9fa48("695") ? {} : (stryCov_9fa48("695"), {
      power: stryMutAct_9fa48("696") ? "" : (stryCov_9fa48("696"), 'off'),
      instanceId,
      graceSeconds: stryMutAct_9fa48("697") ? instance.stop.grace * 1000 : (stryCov_9fa48("697"), instance.stop.grace / 1000)
    });
    if (stryMutAct_9fa48("700") ? instance.timedOutAt === null : stryMutAct_9fa48("699") ? false : stryMutAct_9fa48("698") ? true : (stryCov_9fa48("698", "699", "700"), instance.timedOutAt !== null)) return stryMutAct_9fa48("701") ? {} : (stryCov_9fa48("701"), {
      power: stryMutAct_9fa48("702") ? "" : (stryCov_9fa48("702"), 'off'),
      instanceId,
      graceSeconds: 0
    });
    return stryMutAct_9fa48("703") ? {} : (stryCov_9fa48("703"), {
      power: stryMutAct_9fa48("704") ? "" : (stryCov_9fa48("704"), 'on'),
      instanceId
    });
  }
}

/** What a host is told of a VM: its live instance, to run or to end; nothing when none is to be there. */
export function hostLine(vm: VmRecord): HostVm | null {
  if (stryMutAct_9fa48("705")) {
    {}
  } else {
    stryCov_9fa48("705");
    if (stryMutAct_9fa48("708") ? vm.removed !== null && !live(vm.instance) : stryMutAct_9fa48("707") ? false : stryMutAct_9fa48("706") ? true : (stryCov_9fa48("706", "707", "708"), (stryMutAct_9fa48("710") ? vm.removed === null : stryMutAct_9fa48("709") ? false : (stryCov_9fa48("709", "710"), vm.removed !== null)) || (stryMutAct_9fa48("711") ? live(vm.instance) : (stryCov_9fa48("711"), !live(vm.instance))))) return null;
    const {
      instanceId,
      power,
      graceSeconds
    } = desiredFor(vm, vm.instance.instanceId, undefined);
    return stryMutAct_9fa48("712") ? {} : (stryCov_9fa48("712"), {
      vmId: vm.vmId,
      uid: vm.uid,
      power,
      instanceId,
      launchRevision: vm.launchRevision,
      ...((stryMutAct_9fa48("715") ? graceSeconds !== undefined : stryMutAct_9fa48("714") ? false : stryMutAct_9fa48("713") ? true : (stryCov_9fa48("713", "714", "715"), graceSeconds === undefined)) ? {} : stryMutAct_9fa48("716") ? {} : (stryCov_9fa48("716"), {
        graceSeconds
      }))
    });
  }
}