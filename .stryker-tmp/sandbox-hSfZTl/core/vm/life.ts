/** The lives of a VM: how an instance is made, told to end, and ends. Each function takes a VM and returns a new one. */
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
import { vmRetryDelay } from '../backoff.ts';
import type { EndCause } from '../contract.ts';
import type { Draw, Fact } from '../fact.ts';
import type { InstanceId } from '../ids.ts';
import { vmPolicyOf } from '../policy.ts';
import { after, between, type Duration, type Instant, instant, sayDuration } from '../time.ts';
import { WAKE_REPEATS } from '../node/record.ts';
import { hostOf, type Instance, INSTANCES_KEPT, keepsRecords, live, UNCOUNTED_CAUSES, type VmRecord } from './record.ts';
export type VmStep = {
  vm: VmRecord;
  facts: Fact[];
};
export type VmTime = {
  now: Instant;
  draw: Draw;
};
export const note = stryMutAct_9fa48("717") ? () => undefined : (stryCov_9fa48("717"), (() => {
  const note = (type: Extract<Fact, {
    kind: 'event';
  }>['type'], message: string, severity: 'info' | 'warning' = stryMutAct_9fa48("718") ? "" : (stryCov_9fa48("718"), 'info')): Fact => stryMutAct_9fa48("719") ? {} : (stryCov_9fa48("719"), {
    kind: stryMutAct_9fa48("720") ? "" : (stryCov_9fa48("720"), 'event'),
    type,
    severity,
    message
  });
  return note;
})());
const firstRepeat = (now: Instant): Instant | null => {
  if (stryMutAct_9fa48("721")) {
    {}
  } else {
    stryCov_9fa48("721");
    const wait = WAKE_REPEATS[0];
    return (stryMutAct_9fa48("724") ? wait !== undefined : stryMutAct_9fa48("723") ? false : stryMutAct_9fa48("722") ? true : (stryCov_9fa48("722", "723", "724"), wait === undefined)) ? null : after(now, wait);
  }
};

/** What the ids of the instances of one declaration begin with. */
export const instancePrefix = stryMutAct_9fa48("725") ? () => undefined : (stryCov_9fa48("725"), (() => {
  const instancePrefix = (uid: string): string => stryMutAct_9fa48("726") ? `` : (stryCov_9fa48("726"), `${stryMutAct_9fa48("727") ? uid : (stryCov_9fa48("727"), uid.slice(0, 8))}-`);
  return instancePrefix;
})());

/** A wait cut to the cap, in the records that show it too. */
function bounded(vm: VmRecord, notBefore: Instant): VmRecord {
  if (stryMutAct_9fa48("728")) {
    {}
  } else {
    stryCov_9fa48("728");
    const cut = stryMutAct_9fa48("729") ? () => undefined : (stryCov_9fa48("729"), (() => {
      const cut = (at: Instant): Instant => (stryMutAct_9fa48("733") ? at <= notBefore : stryMutAct_9fa48("732") ? at >= notBefore : stryMutAct_9fa48("731") ? false : stryMutAct_9fa48("730") ? true : (stryCov_9fa48("730", "731", "732", "733"), at > notBefore)) ? notBefore : at;
      return cut;
    })());
    const {
      startFailure,
      unstableRuns
    } = vm;
    return stryMutAct_9fa48("734") ? {} : (stryCov_9fa48("734"), {
      ...vm,
      pendingStart: stryMutAct_9fa48("735") ? {} : (stryCov_9fa48("735"), {
        notBefore
      }),
      startFailure: (stryMutAct_9fa48("738") ? startFailure !== null : stryMutAct_9fa48("737") ? false : stryMutAct_9fa48("736") ? true : (stryCov_9fa48("736", "737", "738"), startFailure === null)) ? null : stryMutAct_9fa48("739") ? {} : (stryCov_9fa48("739"), {
        ...startFailure,
        retryAfter: cut(startFailure.retryAfter)
      }),
      unstableRuns: (stryMutAct_9fa48("742") ? unstableRuns !== null : stryMutAct_9fa48("741") ? false : stryMutAct_9fa48("740") ? true : (stryCov_9fa48("740", "741", "742"), unstableRuns === null)) ? null : stryMutAct_9fa48("743") ? {} : (stryCov_9fa48("743"), {
        ...unstableRuns,
        retryAfter: (stryMutAct_9fa48("746") ? unstableRuns.retryAfter !== null : stryMutAct_9fa48("745") ? false : stryMutAct_9fa48("744") ? true : (stryCov_9fa48("744", "745", "746"), unstableRuns.retryAfter === null)) ? null : cut(unstableRuns.retryAfter)
      })
    });
  }
}

/**
 * Starts the next instance if one is wanted, its time has come, and the end of the one before is known (rules 2, 5, 6).
 * A wait is never longer than the cap, whatever a clock or a hand did to the record.
 */
export function startIfDue(vm: VmRecord, {
  now,
  draw
}: VmTime): VmStep {
  if (stryMutAct_9fa48("747")) {
    {}
  } else {
    stryCov_9fa48("747");
    if (stryMutAct_9fa48("750") ? (vm.pendingStart === null || vm.deleting !== null) && !vm.power.on : stryMutAct_9fa48("749") ? false : stryMutAct_9fa48("748") ? true : (stryCov_9fa48("748", "749", "750"), (stryMutAct_9fa48("752") ? vm.pendingStart === null && vm.deleting !== null : stryMutAct_9fa48("751") ? false : (stryCov_9fa48("751", "752"), (stryMutAct_9fa48("754") ? vm.pendingStart !== null : stryMutAct_9fa48("753") ? false : (stryCov_9fa48("753", "754"), vm.pendingStart === null)) || (stryMutAct_9fa48("756") ? vm.deleting === null : stryMutAct_9fa48("755") ? false : (stryCov_9fa48("755", "756"), vm.deleting !== null)))) || (stryMutAct_9fa48("757") ? vm.power.on : (stryCov_9fa48("757"), !vm.power.on)))) return stryMutAct_9fa48("758") ? {} : (stryCov_9fa48("758"), {
      vm,
      facts: stryMutAct_9fa48("759") ? ["Stryker was here"] : (stryCov_9fa48("759"), [])
    });
    const latest = after(now, vmPolicyOf(vm.body).backoff.cap);
    const notBefore = (stryMutAct_9fa48("763") ? vm.pendingStart.notBefore <= latest : stryMutAct_9fa48("762") ? vm.pendingStart.notBefore >= latest : stryMutAct_9fa48("761") ? false : stryMutAct_9fa48("760") ? true : (stryCov_9fa48("760", "761", "762", "763"), vm.pendingStart.notBefore > latest)) ? latest : vm.pendingStart.notBefore;
    if (stryMutAct_9fa48("766") ? now < notBefore && live(vm.instance) : stryMutAct_9fa48("765") ? false : stryMutAct_9fa48("764") ? true : (stryCov_9fa48("764", "765", "766"), (stryMutAct_9fa48("769") ? now >= notBefore : stryMutAct_9fa48("768") ? now <= notBefore : stryMutAct_9fa48("767") ? false : (stryCov_9fa48("767", "768", "769"), now < notBefore)) || live(vm.instance))) {
      if (stryMutAct_9fa48("770")) {
        {}
      } else {
        stryCov_9fa48("770");
        return (stryMutAct_9fa48("773") ? notBefore !== vm.pendingStart.notBefore : stryMutAct_9fa48("772") ? false : stryMutAct_9fa48("771") ? true : (stryCov_9fa48("771", "772", "773"), notBefore === vm.pendingStart.notBefore)) ? stryMutAct_9fa48("774") ? {} : (stryCov_9fa48("774"), {
          vm,
          facts: stryMutAct_9fa48("775") ? ["Stryker was here"] : (stryCov_9fa48("775"), [])
        }) : stryMutAct_9fa48("776") ? {} : (stryCov_9fa48("776"), {
          vm: bounded(vm, notBefore),
          facts: stryMutAct_9fa48("777") ? ["Stryker was here"] : (stryCov_9fa48("777"), [])
        });
      }
    }
    const instance: Instance = stryMutAct_9fa48("778") ? {} : (stryCov_9fa48("778"), {
      // The draw's id is hexadecimal, which the pattern of an instance id allows.
      instanceId: `${instancePrefix(vm.uid)}${draw.id}` as InstanceId,
      phase: stryMutAct_9fa48("779") ? "" : (stryCov_9fa48("779"), 'Pending'),
      since: now,
      createdAt: now,
      everRunning: stryMutAct_9fa48("780") ? true : (stryCov_9fa48("780"), false),
      runningSince: null,
      cause: null,
      stop: null,
      startDeadlineAt: null,
      timedOutAt: null,
      nextWakeAt: firstRepeat(now),
      wakesRepeated: 0
    });
    return stryMutAct_9fa48("781") ? {} : (stryCov_9fa48("781"), {
      vm: stryMutAct_9fa48("782") ? {} : (stryCov_9fa48("782"), {
        ...vm,
        instance,
        pendingStart: null,
        previousInstances: retired(vm)
      }),
      facts: stryMutAct_9fa48("783") ? [] : (stryCov_9fa48("783"), [stryMutAct_9fa48("784") ? {} : (stryCov_9fa48("784"), {
        kind: stryMutAct_9fa48("785") ? "" : (stryCov_9fa48("785"), 'wake'),
        hostId: hostOf(vm),
        action: stryMutAct_9fa48("786") ? "" : (stryCov_9fa48("786"), 'StartInstance'),
        generation: vm.power.sequence,
        decided: stryMutAct_9fa48("787") ? false : (stryCov_9fa48("787"), true)
      }), note(stryMutAct_9fa48("788") ? "" : (stryCov_9fa48("788"), 'VM Instance Started'), stryMutAct_9fa48("789") ? `` : (stryCov_9fa48("789"), `instance ${instance.instanceId} asked of host ${vm.body.hostId}`))])
    });
  }
}
const retired = stryMutAct_9fa48("790") ? () => undefined : (stryCov_9fa48("790"), (() => {
  const retired = (vm: VmRecord): InstanceId[] => (stryMutAct_9fa48("793") ? vm.instance !== null : stryMutAct_9fa48("792") ? false : stryMutAct_9fa48("791") ? true : (stryCov_9fa48("791", "792", "793"), vm.instance === null)) ? vm.previousInstances : stryMutAct_9fa48("794") ? [...vm.previousInstances, vm.instance.instanceId] : (stryCov_9fa48("794"), (stryMutAct_9fa48("795") ? [] : (stryCov_9fa48("795"), [...vm.previousInstances, vm.instance.instanceId])).slice(stryMutAct_9fa48("796") ? +INSTANCES_KEPT : (stryCov_9fa48("796"), -INSTANCES_KEPT)));
  return retired;
})());

/** Tells a live instance to end because somebody asked; a shorter grace given later holds. */
export function askToEnd(vm: VmRecord, grace: Duration, now: Instant): VmStep {
  if (stryMutAct_9fa48("797")) {
    {}
  } else {
    stryCov_9fa48("797");
    const {
      instance
    } = vm;
    if (stryMutAct_9fa48("800") ? false : stryMutAct_9fa48("799") ? true : stryMutAct_9fa48("798") ? live(instance) : (stryCov_9fa48("798", "799", "800"), !live(instance))) return stryMutAct_9fa48("801") ? {} : (stryCov_9fa48("801"), {
      vm,
      facts: stryMutAct_9fa48("802") ? ["Stryker was here"] : (stryCov_9fa48("802"), [])
    });
    if (stryMutAct_9fa48("805") ? instance.stop === null : stryMutAct_9fa48("804") ? false : stryMutAct_9fa48("803") ? true : (stryCov_9fa48("803", "804", "805"), instance.stop !== null)) {
      if (stryMutAct_9fa48("806")) {
        {}
      } else {
        stryCov_9fa48("806");
        if (stryMutAct_9fa48("810") ? grace < instance.stop.grace : stryMutAct_9fa48("809") ? grace > instance.stop.grace : stryMutAct_9fa48("808") ? false : stryMutAct_9fa48("807") ? true : (stryCov_9fa48("807", "808", "809", "810"), grace >= instance.stop.grace)) return stryMutAct_9fa48("811") ? {} : (stryCov_9fa48("811"), {
          vm,
          facts: stryMutAct_9fa48("812") ? ["Stryker was here"] : (stryCov_9fa48("812"), [])
        });
        return stryMutAct_9fa48("813") ? {} : (stryCov_9fa48("813"), {
          vm: stryMutAct_9fa48("814") ? {} : (stryCov_9fa48("814"), {
            ...vm,
            instance: stryMutAct_9fa48("815") ? {} : (stryCov_9fa48("815"), {
              ...instance,
              stop: stryMutAct_9fa48("816") ? {} : (stryCov_9fa48("816"), {
                ...instance.stop,
                grace
              })
            })
          }),
          facts: stryMutAct_9fa48("817") ? [] : (stryCov_9fa48("817"), [wakeToStop(vm, stryMutAct_9fa48("818") ? true : (stryCov_9fa48("818"), false))])
        });
      }
    }
    const stopped: Instance = stryMutAct_9fa48("819") ? {} : (stryCov_9fa48("819"), {
      ...instance,
      stop: stryMutAct_9fa48("820") ? {} : (stryCov_9fa48("820"), {
        at: now,
        grace
      }),
      nextWakeAt: firstRepeat(now),
      wakesRepeated: 0
    });
    // An instance that timed out has been told to end already: the command is decided once.
    return stryMutAct_9fa48("821") ? {} : (stryCov_9fa48("821"), {
      vm: stryMutAct_9fa48("822") ? {} : (stryCov_9fa48("822"), {
        ...vm,
        instance: stopped
      }),
      facts: stryMutAct_9fa48("823") ? [] : (stryCov_9fa48("823"), [wakeToStop(vm, stryMutAct_9fa48("826") ? instance.timedOutAt !== null : stryMutAct_9fa48("825") ? false : stryMutAct_9fa48("824") ? true : (stryCov_9fa48("824", "825", "826"), instance.timedOutAt === null))])
    });
  }
}
export const wakeToStop = stryMutAct_9fa48("827") ? () => undefined : (stryCov_9fa48("827"), (() => {
  const wakeToStop = (vm: VmRecord, decided: boolean): Fact => stryMutAct_9fa48("828") ? {} : (stryCov_9fa48("828"), {
    kind: stryMutAct_9fa48("829") ? "" : (stryCov_9fa48("829"), 'wake'),
    hostId: hostOf(vm),
    action: stryMutAct_9fa48("830") ? "" : (stryCov_9fa48("830"), 'StopInstance'),
    generation: vm.power.sequence,
    decided
  });
  return wakeToStop;
})());
export type End = {
  phase: 'Succeeded' | 'Failed';
  cause: EndCause;
  message: string | null;
  console: string | null;
};

/** The present instance has ended: it is counted if it must be, and a next one is planned if the strategy wants one. */
export function endInstance(vm: VmRecord, end: End, time: VmTime): VmStep {
  if (stryMutAct_9fa48("831")) {
    {}
  } else {
    stryCov_9fa48("831");
    const {
      instance
    } = vm;
    const {
      now
    } = time;
    if (stryMutAct_9fa48("834") ? false : stryMutAct_9fa48("833") ? true : stryMutAct_9fa48("832") ? live(instance) : (stryCov_9fa48("832", "833", "834"), !live(instance))) return stryMutAct_9fa48("835") ? {} : (stryCov_9fa48("835"), {
      vm,
      facts: stryMutAct_9fa48("836") ? ["Stryker was here"] : (stryCov_9fa48("836"), [])
    });
    const asked = stryMutAct_9fa48("839") ? instance.stop === null : stryMutAct_9fa48("838") ? false : stryMutAct_9fa48("837") ? true : (stryCov_9fa48("837", "838", "839"), instance.stop !== null);
    const cause = asked ? stryMutAct_9fa48("840") ? "" : (stryCov_9fa48("840"), 'Requested') : (stryMutAct_9fa48("843") ? instance.timedOutAt === null : stryMutAct_9fa48("842") ? false : stryMutAct_9fa48("841") ? true : (stryCov_9fa48("841", "842", "843"), instance.timedOutAt !== null)) ? stryMutAct_9fa48("844") ? "" : (stryCov_9fa48("844"), 'LaunchTimeout') : end.cause;
    const ended: Instance = stryMutAct_9fa48("845") ? {} : (stryCov_9fa48("845"), {
      ...instance,
      phase: end.phase,
      since: now,
      cause,
      nextWakeAt: null,
      startDeadlineAt: null
    });
    const closed: VmRecord = stryMutAct_9fa48("846") ? {} : (stryCov_9fa48("846"), {
      ...vm,
      instance: ended
    });
    const said = note(stryMutAct_9fa48("847") ? "" : (stryCov_9fa48("847"), 'VM Ended'), stryMutAct_9fa48("848") ? `` : (stryCov_9fa48("848"), `instance ${instance.instanceId} ${end.phase}: ${cause}${(stryMutAct_9fa48("851") ? end.message !== null : stryMutAct_9fa48("850") ? false : stryMutAct_9fa48("849") ? true : (stryCov_9fa48("849", "850", "851"), end.message === null)) ? stryMutAct_9fa48("852") ? "Stryker was here!" : (stryCov_9fa48("852"), '') : stryMutAct_9fa48("853") ? `` : (stryCov_9fa48("853"), `: ${end.message}`)}`));
    if (stryMutAct_9fa48("856") ? asked && instance.timedOutAt !== null : stryMutAct_9fa48("855") ? false : stryMutAct_9fa48("854") ? true : (stryCov_9fa48("854", "855", "856"), asked || (stryMutAct_9fa48("858") ? instance.timedOutAt === null : stryMutAct_9fa48("857") ? false : (stryCov_9fa48("857", "858"), instance.timedOutAt !== null)))) return stryMutAct_9fa48("859") ? {} : (stryCov_9fa48("859"), {
      vm: keepEvidence(closed, end, cause, now, stryMutAct_9fa48("860") ? asked : (stryCov_9fa48("860"), !asked)),
      facts: stryMutAct_9fa48("861") ? [] : (stryCov_9fa48("861"), [said])
    });
    const uncounted = UNCOUNTED_CAUSES.includes(cause);
    const wantsNext = wantsRestart(vm, end.phase);
    if (stryMutAct_9fa48("864") ? false : stryMutAct_9fa48("863") ? true : stryMutAct_9fa48("862") ? wantsNext : (stryCov_9fa48("862", "863", "864"), !wantsNext)) return stryMutAct_9fa48("865") ? {} : (stryCov_9fa48("865"), {
      vm: keepEvidence(closed, end, cause, now, stryMutAct_9fa48("868") ? end.phase === 'Failed' || !uncounted : stryMutAct_9fa48("867") ? false : stryMutAct_9fa48("866") ? true : (stryCov_9fa48("866", "867", "868"), (stryMutAct_9fa48("870") ? end.phase !== 'Failed' : stryMutAct_9fa48("869") ? true : (stryCov_9fa48("869", "870"), end.phase === (stryMutAct_9fa48("871") ? "" : (stryCov_9fa48("871"), 'Failed')))) && (stryMutAct_9fa48("872") ? uncounted : (stryCov_9fa48("872"), !uncounted)))),
      facts: stryMutAct_9fa48("873") ? [] : (stryCov_9fa48("873"), [said])
    });
    if (stryMutAct_9fa48("875") ? false : stryMutAct_9fa48("874") ? true : (stryCov_9fa48("874", "875"), uncounted)) return stryMutAct_9fa48("876") ? {} : (stryCov_9fa48("876"), {
      vm: plan(closed, now),
      facts: stryMutAct_9fa48("877") ? [] : (stryCov_9fa48("877"), [said])
    });
    const counted = countEnd(closed, instance, stryMutAct_9fa48("878") ? {} : (stryCov_9fa48("878"), {
      ...end,
      cause
    }), time);
    return stryMutAct_9fa48("879") ? {} : (stryCov_9fa48("879"), {
      vm: counted.vm,
      facts: stryMutAct_9fa48("880") ? [] : (stryCov_9fa48("880"), [said, ...counted.facts])
    });
  }
}

/** Always restarts after any end, RerunOnFailure after Failed; the others never by themselves. */
function wantsRestart(vm: VmRecord, phase: 'Succeeded' | 'Failed'): boolean {
  if (stryMutAct_9fa48("881")) {
    {}
  } else {
    stryCov_9fa48("881");
    if (stryMutAct_9fa48("884") ? !vm.power.on && vm.deleting !== null : stryMutAct_9fa48("883") ? false : stryMutAct_9fa48("882") ? true : (stryCov_9fa48("882", "883", "884"), (stryMutAct_9fa48("885") ? vm.power.on : (stryCov_9fa48("885"), !vm.power.on)) || (stryMutAct_9fa48("887") ? vm.deleting === null : stryMutAct_9fa48("886") ? false : (stryCov_9fa48("886", "887"), vm.deleting !== null)))) return stryMutAct_9fa48("888") ? true : (stryCov_9fa48("888"), false);
    if (stryMutAct_9fa48("891") ? vm.body.runStrategy !== 'Always' : stryMutAct_9fa48("890") ? false : stryMutAct_9fa48("889") ? true : (stryCov_9fa48("889", "890", "891"), vm.body.runStrategy === (stryMutAct_9fa48("892") ? "" : (stryCov_9fa48("892"), 'Always')))) return stryMutAct_9fa48("893") ? false : (stryCov_9fa48("893"), true);
    return stryMutAct_9fa48("896") ? vm.body.runStrategy === 'RerunOnFailure' || phase === 'Failed' : stryMutAct_9fa48("895") ? false : stryMutAct_9fa48("894") ? true : (stryCov_9fa48("894", "895", "896"), (stryMutAct_9fa48("898") ? vm.body.runStrategy !== 'RerunOnFailure' : stryMutAct_9fa48("897") ? true : (stryCov_9fa48("897", "898"), vm.body.runStrategy === (stryMutAct_9fa48("899") ? "" : (stryCov_9fa48("899"), 'RerunOnFailure')))) && (stryMutAct_9fa48("901") ? phase !== 'Failed' : stryMutAct_9fa48("900") ? true : (stryCov_9fa48("900", "901"), phase === (stryMutAct_9fa48("902") ? "" : (stryCov_9fa48("902"), 'Failed')))));
  }
}
const plan = stryMutAct_9fa48("903") ? () => undefined : (stryCov_9fa48("903"), (() => {
  const plan = (vm: VmRecord, notBefore: Instant): VmRecord => stryMutAct_9fa48("904") ? {} : (stryCov_9fa48("904"), {
    ...vm,
    pendingStart: stryMutAct_9fa48("905") ? {} : (stryCov_9fa48("905"), {
      notBefore
    }),
    restartCount: stryMutAct_9fa48("906") ? vm.restartCount - 1 : (stryCov_9fa48("906"), vm.restartCount + 1)
  });
  return plan;
})());
const keepEvidence = stryMutAct_9fa48("907") ? () => undefined : (stryCov_9fa48("907"), (() => {
  const keepEvidence = (vm: VmRecord, end: End, reason: EndCause, at: Instant, failed: boolean): VmRecord => failed ? stryMutAct_9fa48("908") ? {} : (stryCov_9fa48("908"), {
    ...vm,
    lastFailure: stryMutAct_9fa48("909") ? {} : (stryCov_9fa48("909"), {
      reason,
      message: stryMutAct_9fa48("910") ? (end.message ?? vm.lastFailure?.message) && null : (stryCov_9fa48("910"), (stryMutAct_9fa48("911") ? end.message && vm.lastFailure?.message : (stryCov_9fa48("911"), end.message ?? (stryMutAct_9fa48("912") ? vm.lastFailure.message : (stryCov_9fa48("912"), vm.lastFailure?.message)))) ?? null),
      console: end.console,
      at
    })
  }) : vm;
  return keepEvidence;
})());

/** Counts a start failure or an unstable run, once, and plans the retry; a stable run is restarted at once, uncounted. */
export function countEnd(vm: VmRecord, instance: Instance, end: End, time: VmTime): VmStep {
  if (stryMutAct_9fa48("913")) {
    {}
  } else {
    stryCov_9fa48("913");
    const {
      now,
      draw
    } = time;
    const {
      backoff,
      stableFor
    } = vmPolicyOf(vm.body);
    const ran = (stryMutAct_9fa48("916") ? instance.runningSince !== null : stryMutAct_9fa48("915") ? false : stryMutAct_9fa48("914") ? true : (stryCov_9fa48("914", "915", "916"), instance.runningSince === null)) ? null : between(instance.runningSince, now);
    if (stryMutAct_9fa48("919") ? instance.everRunning && ran !== null || ran >= stableFor : stryMutAct_9fa48("918") ? false : stryMutAct_9fa48("917") ? true : (stryCov_9fa48("917", "918", "919"), (stryMutAct_9fa48("921") ? instance.everRunning || ran !== null : stryMutAct_9fa48("920") ? true : (stryCov_9fa48("920", "921"), instance.everRunning && (stryMutAct_9fa48("923") ? ran === null : stryMutAct_9fa48("922") ? true : (stryCov_9fa48("922", "923"), ran !== null)))) && (stryMutAct_9fa48("926") ? ran < stableFor : stryMutAct_9fa48("925") ? ran > stableFor : stryMutAct_9fa48("924") ? true : (stryCov_9fa48("924", "925", "926"), ran >= stableFor)))) {
      if (stryMutAct_9fa48("927")) {
        {}
      } else {
        stryCov_9fa48("927");
        return stryMutAct_9fa48("928") ? {} : (stryCov_9fa48("928"), {
          vm: plan(stryMutAct_9fa48("929") ? {} : (stryCov_9fa48("929"), {
            ...vm,
            unstableRuns: null
          }), now),
          facts: stryMutAct_9fa48("930") ? ["Stryker was here"] : (stryCov_9fa48("930"), [])
        });
      }
    }
    const withEvidence = keepEvidence(vm, end, end.cause, now, stryMutAct_9fa48("931") ? false : (stryCov_9fa48("931"), true));
    if (stryMutAct_9fa48("933") ? false : stryMutAct_9fa48("932") ? true : (stryCov_9fa48("932", "933"), instance.everRunning)) {
      if (stryMutAct_9fa48("934")) {
        {}
      } else {
        stryCov_9fa48("934");
        const count = stryMutAct_9fa48("935") ? (vm.unstableRuns?.count ?? 0) - 1 : (stryCov_9fa48("935"), (stryMutAct_9fa48("936") ? vm.unstableRuns?.count && 0 : (stryCov_9fa48("936"), (stryMutAct_9fa48("937") ? vm.unstableRuns.count : (stryCov_9fa48("937"), vm.unstableRuns?.count)) ?? 0)) + 1);
        const retryAfter = after(now, vmRetryDelay(backoff, count, draw.delay));
        return stryMutAct_9fa48("938") ? {} : (stryCov_9fa48("938"), {
          vm: plan(stryMutAct_9fa48("939") ? {} : (stryCov_9fa48("939"), {
            ...withEvidence,
            unstableRuns: stryMutAct_9fa48("940") ? {} : (stryCov_9fa48("940"), {
              count,
              retryAfter
            })
          }), retryAfter),
          facts: stryMutAct_9fa48("941") ? [] : (stryCov_9fa48("941"), [stryMutAct_9fa48("942") ? {} : (stryCov_9fa48("942"), {
            kind: stryMutAct_9fa48("943") ? "" : (stryCov_9fa48("943"), 'metric'),
            name: stryMutAct_9fa48("944") ? "" : (stryCov_9fa48("944"), 'VmUnstableRun'),
            group: null,
            value: 1
          }), delayed(stryMutAct_9fa48("945") ? `` : (stryCov_9fa48("945"), `ran only ${sayDuration(stryMutAct_9fa48("946") ? ran && between(now, now) : (stryCov_9fa48("946"), ran ?? between(now, now)))} and ended ${end.cause} (unstable run ${count})`), end, retryAfter, now)])
        });
      }
    }
    const consecutiveFailCount = stryMutAct_9fa48("947") ? (vm.startFailure?.consecutiveFailCount ?? 0) - 1 : (stryCov_9fa48("947"), (stryMutAct_9fa48("948") ? vm.startFailure?.consecutiveFailCount && 0 : (stryCov_9fa48("948"), (stryMutAct_9fa48("949") ? vm.startFailure.consecutiveFailCount : (stryCov_9fa48("949"), vm.startFailure?.consecutiveFailCount)) ?? 0)) + 1);
    const retryAfter = after(now, vmRetryDelay(backoff, consecutiveFailCount, draw.delay));
    return stryMutAct_9fa48("950") ? {} : (stryCov_9fa48("950"), {
      vm: plan(stryMutAct_9fa48("951") ? {} : (stryCov_9fa48("951"), {
        ...withEvidence,
        startFailure: stryMutAct_9fa48("952") ? {} : (stryCov_9fa48("952"), {
          consecutiveFailCount,
          lastFailedInstanceId: instance.instanceId,
          retryAfter,
          reason: end.cause,
          message: end.message
        })
      }), retryAfter),
      facts: stryMutAct_9fa48("953") ? [] : (stryCov_9fa48("953"), [stryMutAct_9fa48("954") ? {} : (stryCov_9fa48("954"), {
        kind: stryMutAct_9fa48("955") ? "" : (stryCov_9fa48("955"), 'metric'),
        name: stryMutAct_9fa48("956") ? "" : (stryCov_9fa48("956"), 'VmStartFailure'),
        group: null,
        value: 1
      }), delayed(stryMutAct_9fa48("957") ? `` : (stryCov_9fa48("957"), `never came to run: ${end.cause} (start failure ${consecutiveFailCount})`), end, retryAfter, now)])
    });
  }
}
const delayed = stryMutAct_9fa48("958") ? () => undefined : (stryCov_9fa48("958"), (() => {
  const delayed = (what: string, end: End, retryAfter: Instant, now: Instant): Fact => note(stryMutAct_9fa48("959") ? "" : (stryCov_9fa48("959"), 'VM Start Delayed'), stryMutAct_9fa48("960") ? `` : (stryCov_9fa48("960"), `${what}${(stryMutAct_9fa48("963") ? end.message !== null : stryMutAct_9fa48("962") ? false : stryMutAct_9fa48("961") ? true : (stryCov_9fa48("961", "962", "963"), end.message === null)) ? stryMutAct_9fa48("964") ? "Stryker was here!" : (stryCov_9fa48("964"), '') : stryMutAct_9fa48("965") ? `` : (stryCov_9fa48("965"), `: ${end.message}`)}; the next start is delayed by ${sayDuration(between(now, retryAfter))}`), stryMutAct_9fa48("966") ? "" : (stryCov_9fa48("966"), 'warning'));
  return delayed;
})());

/**
 * The start deadline passed: counted at once, told to end, and not replaced before its end is known (rule 5).
 * Strategies without records only tell it to end.
 */
export function timeOut(vm: VmRecord, time: VmTime): VmStep {
  if (stryMutAct_9fa48("967")) {
    {}
  } else {
    stryCov_9fa48("967");
    const {
      instance
    } = vm;
    if (stryMutAct_9fa48("970") ? instance === null && instance.timedOutAt !== null : stryMutAct_9fa48("969") ? false : stryMutAct_9fa48("968") ? true : (stryCov_9fa48("968", "969", "970"), (stryMutAct_9fa48("972") ? instance !== null : stryMutAct_9fa48("971") ? false : (stryCov_9fa48("971", "972"), instance === null)) || (stryMutAct_9fa48("974") ? instance.timedOutAt === null : stryMutAct_9fa48("973") ? false : (stryCov_9fa48("973", "974"), instance.timedOutAt !== null)))) return stryMutAct_9fa48("975") ? {} : (stryCov_9fa48("975"), {
      vm,
      facts: stryMutAct_9fa48("976") ? ["Stryker was here"] : (stryCov_9fa48("976"), [])
    });
    const {
      now
    } = time;
    const timedOut: Instance = stryMutAct_9fa48("977") ? {} : (stryCov_9fa48("977"), {
      ...instance,
      timedOutAt: now,
      cause: stryMutAct_9fa48("978") ? "" : (stryCov_9fa48("978"), 'LaunchTimeout'),
      startDeadlineAt: null,
      nextWakeAt: firstRepeat(now),
      wakesRepeated: 0
    });
    const told: VmRecord = stryMutAct_9fa48("979") ? {} : (stryCov_9fa48("979"), {
      ...vm,
      instance: timedOut
    });
    const end: End = stryMutAct_9fa48("980") ? {} : (stryCov_9fa48("980"), {
      phase: stryMutAct_9fa48("981") ? "" : (stryCov_9fa48("981"), 'Failed'),
      cause: stryMutAct_9fa48("982") ? "" : (stryCov_9fa48("982"), 'LaunchTimeout'),
      message: stryMutAct_9fa48("983") ? "" : (stryCov_9fa48("983"), 'not Running within its start deadline'),
      console: null
    });
    const stop = wakeToStop(vm, stryMutAct_9fa48("984") ? false : (stryCov_9fa48("984"), true));
    if (stryMutAct_9fa48("987") ? false : stryMutAct_9fa48("986") ? true : stryMutAct_9fa48("985") ? keepsRecords(vm) : (stryCov_9fa48("985", "986", "987"), !keepsRecords(vm))) return stryMutAct_9fa48("988") ? {} : (stryCov_9fa48("988"), {
      vm: keepEvidence(told, end, end.cause, now, stryMutAct_9fa48("989") ? false : (stryCov_9fa48("989"), true)),
      facts: stryMutAct_9fa48("990") ? [] : (stryCov_9fa48("990"), [stop, note(stryMutAct_9fa48("991") ? "" : (stryCov_9fa48("991"), 'VM Ended'), stryMutAct_9fa48("992") ? end.message && '' : (stryCov_9fa48("992"), end.message ?? (stryMutAct_9fa48("993") ? "Stryker was here!" : (stryCov_9fa48("993"), ''))), stryMutAct_9fa48("994") ? "" : (stryCov_9fa48("994"), 'warning'))])
    });
    const counted = countEnd(told, timedOut, end, time);
    return stryMutAct_9fa48("995") ? {} : (stryCov_9fa48("995"), {
      vm: counted.vm,
      facts: stryMutAct_9fa48("996") ? [] : (stryCov_9fa48("996"), [stop, ...counted.facts])
    });
  }
}

/** Drawn around the deadline: ± one fifth, as the seed's launcher draws 4 to 6 minutes for 5. */
export function startDeadlineAt(vm: VmRecord, {
  now,
  draw
}: VmTime): Instant | null {
  if (stryMutAct_9fa48("997")) {
    {}
  } else {
    stryCov_9fa48("997");
    const {
      startDeadline
    } = vmPolicyOf(vm.body);
    return (stryMutAct_9fa48("1000") ? startDeadline !== null : stryMutAct_9fa48("999") ? false : stryMutAct_9fa48("998") ? true : (stryCov_9fa48("998", "999", "1000"), startDeadline === null)) ? null : instant(Math.round(stryMutAct_9fa48("1001") ? now - startDeadline * (0.8 + 0.4 * draw.deadline) : (stryCov_9fa48("1001"), now + (stryMutAct_9fa48("1002") ? startDeadline / (0.8 + 0.4 * draw.deadline) : (stryCov_9fa48("1002"), startDeadline * (stryMutAct_9fa48("1003") ? 0.8 - 0.4 * draw.deadline : (stryCov_9fa48("1003"), 0.8 + (stryMutAct_9fa48("1004") ? 0.4 / draw.deadline : (stryCov_9fa48("1004"), 0.4 * draw.deadline)))))))));
  }
}