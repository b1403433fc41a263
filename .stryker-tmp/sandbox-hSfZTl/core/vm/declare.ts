/** Declaring a VM, and changing what was declared (DESIGN section 3, table and rule 7). */
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
import type { RunStrategy, VmBody } from '../contract.ts';
import { refused } from '../fact.ts';
import type { InstanceId } from '../ids.ts';
import { vmPolicyOf } from '../policy.ts';
import type { VmContext } from './event.ts';
import { askToEnd, note, startIfDue, type VmStep } from './life.ts';
import { INSTANCES_KEPT, live, type VmRecord } from './record.ts';
type Declared = (VmStep & {
  before: VmRecord;
}) | ReturnType<typeof refused>;
const startsWhenCreated = stryMutAct_9fa48("233") ? () => undefined : (stryCov_9fa48("233"), (() => {
  const startsWhenCreated = (strategy: RunStrategy): boolean => stryMutAct_9fa48("236") ? strategy !== 'Manual' || strategy !== 'Halted' : stryMutAct_9fa48("235") ? false : stryMutAct_9fa48("234") ? true : (stryCov_9fa48("234", "235", "236"), (stryMutAct_9fa48("238") ? strategy === 'Manual' : stryMutAct_9fa48("237") ? true : (stryCov_9fa48("237", "238"), strategy !== (stryMutAct_9fa48("239") ? "" : (stryCov_9fa48("239"), 'Manual')))) && (stryMutAct_9fa48("241") ? strategy === 'Halted' : stryMutAct_9fa48("240") ? true : (stryCov_9fa48("240", "241"), strategy !== (stryMutAct_9fa48("242") ? "" : (stryCov_9fa48("242"), 'Halted')))));
  return startsWhenCreated;
})());

/** A new declaration has a new uid, also over the tombstone of one that was deleted. */
export function declare(tombstone: VmRecord | null, body: VmBody, context: VmContext): Declared {
  if (stryMutAct_9fa48("243")) {
    {}
  } else {
    stryCov_9fa48("243");
    const {
      now,
      draw,
      vmId
    } = context;
    const on = startsWhenCreated(body.runStrategy);
    const vm: VmRecord = stryMutAct_9fa48("244") ? {} : (stryCov_9fa48("244"), {
      kind: stryMutAct_9fa48("245") ? "" : (stryCov_9fa48("245"), 'vm'),
      revision: stryMutAct_9fa48("246") ? tombstone?.revision && 0 : (stryCov_9fa48("246"), (stryMutAct_9fa48("247") ? tombstone.revision : (stryCov_9fa48("247"), tombstone?.revision)) ?? 0),
      events: stryMutAct_9fa48("248") ? ["Stryker was here"] : (stryCov_9fa48("248"), []),
      vmId,
      uid: draw.id,
      body,
      launchRevision: stryMutAct_9fa48("249") ? (tombstone?.launchRevision ?? 0) - 1 : (stryCov_9fa48("249"), (stryMutAct_9fa48("250") ? tombstone?.launchRevision && 0 : (stryCov_9fa48("250"), (stryMutAct_9fa48("251") ? tombstone.launchRevision : (stryCov_9fa48("251"), tombstone?.launchRevision)) ?? 0)) + 1),
      power: stryMutAct_9fa48("252") ? {} : (stryCov_9fa48("252"), {
        on,
        sequence: 0
      }),
      lastVerb: null,
      instance: null,
      previousInstances: (stryMutAct_9fa48("255") ? tombstone !== null : stryMutAct_9fa48("254") ? false : stryMutAct_9fa48("253") ? true : (stryCov_9fa48("253", "254", "255"), tombstone === null)) ? stryMutAct_9fa48("256") ? ["Stryker was here"] : (stryCov_9fa48("256"), []) : everyInstance(tombstone),
      pendingStart: on ? stryMutAct_9fa48("257") ? {} : (stryCov_9fa48("257"), {
        notBefore: now
      }) : null,
      startFailure: null,
      unstableRuns: null,
      lastFailure: null,
      restartCount: 0,
      deleting: null,
      removed: null
    });
    const step = startIfDue(vm, context);
    return stryMutAct_9fa48("258") ? {} : (stryCov_9fa48("258"), {
      before: vm,
      vm: step.vm,
      facts: stryMutAct_9fa48("259") ? [] : (stryCov_9fa48("259"), [note(stryMutAct_9fa48("260") ? "" : (stryCov_9fa48("260"), 'VM Declared'), stryMutAct_9fa48("261") ? `` : (stryCov_9fa48("261"), `declared on host ${body.hostId}, ${body.runStrategy}`)), ...step.facts])
    });
  }
}

/** The instances of the declaration before: what they report late is never taken for a life of this one. */
const everyInstance = stryMutAct_9fa48("262") ? () => undefined : (stryCov_9fa48("262"), (() => {
  const everyInstance = ({
    previousInstances,
    instance
  }: VmRecord): InstanceId[] => stryMutAct_9fa48("263") ? instance === null ? previousInstances : [...previousInstances, instance.instanceId] : (stryCov_9fa48("263"), ((stryMutAct_9fa48("266") ? instance !== null : stryMutAct_9fa48("265") ? false : stryMutAct_9fa48("264") ? true : (stryCov_9fa48("264", "265", "266"), instance === null)) ? previousInstances : stryMutAct_9fa48("267") ? [] : (stryCov_9fa48("267"), [...previousInstances, instance.instanceId])).slice(stryMutAct_9fa48("268") ? +INSTANCES_KEPT : (stryCov_9fa48("268"), -INSTANCES_KEPT)));
  return everyInstance;
})());
export function redeclare(vm: VmRecord, body: VmBody, context: VmContext): Declared {
  if (stryMutAct_9fa48("269")) {
    {}
  } else {
    stryCov_9fa48("269");
    if (stryMutAct_9fa48("272") ? vm.deleting === null : stryMutAct_9fa48("271") ? false : stryMutAct_9fa48("270") ? true : (stryCov_9fa48("270", "271", "272"), vm.deleting !== null)) return refused(409, stryMutAct_9fa48("273") ? "" : (stryCov_9fa48("273"), 'VmTerminating'), stryMutAct_9fa48("274") ? `` : (stryCov_9fa48("274"), `VM ${vm.vmId} is being deleted; declare it again when it is gone`));
    if (stryMutAct_9fa48("277") ? body.hostId !== vm.body.hostId || live(vm.instance) : stryMutAct_9fa48("276") ? false : stryMutAct_9fa48("275") ? true : (stryCov_9fa48("275", "276", "277"), (stryMutAct_9fa48("279") ? body.hostId === vm.body.hostId : stryMutAct_9fa48("278") ? true : (stryCov_9fa48("278", "279"), body.hostId !== vm.body.hostId)) && live(vm.instance))) {
      if (stryMutAct_9fa48("280")) {
        {}
      } else {
        stryCov_9fa48("280");
        return refused(409, stryMutAct_9fa48("281") ? "" : (stryCov_9fa48("281"), 'InstanceNotEnded'), stryMutAct_9fa48("282") ? `` : (stryCov_9fa48("282"), `VM ${vm.vmId} has instance ${vm.instance.instanceId} on host ${vm.body.hostId} whose end is not known; stop it, or fence the host, before moving the VM`));
      }
    }
    if (stryMutAct_9fa48("285") ? JSON.stringify(body) !== JSON.stringify(vm.body) : stryMutAct_9fa48("284") ? false : stryMutAct_9fa48("283") ? true : (stryCov_9fa48("283", "284", "285"), JSON.stringify(body) === JSON.stringify(vm.body))) return stryMutAct_9fa48("286") ? {} : (stryCov_9fa48("286"), {
      before: vm,
      vm,
      facts: stryMutAct_9fa48("287") ? ["Stryker was here"] : (stryCov_9fa48("287"), [])
    });
    const relaunched = newLaunch(vm.body, body);
    let next: VmRecord = stryMutAct_9fa48("288") ? {} : (stryCov_9fa48("288"), {
      ...vm,
      body,
      launchRevision: stryMutAct_9fa48("289") ? vm.launchRevision - (relaunched ? 1 : 0) : (stryCov_9fa48("289"), vm.launchRevision + (relaunched ? 1 : 0))
    });
    if (stryMutAct_9fa48("292") ? body.runStrategy === vm.body.runStrategy : stryMutAct_9fa48("291") ? false : stryMutAct_9fa48("290") ? true : (stryCov_9fa48("290", "291", "292"), body.runStrategy !== vm.body.runStrategy)) next = changeStrategy(vm, next, context);
    if (stryMutAct_9fa48("295") ? relaunched || next.pendingStart !== null : stryMutAct_9fa48("294") ? false : stryMutAct_9fa48("293") ? true : (stryCov_9fa48("293", "294", "295"), relaunched && (stryMutAct_9fa48("297") ? next.pendingStart === null : stryMutAct_9fa48("296") ? true : (stryCov_9fa48("296", "297"), next.pendingStart !== null)))) next = stryMutAct_9fa48("298") ? {} : (stryCov_9fa48("298"), {
      ...next,
      pendingStart: stryMutAct_9fa48("299") ? {} : (stryCov_9fa48("299"), {
        notBefore: context.now
      })
    });
    const halted = (stryMutAct_9fa48("302") ? body.runStrategy !== 'Halted' : stryMutAct_9fa48("301") ? false : stryMutAct_9fa48("300") ? true : (stryCov_9fa48("300", "301", "302"), body.runStrategy === (stryMutAct_9fa48("303") ? "" : (stryCov_9fa48("303"), 'Halted')))) ? askToEnd(next, vmPolicyOf(body).grace, context.now) : stryMutAct_9fa48("304") ? {} : (stryCov_9fa48("304"), {
      vm: next,
      facts: stryMutAct_9fa48("305") ? ["Stryker was here"] : (stryCov_9fa48("305"), [])
    });
    const step = startIfDue(halted.vm, context);
    return stryMutAct_9fa48("306") ? {} : (stryCov_9fa48("306"), {
      before: vm,
      vm: step.vm,
      facts: stryMutAct_9fa48("307") ? [] : (stryCov_9fa48("307"), [note(stryMutAct_9fa48("308") ? "" : (stryCov_9fa48("308"), 'VM Changed'), describeChange(vm.body, body, relaunched)), ...halted.facts, ...step.facts])
    });
  }
}
const newLaunch = stryMutAct_9fa48("309") ? () => undefined : (stryCov_9fa48("309"), (() => {
  const newLaunch = (before: VmBody, after: VmBody): boolean => stryMutAct_9fa48("312") ? JSON.stringify(before.launch) !== JSON.stringify(after.launch) && (before.simulateCrash ?? false) !== (after.simulateCrash ?? false) : stryMutAct_9fa48("311") ? false : stryMutAct_9fa48("310") ? true : (stryCov_9fa48("310", "311", "312"), (stryMutAct_9fa48("314") ? JSON.stringify(before.launch) === JSON.stringify(after.launch) : stryMutAct_9fa48("313") ? false : (stryCov_9fa48("313", "314"), JSON.stringify(before.launch) !== JSON.stringify(after.launch))) || (stryMutAct_9fa48("316") ? (before.simulateCrash ?? false) === (after.simulateCrash ?? false) : stryMutAct_9fa48("315") ? false : (stryCov_9fa48("315", "316"), (stryMutAct_9fa48("317") ? before.simulateCrash && false : (stryCov_9fa48("317"), before.simulateCrash ?? (stryMutAct_9fa48("318") ? true : (stryCov_9fa48("318"), false)))) !== (stryMutAct_9fa48("319") ? after.simulateCrash && false : (stryCov_9fa48("319"), after.simulateCrash ?? (stryMutAct_9fa48("320") ? true : (stryCov_9fa48("320"), false)))))));
  return newLaunch;
})());
function describeChange(before: VmBody, now: VmBody, relaunched: boolean): string {
  if (stryMutAct_9fa48("321")) {
    {}
  } else {
    stryCov_9fa48("321");
    const parts = stryMutAct_9fa48("322") ? [] : (stryCov_9fa48("322"), [...((stryMutAct_9fa48("325") ? before.runStrategy !== now.runStrategy : stryMutAct_9fa48("324") ? false : stryMutAct_9fa48("323") ? true : (stryCov_9fa48("323", "324", "325"), before.runStrategy === now.runStrategy)) ? stryMutAct_9fa48("326") ? ["Stryker was here"] : (stryCov_9fa48("326"), []) : stryMutAct_9fa48("327") ? [] : (stryCov_9fa48("327"), [stryMutAct_9fa48("328") ? `` : (stryCov_9fa48("328"), `run strategy ${before.runStrategy} → ${now.runStrategy}`)])), ...(relaunched ? stryMutAct_9fa48("329") ? [] : (stryCov_9fa48("329"), [stryMutAct_9fa48("330") ? "" : (stryCov_9fa48("330"), 'new launch definition')]) : stryMutAct_9fa48("331") ? ["Stryker was here"] : (stryCov_9fa48("331"), [])), ...((stryMutAct_9fa48("334") ? before.hostId !== now.hostId : stryMutAct_9fa48("333") ? false : stryMutAct_9fa48("332") ? true : (stryCov_9fa48("332", "333", "334"), before.hostId === now.hostId)) ? stryMutAct_9fa48("335") ? ["Stryker was here"] : (stryCov_9fa48("335"), []) : stryMutAct_9fa48("336") ? [] : (stryCov_9fa48("336"), [stryMutAct_9fa48("337") ? `` : (stryCov_9fa48("337"), `host ${before.hostId} → ${now.hostId}`)]))]);
    return (stryMutAct_9fa48("340") ? parts.length !== 0 : stryMutAct_9fa48("339") ? false : stryMutAct_9fa48("338") ? true : (stryCov_9fa48("338", "339", "340"), parts.length === 0)) ? stryMutAct_9fa48("341") ? "" : (stryCov_9fa48("341"), 'settings changed') : parts.join(stryMutAct_9fa48("342") ? "" : (stryCov_9fa48("342"), ', '));
  }
}

/**
 * A new strategy during back-off: Always and RerunOnFailure keep the planned retry, Manual and Halted cancel it, Once
 * tries once. Outside back-off it acts like a creation, unless the last verb was stop (rule 7).
 */
function changeStrategy(before: VmRecord, next: VmRecord, {
  now
}: VmContext): VmRecord {
  if (stryMutAct_9fa48("343")) {
    {}
  } else {
    stryCov_9fa48("343");
    const {
      runStrategy
    } = next.body;
    const keeps = stryMutAct_9fa48("346") ? runStrategy === 'Always' && runStrategy === 'RerunOnFailure' : stryMutAct_9fa48("345") ? false : stryMutAct_9fa48("344") ? true : (stryCov_9fa48("344", "345", "346"), (stryMutAct_9fa48("348") ? runStrategy !== 'Always' : stryMutAct_9fa48("347") ? false : (stryCov_9fa48("347", "348"), runStrategy === (stryMutAct_9fa48("349") ? "" : (stryCov_9fa48("349"), 'Always')))) || (stryMutAct_9fa48("351") ? runStrategy !== 'RerunOnFailure' : stryMutAct_9fa48("350") ? false : (stryCov_9fa48("350", "351"), runStrategy === (stryMutAct_9fa48("352") ? "" : (stryCov_9fa48("352"), 'RerunOnFailure')))));
    const cleaned: VmRecord = keeps ? next : stryMutAct_9fa48("353") ? {} : (stryCov_9fa48("353"), {
      ...next,
      startFailure: null,
      unstableRuns: null
    });
    const backingOff = stryMutAct_9fa48("356") ? before.pendingStart === null : stryMutAct_9fa48("355") ? false : stryMutAct_9fa48("354") ? true : (stryCov_9fa48("354", "355", "356"), before.pendingStart !== null);
    if (stryMutAct_9fa48("359") ? backingOff || keeps : stryMutAct_9fa48("358") ? false : stryMutAct_9fa48("357") ? true : (stryCov_9fa48("357", "358", "359"), backingOff && keeps)) return cleaned;
    const stopped = stryMutAct_9fa48("362") ? before.lastVerb !== 'stop' : stryMutAct_9fa48("361") ? false : stryMutAct_9fa48("360") ? true : (stryCov_9fa48("360", "361", "362"), before.lastVerb === (stryMutAct_9fa48("363") ? "" : (stryCov_9fa48("363"), 'stop')));
    if (stryMutAct_9fa48("366") ? runStrategy === 'Halted' && runStrategy === 'Manual' && (backingOff || !live(before.instance)) : stryMutAct_9fa48("365") ? false : stryMutAct_9fa48("364") ? true : (stryCov_9fa48("364", "365", "366"), (stryMutAct_9fa48("368") ? runStrategy !== 'Halted' : stryMutAct_9fa48("367") ? false : (stryCov_9fa48("367", "368"), runStrategy === (stryMutAct_9fa48("369") ? "" : (stryCov_9fa48("369"), 'Halted')))) || (stryMutAct_9fa48("371") ? runStrategy === 'Manual' || backingOff || !live(before.instance) : stryMutAct_9fa48("370") ? false : (stryCov_9fa48("370", "371"), (stryMutAct_9fa48("373") ? runStrategy !== 'Manual' : stryMutAct_9fa48("372") ? true : (stryCov_9fa48("372", "373"), runStrategy === (stryMutAct_9fa48("374") ? "" : (stryCov_9fa48("374"), 'Manual')))) && (stryMutAct_9fa48("376") ? backingOff && !live(before.instance) : stryMutAct_9fa48("375") ? true : (stryCov_9fa48("375", "376"), backingOff || (stryMutAct_9fa48("377") ? live(before.instance) : (stryCov_9fa48("377"), !live(before.instance))))))))) {
      if (stryMutAct_9fa48("378")) {
        {}
      } else {
        stryCov_9fa48("378");
        return setPower(stryMutAct_9fa48("379") ? {} : (stryCov_9fa48("379"), {
          ...cleaned,
          pendingStart: null
        }), stryMutAct_9fa48("380") ? true : (stryCov_9fa48("380"), false));
      }
    }
    if (stryMutAct_9fa48("383") ? runStrategy === 'Manual' && stopped : stryMutAct_9fa48("382") ? false : stryMutAct_9fa48("381") ? true : (stryCov_9fa48("381", "382", "383"), (stryMutAct_9fa48("385") ? runStrategy !== 'Manual' : stryMutAct_9fa48("384") ? false : (stryCov_9fa48("384", "385"), runStrategy === (stryMutAct_9fa48("386") ? "" : (stryCov_9fa48("386"), 'Manual')))) || stopped)) return cleaned;
    const on = setPower(cleaned, stryMutAct_9fa48("387") ? false : (stryCov_9fa48("387"), true));
    const runs = stryMutAct_9fa48("390") ? live(before.instance) && before.instance.stop === null || before.instance.timedOutAt === null : stryMutAct_9fa48("389") ? false : stryMutAct_9fa48("388") ? true : (stryCov_9fa48("388", "389", "390"), (stryMutAct_9fa48("392") ? live(before.instance) || before.instance.stop === null : stryMutAct_9fa48("391") ? true : (stryCov_9fa48("391", "392"), live(before.instance) && (stryMutAct_9fa48("394") ? before.instance.stop !== null : stryMutAct_9fa48("393") ? true : (stryCov_9fa48("393", "394"), before.instance.stop === null)))) && (stryMutAct_9fa48("396") ? before.instance.timedOutAt !== null : stryMutAct_9fa48("395") ? true : (stryCov_9fa48("395", "396"), before.instance.timedOutAt === null)));
    return runs ? on : stryMutAct_9fa48("397") ? {} : (stryCov_9fa48("397"), {
      ...on,
      pendingStart: stryMutAct_9fa48("398") ? {} : (stryCov_9fa48("398"), {
        notBefore: now
      })
    });
  }
}
const setPower = stryMutAct_9fa48("399") ? () => undefined : (stryCov_9fa48("399"), (() => {
  const setPower = (vm: VmRecord, on: boolean): VmRecord => (stryMutAct_9fa48("402") ? vm.power.on !== on : stryMutAct_9fa48("401") ? false : stryMutAct_9fa48("400") ? true : (stryCov_9fa48("400", "401", "402"), vm.power.on === on)) ? vm : stryMutAct_9fa48("403") ? {} : (stryCov_9fa48("403"), {
    ...vm,
    power: stryMutAct_9fa48("404") ? {} : (stryCov_9fa48("404"), {
      on,
      sequence: stryMutAct_9fa48("405") ? vm.power.sequence - 1 : (stryCov_9fa48("405"), vm.power.sequence + 1)
    })
  });
  return setPower;
})());