/** The decision about one VM: state × event × now × random → state. Pure, total and deterministic (DESIGN sections 3 and 7). */
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
import { type Fact, logEvents, type Outcome, refused, unchanged } from '../fact.ts';
import { vmPolicyOf } from '../policy.ts';
import { after, type Instant, seconds } from '../time.ts';
import { endInstance, note, startIfDue, timeOut, type VmStep, wakeToStop } from './life.ts';
import { hostOf, live, PATIENT_WAKE_EVERY, type VmRecord } from './record.ts';
import type { VmContext, VmEvent } from './event.ts';
import { declare, redeclare } from './declare.ts';
import { reportInstance, takenOn } from './report.ts';
import { deleteVm, restartVm, startVm, stopVm } from './verbs.ts';
import { WAKE_REPEATS } from '../node/record.ts';
export function decideVm(vm: VmRecord | null, event: VmEvent, context: VmContext): Outcome<VmRecord> {
  if (stryMutAct_9fa48("0")) {
    {}
  } else {
    stryCov_9fa48("0");
    if (stryMutAct_9fa48("3") ? event.kind !== 'put' : stryMutAct_9fa48("2") ? false : stryMutAct_9fa48("1") ? true : (stryCov_9fa48("1", "2", "3"), event.kind === (stryMutAct_9fa48("4") ? "" : (stryCov_9fa48("4"), 'put')))) {
      if (stryMutAct_9fa48("5")) {
        {}
      } else {
        stryCov_9fa48("5");
        const outcome = (stryMutAct_9fa48("8") ? vm === null && vm.removed !== null : stryMutAct_9fa48("7") ? false : stryMutAct_9fa48("6") ? true : (stryCov_9fa48("6", "7", "8"), (stryMutAct_9fa48("10") ? vm !== null : stryMutAct_9fa48("9") ? false : (stryCov_9fa48("9", "10"), vm === null)) || (stryMutAct_9fa48("12") ? vm.removed === null : stryMutAct_9fa48("11") ? false : (stryCov_9fa48("11", "12"), vm.removed !== null)))) ? declare(vm, event.body, context) : redeclare(vm, event.body, context);
        return (stryMutAct_9fa48("13") ? "" : (stryCov_9fa48("13"), 'refusal')) in outcome ? outcome : conclude(outcome.before, outcome, context);
      }
    }
    if (stryMutAct_9fa48("16") ? vm === null && vm.removed !== null : stryMutAct_9fa48("15") ? false : stryMutAct_9fa48("14") ? true : (stryCov_9fa48("14", "15", "16"), (stryMutAct_9fa48("18") ? vm !== null : stryMutAct_9fa48("17") ? false : (stryCov_9fa48("17", "18"), vm === null)) || (stryMutAct_9fa48("20") ? vm.removed === null : stryMutAct_9fa48("19") ? false : (stryCov_9fa48("19", "20"), vm.removed !== null)))) {
      if (stryMutAct_9fa48("21")) {
        {}
      } else {
        stryCov_9fa48("21");
        return refused(404, stryMutAct_9fa48("22") ? "" : (stryCov_9fa48("22"), 'VmNotFound'), stryMutAct_9fa48("23") ? `` : (stryCov_9fa48("23"), `there is no VM ${context.vmId}`));
      }
    }
    const step = change(vm, event, context);
    return (stryMutAct_9fa48("24") ? "" : (stryCov_9fa48("24"), 'refusal')) in step ? step : conclude(vm, step, context);
  }
}
type Change = VmStep | {
  kind: 'refused';
  refusal: Extract<Outcome<VmRecord>, {
    kind: 'refused';
  }>['refusal'];
};
function change(vm: VmRecord, event: Exclude<VmEvent, {
  kind: 'put';
}>, context: VmContext): Change {
  if (stryMutAct_9fa48("25")) {
    {}
  } else {
    stryCov_9fa48("25");
    const {
      now
    } = context;
    switch (event.kind) {
      case stryMutAct_9fa48("27") ? "" : (stryCov_9fa48("27"), 'start'):
        if (stryMutAct_9fa48("26")) {} else {
          stryCov_9fa48("26");
          return startVm(vm, context);
        }
      case stryMutAct_9fa48("29") ? "" : (stryCov_9fa48("29"), 'stop'):
        if (stryMutAct_9fa48("28")) {} else {
          stryCov_9fa48("28");
          return stopVm(vm, event.grace, context);
        }
      case stryMutAct_9fa48("31") ? "" : (stryCov_9fa48("31"), 'restart'):
        if (stryMutAct_9fa48("30")) {} else {
          stryCov_9fa48("30");
          return restartVm(vm, context);
        }
      case stryMutAct_9fa48("33") ? "" : (stryCov_9fa48("33"), 'delete'):
        if (stryMutAct_9fa48("32")) {} else {
          stryCov_9fa48("32");
          return deleteVm(vm, event.force, context);
        }
      case stryMutAct_9fa48("35") ? "" : (stryCov_9fa48("35"), 'report'):
        if (stryMutAct_9fa48("34")) {} else {
          stryCov_9fa48("34");
          return reportInstance(vm, event.report, context);
        }
      case stryMutAct_9fa48("37") ? "" : (stryCov_9fa48("37"), 'launchFetched'):
        if (stryMutAct_9fa48("36")) {} else {
          stryCov_9fa48("36");
          return (stryMutAct_9fa48("40") ? live(vm.instance) || vm.instance.instanceId === event.instanceId : stryMutAct_9fa48("39") ? false : stryMutAct_9fa48("38") ? true : (stryCov_9fa48("38", "39", "40"), live(vm.instance) && (stryMutAct_9fa48("42") ? vm.instance.instanceId !== event.instanceId : stryMutAct_9fa48("41") ? true : (stryCov_9fa48("41", "42"), vm.instance.instanceId === event.instanceId)))) ? takenOn(vm, vm.instance, context) : same(vm);
        }
      case stryMutAct_9fa48("44") ? "" : (stryCov_9fa48("44"), 'due'):
        if (stryMutAct_9fa48("43")) {} else {
          stryCov_9fa48("43");
          return passTime(vm, context);
        }
      case stryMutAct_9fa48("46") ? "" : (stryCov_9fa48("46"), 'hostSilent'):
        if (stryMutAct_9fa48("45")) {} else {
          stryCov_9fa48("45");
          return hostSilent(vm, event.hostId, now);
        }
      case stryMutAct_9fa48("48") ? "" : (stryCov_9fa48("48"), 'hostFenced'):
        if (stryMutAct_9fa48("47")) {} else {
          stryCov_9fa48("47");
          return hostFenced(vm, event.hostId, context);
        }
      case stryMutAct_9fa48("50") ? "" : (stryCov_9fa48("50"), 'wakeFailed'):
        if (stryMutAct_9fa48("49")) {} else {
          stryCov_9fa48("49");
          return wakeFailed(vm, now);
        }
    }
  }
}
const same = stryMutAct_9fa48("51") ? () => undefined : (stryCov_9fa48("51"), (() => {
  const same = (vm: VmRecord): VmStep => stryMutAct_9fa48("52") ? {} : (stryCov_9fa48("52"), {
    vm,
    facts: stryMutAct_9fa48("53") ? ["Stryker was here"] : (stryCov_9fa48("53"), [])
  });
  return same;
})());

/** Silence proves nothing: the instance is Unknown, and neither counted nor replaced (rule 6). */
function hostSilent(vm: VmRecord, hostId: string, now: Instant): VmStep {
  if (stryMutAct_9fa48("54")) {
    {}
  } else {
    stryCov_9fa48("54");
    const {
      instance
    } = vm;
    if (stryMutAct_9fa48("57") ? (vm.body.hostId !== hostId || !live(instance) || instance.phase === 'Pending') && instance.phase === 'Unknown' : stryMutAct_9fa48("56") ? false : stryMutAct_9fa48("55") ? true : (stryCov_9fa48("55", "56", "57"), (stryMutAct_9fa48("59") ? (vm.body.hostId !== hostId || !live(instance)) && instance.phase === 'Pending' : stryMutAct_9fa48("58") ? false : (stryCov_9fa48("58", "59"), (stryMutAct_9fa48("61") ? vm.body.hostId !== hostId && !live(instance) : stryMutAct_9fa48("60") ? false : (stryCov_9fa48("60", "61"), (stryMutAct_9fa48("63") ? vm.body.hostId === hostId : stryMutAct_9fa48("62") ? false : (stryCov_9fa48("62", "63"), vm.body.hostId !== hostId)) || (stryMutAct_9fa48("64") ? live(instance) : (stryCov_9fa48("64"), !live(instance))))) || (stryMutAct_9fa48("66") ? instance.phase !== 'Pending' : stryMutAct_9fa48("65") ? false : (stryCov_9fa48("65", "66"), instance.phase === (stryMutAct_9fa48("67") ? "" : (stryCov_9fa48("67"), 'Pending')))))) || (stryMutAct_9fa48("69") ? instance.phase !== 'Unknown' : stryMutAct_9fa48("68") ? false : (stryCov_9fa48("68", "69"), instance.phase === (stryMutAct_9fa48("70") ? "" : (stryCov_9fa48("70"), 'Unknown')))))) return same(vm);
    return stryMutAct_9fa48("71") ? {} : (stryCov_9fa48("71"), {
      vm: stryMutAct_9fa48("72") ? {} : (stryCov_9fa48("72"), {
        ...vm,
        instance: stryMutAct_9fa48("73") ? {} : (stryCov_9fa48("73"), {
          ...instance,
          phase: stryMutAct_9fa48("74") ? "" : (stryCov_9fa48("74"), 'Unknown'),
          since: now
        })
      }),
      facts: stryMutAct_9fa48("75") ? [] : (stryCov_9fa48("75"), [note(stryMutAct_9fa48("76") ? "" : (stryCov_9fa48("76"), 'VM Instance Unknown'), stryMutAct_9fa48("77") ? `` : (stryCov_9fa48("77"), `host ${hostId} is silent: nothing is known of instance ${instance.instanceId}, and nothing is counted or started elsewhere`), stryMutAct_9fa48("78") ? "" : (stryCov_9fa48("78"), 'warning'))])
    });
  }
}

/** The host is known to be off: what ran there has ended, and nobody counts it. */
function hostFenced(vm: VmRecord, hostId: string, context: VmContext): VmStep {
  if (stryMutAct_9fa48("79")) {
    {}
  } else {
    stryCov_9fa48("79");
    if (stryMutAct_9fa48("82") ? vm.body.hostId === hostId : stryMutAct_9fa48("81") ? false : stryMutAct_9fa48("80") ? true : (stryCov_9fa48("80", "81", "82"), vm.body.hostId !== hostId)) return same(vm);
    const {
      instance
    } = vm;
    if (stryMutAct_9fa48("85") ? !live(instance) && instance.phase === 'Pending' && instance.stop === null : stryMutAct_9fa48("84") ? false : stryMutAct_9fa48("83") ? true : (stryCov_9fa48("83", "84", "85"), (stryMutAct_9fa48("86") ? live(instance) : (stryCov_9fa48("86"), !live(instance))) || (stryMutAct_9fa48("88") ? instance.phase === 'Pending' || instance.stop === null : stryMutAct_9fa48("87") ? false : (stryCov_9fa48("87", "88"), (stryMutAct_9fa48("90") ? instance.phase !== 'Pending' : stryMutAct_9fa48("89") ? true : (stryCov_9fa48("89", "90"), instance.phase === (stryMutAct_9fa48("91") ? "" : (stryCov_9fa48("91"), 'Pending')))) && (stryMutAct_9fa48("93") ? instance.stop !== null : stryMutAct_9fa48("92") ? true : (stryCov_9fa48("92", "93"), instance.stop === null)))))) return same(vm);
    const ended = endInstance(vm, stryMutAct_9fa48("94") ? {} : (stryCov_9fa48("94"), {
      phase: stryMutAct_9fa48("95") ? "" : (stryCov_9fa48("95"), 'Failed'),
      cause: stryMutAct_9fa48("96") ? "" : (stryCov_9fa48("96"), 'HostLost'),
      message: stryMutAct_9fa48("97") ? `` : (stryCov_9fa48("97"), `host ${hostId} was fenced`),
      console: null
    }), context);
    const next = startIfDue(ended.vm, context);
    return stryMutAct_9fa48("98") ? {} : (stryCov_9fa48("98"), {
      vm: next.vm,
      facts: stryMutAct_9fa48("99") ? [] : (stryCov_9fa48("99"), [...ended.facts, ...next.facts])
    });
  }
}
function wakeFailed(vm: VmRecord, now: Instant): VmStep {
  if (stryMutAct_9fa48("100")) {
    {}
  } else {
    stryCov_9fa48("100");
    const {
      instance
    } = vm;
    if (stryMutAct_9fa48("103") ? !live(instance) && instance.nextWakeAt === null : stryMutAct_9fa48("102") ? false : stryMutAct_9fa48("101") ? true : (stryCov_9fa48("101", "102", "103"), (stryMutAct_9fa48("104") ? live(instance) : (stryCov_9fa48("104"), !live(instance))) || (stryMutAct_9fa48("106") ? instance.nextWakeAt !== null : stryMutAct_9fa48("105") ? false : (stryCov_9fa48("105", "106"), instance.nextWakeAt === null)))) return same(vm);
    const soon = after(now, seconds(30));
    return (stryMutAct_9fa48("110") ? instance.nextWakeAt > soon : stryMutAct_9fa48("109") ? instance.nextWakeAt < soon : stryMutAct_9fa48("108") ? false : stryMutAct_9fa48("107") ? true : (stryCov_9fa48("107", "108", "109", "110"), instance.nextWakeAt <= soon)) ? same(vm) : stryMutAct_9fa48("111") ? {} : (stryCov_9fa48("111"), {
      vm: stryMutAct_9fa48("112") ? {} : (stryCov_9fa48("112"), {
        ...vm,
        instance: stryMutAct_9fa48("113") ? {} : (stryCov_9fa48("113"), {
          ...instance,
          nextWakeAt: soon
        })
      }),
      facts: stryMutAct_9fa48("114") ? ["Stryker was here"] : (stryCov_9fa48("114"), [])
    });
  }
}
function passTime(vm: VmRecord, context: VmContext): VmStep {
  if (stryMutAct_9fa48("115")) {
    {}
  } else {
    stryCov_9fa48("115");
    let step = same(vm);
    const then = (apply: (vm: VmRecord) => VmStep): void => {
      if (stryMutAct_9fa48("116")) {
        {}
      } else {
        stryCov_9fa48("116");
        const next = apply(step.vm);
        step = stryMutAct_9fa48("117") ? {} : (stryCov_9fa48("117"), {
          vm: next.vm,
          facts: stryMutAct_9fa48("118") ? [] : (stryCov_9fa48("118"), [...step.facts, ...next.facts])
        });
      }
    };
    then(stryMutAct_9fa48("119") ? () => undefined : (stryCov_9fa48("119"), v => passStartDeadline(v, context)));
    then(stryMutAct_9fa48("120") ? () => undefined : (stryCov_9fa48("120"), v => forgetUnstableRuns(v, context.now)));
    then(stryMutAct_9fa48("121") ? () => undefined : (stryCov_9fa48("121"), v => startIfDue(v, context)));
    then(stryMutAct_9fa48("122") ? () => undefined : (stryCov_9fa48("122"), v => repeatWake(v, context.now)));
    return step;
  }
}
function passStartDeadline(vm: VmRecord, context: VmContext): VmStep {
  if (stryMutAct_9fa48("123")) {
    {}
  } else {
    stryCov_9fa48("123");
    const {
      instance
    } = vm;
    if (stryMutAct_9fa48("126") ? (!live(instance) || instance.startDeadlineAt === null) && context.now < instance.startDeadlineAt : stryMutAct_9fa48("125") ? false : stryMutAct_9fa48("124") ? true : (stryCov_9fa48("124", "125", "126"), (stryMutAct_9fa48("128") ? !live(instance) && instance.startDeadlineAt === null : stryMutAct_9fa48("127") ? false : (stryCov_9fa48("127", "128"), (stryMutAct_9fa48("129") ? live(instance) : (stryCov_9fa48("129"), !live(instance))) || (stryMutAct_9fa48("131") ? instance.startDeadlineAt !== null : stryMutAct_9fa48("130") ? false : (stryCov_9fa48("130", "131"), instance.startDeadlineAt === null)))) || (stryMutAct_9fa48("134") ? context.now >= instance.startDeadlineAt : stryMutAct_9fa48("133") ? context.now <= instance.startDeadlineAt : stryMutAct_9fa48("132") ? false : (stryCov_9fa48("132", "133", "134"), context.now < instance.startDeadlineAt)))) return same(vm);
    return (stryMutAct_9fa48("137") ? instance.stop !== null : stryMutAct_9fa48("136") ? false : stryMutAct_9fa48("135") ? true : (stryCov_9fa48("135", "136", "137"), instance.stop === null)) ? timeOut(vm, context) : stryMutAct_9fa48("138") ? {} : (stryCov_9fa48("138"), {
      vm: stryMutAct_9fa48("139") ? {} : (stryCov_9fa48("139"), {
        ...vm,
        instance: stryMutAct_9fa48("140") ? {} : (stryCov_9fa48("140"), {
          ...instance,
          startDeadlineAt: null
        })
      }),
      facts: stryMutAct_9fa48("141") ? ["Stryker was here"] : (stryCov_9fa48("141"), [])
    });
  }
}

/** Running for `stableFor` clears the unstable runs (rule 2). */
function forgetUnstableRuns(vm: VmRecord, now: Instant): VmStep {
  if (stryMutAct_9fa48("142")) {
    {}
  } else {
    stryCov_9fa48("142");
    const {
      instance,
      unstableRuns
    } = vm;
    if (stryMutAct_9fa48("145") ? (unstableRuns === null || instance?.phase !== 'Running') && instance.runningSince === null : stryMutAct_9fa48("144") ? false : stryMutAct_9fa48("143") ? true : (stryCov_9fa48("143", "144", "145"), (stryMutAct_9fa48("147") ? unstableRuns === null && instance?.phase !== 'Running' : stryMutAct_9fa48("146") ? false : (stryCov_9fa48("146", "147"), (stryMutAct_9fa48("149") ? unstableRuns !== null : stryMutAct_9fa48("148") ? false : (stryCov_9fa48("148", "149"), unstableRuns === null)) || (stryMutAct_9fa48("151") ? instance?.phase === 'Running' : stryMutAct_9fa48("150") ? false : (stryCov_9fa48("150", "151"), (stryMutAct_9fa48("152") ? instance.phase : (stryCov_9fa48("152"), instance?.phase)) !== (stryMutAct_9fa48("153") ? "" : (stryCov_9fa48("153"), 'Running')))))) || (stryMutAct_9fa48("155") ? instance.runningSince !== null : stryMutAct_9fa48("154") ? false : (stryCov_9fa48("154", "155"), instance.runningSince === null)))) return same(vm);
    if (stryMutAct_9fa48("159") ? now >= after(instance.runningSince, vmPolicyOf(vm.body).stableFor) : stryMutAct_9fa48("158") ? now <= after(instance.runningSince, vmPolicyOf(vm.body).stableFor) : stryMutAct_9fa48("157") ? false : stryMutAct_9fa48("156") ? true : (stryCov_9fa48("156", "157", "158", "159"), now < after(instance.runningSince, vmPolicyOf(vm.body).stableFor))) return same(vm);
    return stryMutAct_9fa48("160") ? {} : (stryCov_9fa48("160"), {
      vm: stryMutAct_9fa48("161") ? {} : (stryCov_9fa48("161"), {
        ...vm,
        unstableRuns: null
      }),
      facts: stryMutAct_9fa48("162") ? [] : (stryCov_9fa48("162"), [note(stryMutAct_9fa48("163") ? "" : (stryCov_9fa48("163"), 'VM Recovered'), stryMutAct_9fa48("164") ? `` : (stryCov_9fa48("164"), `stable again after ${unstableRuns.count} unstable runs`))])
    });
  }
}
function repeatWake(vm: VmRecord, now: Instant): VmStep {
  if (stryMutAct_9fa48("165")) {
    {}
  } else {
    stryCov_9fa48("165");
    const {
      instance
    } = vm;
    if (stryMutAct_9fa48("168") ? (!live(instance) || instance.nextWakeAt === null) && now < instance.nextWakeAt : stryMutAct_9fa48("167") ? false : stryMutAct_9fa48("166") ? true : (stryCov_9fa48("166", "167", "168"), (stryMutAct_9fa48("170") ? !live(instance) && instance.nextWakeAt === null : stryMutAct_9fa48("169") ? false : (stryCov_9fa48("169", "170"), (stryMutAct_9fa48("171") ? live(instance) : (stryCov_9fa48("171"), !live(instance))) || (stryMutAct_9fa48("173") ? instance.nextWakeAt !== null : stryMutAct_9fa48("172") ? false : (stryCov_9fa48("172", "173"), instance.nextWakeAt === null)))) || (stryMutAct_9fa48("176") ? now >= instance.nextWakeAt : stryMutAct_9fa48("175") ? now <= instance.nextWakeAt : stryMutAct_9fa48("174") ? false : (stryCov_9fa48("174", "175", "176"), now < instance.nextWakeAt)))) return same(vm);
    const began = stryMutAct_9fa48("177") ? (instance.stop?.at ?? instance.timedOutAt) && instance.createdAt : (stryCov_9fa48("177"), (stryMutAct_9fa48("178") ? instance.stop?.at && instance.timedOutAt : (stryCov_9fa48("178"), (stryMutAct_9fa48("179") ? instance.stop.at : (stryCov_9fa48("179"), instance.stop?.at)) ?? instance.timedOutAt)) ?? instance.createdAt);
    let wakesRepeated = stryMutAct_9fa48("180") ? instance.wakesRepeated - 1 : (stryCov_9fa48("180"), instance.wakesRepeated + 1);
    let wait = WAKE_REPEATS[wakesRepeated];
    while (stryMutAct_9fa48("182") ? wait !== undefined || after(began, wait) <= now : stryMutAct_9fa48("181") ? false : (stryCov_9fa48("181", "182"), (stryMutAct_9fa48("184") ? wait === undefined : stryMutAct_9fa48("183") ? true : (stryCov_9fa48("183", "184"), wait !== undefined)) && (stryMutAct_9fa48("187") ? after(began, wait) > now : stryMutAct_9fa48("186") ? after(began, wait) < now : stryMutAct_9fa48("185") ? true : (stryCov_9fa48("185", "186", "187"), after(began, wait) <= now)))) {
      if (stryMutAct_9fa48("188")) {
        {}
      } else {
        stryCov_9fa48("188");
        stryMutAct_9fa48("189") ? wakesRepeated -= 1 : (stryCov_9fa48("189"), wakesRepeated += 1);
        wait = WAKE_REPEATS[wakesRepeated];
      }
    }
    const nextWakeAt = (stryMutAct_9fa48("192") ? wait !== undefined : stryMutAct_9fa48("191") ? false : stryMutAct_9fa48("190") ? true : (stryCov_9fa48("190", "191", "192"), wait === undefined)) ? after(now, PATIENT_WAKE_EVERY) : after(began, wait);
    const ending = stryMutAct_9fa48("195") ? instance.stop !== null && instance.timedOutAt !== null : stryMutAct_9fa48("194") ? false : stryMutAct_9fa48("193") ? true : (stryCov_9fa48("193", "194", "195"), (stryMutAct_9fa48("197") ? instance.stop === null : stryMutAct_9fa48("196") ? false : (stryCov_9fa48("196", "197"), instance.stop !== null)) || (stryMutAct_9fa48("199") ? instance.timedOutAt === null : stryMutAct_9fa48("198") ? false : (stryCov_9fa48("198", "199"), instance.timedOutAt !== null)));
    const wake: Fact = ending ? wakeToStop(vm, stryMutAct_9fa48("200") ? true : (stryCov_9fa48("200"), false)) : stryMutAct_9fa48("201") ? {} : (stryCov_9fa48("201"), {
      kind: stryMutAct_9fa48("202") ? "" : (stryCov_9fa48("202"), 'wake'),
      hostId: hostOf(vm),
      action: stryMutAct_9fa48("203") ? "" : (stryCov_9fa48("203"), 'StartInstance'),
      generation: vm.power.sequence,
      decided: stryMutAct_9fa48("204") ? true : (stryCov_9fa48("204"), false)
    });
    return stryMutAct_9fa48("205") ? {} : (stryCov_9fa48("205"), {
      vm: stryMutAct_9fa48("206") ? {} : (stryCov_9fa48("206"), {
        ...vm,
        instance: stryMutAct_9fa48("207") ? {} : (stryCov_9fa48("207"), {
          ...instance,
          nextWakeAt,
          wakesRepeated
        })
      }),
      facts: stryMutAct_9fa48("208") ? [] : (stryCov_9fa48("208"), [wake])
    });
  }
}

/** A VM that is being deleted goes once its instance is known ended; then the record has its revision and its log. */
function conclude(before: VmRecord, step: VmStep, context: VmContext): Outcome<VmRecord> {
  if (stryMutAct_9fa48("209")) {
    {}
  } else {
    stryCov_9fa48("209");
    const gone = stryMutAct_9fa48("212") ? step.vm.deleting !== null || !live(step.vm.instance) : stryMutAct_9fa48("211") ? false : stryMutAct_9fa48("210") ? true : (stryCov_9fa48("210", "211", "212"), (stryMutAct_9fa48("214") ? step.vm.deleting === null : stryMutAct_9fa48("213") ? true : (stryCov_9fa48("213", "214"), step.vm.deleting !== null)) && (stryMutAct_9fa48("215") ? live(step.vm.instance) : (stryCov_9fa48("215"), !live(step.vm.instance))));
    const vm: VmRecord = gone ? stryMutAct_9fa48("216") ? {} : (stryCov_9fa48("216"), {
      ...step.vm,
      removed: stryMutAct_9fa48("217") ? {} : (stryCov_9fa48("217"), {
        at: context.now
      }),
      pendingStart: null
    }) : step.vm;
    const facts: Fact[] = gone ? stryMutAct_9fa48("218") ? [] : (stryCov_9fa48("218"), [...step.facts, note(stryMutAct_9fa48("219") ? "" : (stryCov_9fa48("219"), 'VM Removed'), stryMutAct_9fa48("220") ? "" : (stryCov_9fa48("220"), 'deleted: no instance of it is left'))]) : step.facts;
    if (stryMutAct_9fa48("223") ? vm === before || facts.length === 0 : stryMutAct_9fa48("222") ? false : stryMutAct_9fa48("221") ? true : (stryCov_9fa48("221", "222", "223"), (stryMutAct_9fa48("225") ? vm !== before : stryMutAct_9fa48("224") ? true : (stryCov_9fa48("224", "225"), vm === before)) && (stryMutAct_9fa48("227") ? facts.length !== 0 : stryMutAct_9fa48("226") ? true : (stryCov_9fa48("226", "227"), facts.length === 0)))) return unchanged;
    const revision = stryMutAct_9fa48("228") ? before.revision - 1 : (stryCov_9fa48("228"), before.revision + 1);
    const events = logEvents(vm.events, facts, stryMutAct_9fa48("229") ? `` : (stryCov_9fa48("229"), `vm/${context.vmId}`), revision, context.now);
    return stryMutAct_9fa48("230") ? {} : (stryCov_9fa48("230"), {
      kind: stryMutAct_9fa48("231") ? "" : (stryCov_9fa48("231"), 'changed'),
      next: stryMutAct_9fa48("232") ? {} : (stryCov_9fa48("232"), {
        ...vm,
        revision,
        events
      }),
      facts
    });
  }
}