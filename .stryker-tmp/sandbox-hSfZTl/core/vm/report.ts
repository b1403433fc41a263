/** What a host's report about an instance does (DESIGN sections 3 and 6). */
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
import type { EndCause, VmReport } from '../contract.ts';
import type { InstanceId } from '../ids.ts';
import { cut } from '../node/report.ts';
import { vmPolicyOf } from '../policy.ts';
import { endInstance, instancePrefix, note, startDeadlineAt, startIfDue, type VmStep, type VmTime } from './life.ts';
import { type Instance, INSTANCES_KEPT, live, type VmRecord } from './record.ts';
const CONSOLE_MAX = 4000;
export function reportInstance(vm: VmRecord, report: VmReport, time: VmTime): VmStep {
  if (stryMutAct_9fa48("1034")) {
    {}
  } else {
    stryCov_9fa48("1034");
    if (stryMutAct_9fa48("1037") ? report.uid !== undefined || report.uid !== vm.uid : stryMutAct_9fa48("1036") ? false : stryMutAct_9fa48("1035") ? true : (stryCov_9fa48("1035", "1036", "1037"), (stryMutAct_9fa48("1039") ? report.uid === undefined : stryMutAct_9fa48("1038") ? true : (stryCov_9fa48("1038", "1039"), report.uid !== undefined)) && (stryMutAct_9fa48("1041") ? report.uid === vm.uid : stryMutAct_9fa48("1040") ? true : (stryCov_9fa48("1040", "1041"), report.uid !== vm.uid)))) return stryMutAct_9fa48("1042") ? {} : (stryCov_9fa48("1042"), {
      vm,
      facts: stryMutAct_9fa48("1043") ? ["Stryker was here"] : (stryCov_9fa48("1043"), [])
    });
    const adopted = adopt(vm, report, time);
    const {
      instance
    } = adopted.vm;
    if (stryMutAct_9fa48("1046") ? !live(instance) && instance.instanceId !== report.instanceId : stryMutAct_9fa48("1045") ? false : stryMutAct_9fa48("1044") ? true : (stryCov_9fa48("1044", "1045", "1046"), (stryMutAct_9fa48("1047") ? live(instance) : (stryCov_9fa48("1047"), !live(instance))) || (stryMutAct_9fa48("1049") ? instance.instanceId === report.instanceId : stryMutAct_9fa48("1048") ? false : (stryCov_9fa48("1048", "1049"), instance.instanceId !== report.instanceId)))) return stryMutAct_9fa48("1050") ? {} : (stryCov_9fa48("1050"), {
      vm,
      facts: stryMutAct_9fa48("1051") ? ["Stryker was here"] : (stryCov_9fa48("1051"), [])
    });
    const step = observe(adopted.vm, instance, report, time);
    return stryMutAct_9fa48("1052") ? {} : (stryCov_9fa48("1052"), {
      vm: step.vm,
      facts: stryMutAct_9fa48("1053") ? [] : (stryCov_9fa48("1053"), [...adopted.facts, ...step.facts])
    });
  }
}

/**
 * An instance that a host runs for a VM declared later becomes that VM's instance (rule 8): only before the VM has
 * ever had one that its host took on, and never after a stop.
 */
function adopt(vm: VmRecord, report: VmReport, {
  now
}: VmTime): VmStep {
  if (stryMutAct_9fa48("1054")) {
    {}
  } else {
    stryCov_9fa48("1054");
    const final = stryMutAct_9fa48("1057") ? report.phase === 'Succeeded' && report.phase === 'Failed' : stryMutAct_9fa48("1056") ? false : stryMutAct_9fa48("1055") ? true : (stryCov_9fa48("1055", "1056", "1057"), (stryMutAct_9fa48("1059") ? report.phase !== 'Succeeded' : stryMutAct_9fa48("1058") ? false : (stryCov_9fa48("1058", "1059"), report.phase === (stryMutAct_9fa48("1060") ? "" : (stryCov_9fa48("1060"), 'Succeeded')))) || (stryMutAct_9fa48("1062") ? report.phase !== 'Failed' : stryMutAct_9fa48("1061") ? false : (stryCov_9fa48("1061", "1062"), report.phase === (stryMutAct_9fa48("1063") ? "" : (stryCov_9fa48("1063"), 'Failed')))));
    const {
      instance
    } = vm;
    const untouched = stryMutAct_9fa48("1066") ? instance === null && instance.phase === 'Pending' && instance.stop === null : stryMutAct_9fa48("1065") ? false : stryMutAct_9fa48("1064") ? true : (stryCov_9fa48("1064", "1065", "1066"), (stryMutAct_9fa48("1068") ? instance !== null : stryMutAct_9fa48("1067") ? false : (stryCov_9fa48("1067", "1068"), instance === null)) || (stryMutAct_9fa48("1070") ? instance.phase === 'Pending' || instance.stop === null : stryMutAct_9fa48("1069") ? false : (stryCov_9fa48("1069", "1070"), (stryMutAct_9fa48("1072") ? instance.phase !== 'Pending' : stryMutAct_9fa48("1071") ? true : (stryCov_9fa48("1071", "1072"), instance.phase === (stryMutAct_9fa48("1073") ? "" : (stryCov_9fa48("1073"), 'Pending')))) && (stryMutAct_9fa48("1075") ? instance.stop !== null : stryMutAct_9fa48("1074") ? true : (stryCov_9fa48("1074", "1075"), instance.stop === null)))));
    const late = stryMutAct_9fa48("1076") ? vm.previousInstances.every(id => id === report.instanceId) : (stryCov_9fa48("1076"), vm.previousInstances.some(stryMutAct_9fa48("1077") ? () => undefined : (stryCov_9fa48("1077"), id => stryMutAct_9fa48("1080") ? id !== report.instanceId : stryMutAct_9fa48("1079") ? false : stryMutAct_9fa48("1078") ? true : (stryCov_9fa48("1078", "1079", "1080"), id === report.instanceId))));
    const lived = stryMutAct_9fa48("1081") ? vm.previousInstances.every(id => id.startsWith(instancePrefix(vm.uid))) : (stryCov_9fa48("1081"), vm.previousInstances.some(stryMutAct_9fa48("1082") ? () => undefined : (stryCov_9fa48("1082"), id => stryMutAct_9fa48("1083") ? id.endsWith(instancePrefix(vm.uid)) : (stryCov_9fa48("1083"), id.startsWith(instancePrefix(vm.uid))))));
    const first = stryMutAct_9fa48("1086") ? !late && !lived && vm.lastVerb !== 'stop' || vm.deleting === null : stryMutAct_9fa48("1085") ? false : stryMutAct_9fa48("1084") ? true : (stryCov_9fa48("1084", "1085", "1086"), (stryMutAct_9fa48("1088") ? !late && !lived || vm.lastVerb !== 'stop' : stryMutAct_9fa48("1087") ? true : (stryCov_9fa48("1087", "1088"), (stryMutAct_9fa48("1090") ? !late || !lived : stryMutAct_9fa48("1089") ? true : (stryCov_9fa48("1089", "1090"), (stryMutAct_9fa48("1091") ? late : (stryCov_9fa48("1091"), !late)) && (stryMutAct_9fa48("1092") ? lived : (stryCov_9fa48("1092"), !lived)))) && (stryMutAct_9fa48("1094") ? vm.lastVerb === 'stop' : stryMutAct_9fa48("1093") ? true : (stryCov_9fa48("1093", "1094"), vm.lastVerb !== (stryMutAct_9fa48("1095") ? "" : (stryCov_9fa48("1095"), 'stop')))))) && (stryMutAct_9fa48("1097") ? vm.deleting !== null : stryMutAct_9fa48("1096") ? true : (stryCov_9fa48("1096", "1097"), vm.deleting === null)));
    if (stryMutAct_9fa48("1100") ? (final || !untouched || !first) && instance?.instanceId === report.instanceId : stryMutAct_9fa48("1099") ? false : stryMutAct_9fa48("1098") ? true : (stryCov_9fa48("1098", "1099", "1100"), (stryMutAct_9fa48("1102") ? (final || !untouched) && !first : stryMutAct_9fa48("1101") ? false : (stryCov_9fa48("1101", "1102"), (stryMutAct_9fa48("1104") ? final && !untouched : stryMutAct_9fa48("1103") ? false : (stryCov_9fa48("1103", "1104"), final || (stryMutAct_9fa48("1105") ? untouched : (stryCov_9fa48("1105"), !untouched)))) || (stryMutAct_9fa48("1106") ? first : (stryCov_9fa48("1106"), !first)))) || (stryMutAct_9fa48("1108") ? instance?.instanceId !== report.instanceId : stryMutAct_9fa48("1107") ? false : (stryCov_9fa48("1107", "1108"), (stryMutAct_9fa48("1109") ? instance.instanceId : (stryCov_9fa48("1109"), instance?.instanceId)) === report.instanceId)))) return stryMutAct_9fa48("1110") ? {} : (stryCov_9fa48("1110"), {
      vm,
      facts: stryMutAct_9fa48("1111") ? ["Stryker was here"] : (stryCov_9fa48("1111"), [])
    });
    const found: Instance = stryMutAct_9fa48("1112") ? {} : (stryCov_9fa48("1112"), {
      // The contract has checked the id.
      instanceId: report.instanceId as InstanceId,
      phase: stryMutAct_9fa48("1113") ? "" : (stryCov_9fa48("1113"), 'Pending'),
      since: now,
      createdAt: now,
      everRunning: stryMutAct_9fa48("1114") ? true : (stryCov_9fa48("1114"), false),
      runningSince: null,
      cause: null,
      stop: null,
      startDeadlineAt: null,
      timedOutAt: null,
      nextWakeAt: null,
      wakesRepeated: 0
    });
    const on = stryMutAct_9fa48("1117") ? vm.body.runStrategy === 'Halted' : stryMutAct_9fa48("1116") ? false : stryMutAct_9fa48("1115") ? true : (stryCov_9fa48("1115", "1116", "1117"), vm.body.runStrategy !== (stryMutAct_9fa48("1118") ? "" : (stryCov_9fa48("1118"), 'Halted')));
    return stryMutAct_9fa48("1119") ? {} : (stryCov_9fa48("1119"), {
      vm: stryMutAct_9fa48("1120") ? {} : (stryCov_9fa48("1120"), {
        ...vm,
        instance: on ? found : stryMutAct_9fa48("1121") ? {} : (stryCov_9fa48("1121"), {
          ...found,
          stop: stryMutAct_9fa48("1122") ? {} : (stryCov_9fa48("1122"), {
            at: now,
            grace: vmPolicyOf(vm.body).grace
          })
        }),
        power: stryMutAct_9fa48("1123") ? {} : (stryCov_9fa48("1123"), {
          ...vm.power,
          on
        }),
        pendingStart: null,
        previousInstances: (stryMutAct_9fa48("1126") ? instance !== null : stryMutAct_9fa48("1125") ? false : stryMutAct_9fa48("1124") ? true : (stryCov_9fa48("1124", "1125", "1126"), instance === null)) ? vm.previousInstances : stryMutAct_9fa48("1127") ? [...vm.previousInstances, instance.instanceId] : (stryCov_9fa48("1127"), (stryMutAct_9fa48("1128") ? [] : (stryCov_9fa48("1128"), [...vm.previousInstances, instance.instanceId])).slice(stryMutAct_9fa48("1129") ? +INSTANCES_KEPT : (stryCov_9fa48("1129"), -INSTANCES_KEPT)))
      }),
      facts: stryMutAct_9fa48("1130") ? [] : (stryCov_9fa48("1130"), [note(stryMutAct_9fa48("1131") ? "" : (stryCov_9fa48("1131"), 'VM Adopted'), stryMutAct_9fa48("1132") ? `` : (stryCov_9fa48("1132"), `instance ${report.instanceId} was already running on its host and is adopted`))])
    });
  }
}
function observe(vm: VmRecord, instance: Instance, report: VmReport, time: VmTime): VmStep {
  if (stryMutAct_9fa48("1133")) {
    {}
  } else {
    stryCov_9fa48("1133");
    const {
      now
    } = time;
    switch (report.phase) {
      case stryMutAct_9fa48("1135") ? "" : (stryCov_9fa48("1135"), 'Pending'):
        if (stryMutAct_9fa48("1134")) {} else {
          stryCov_9fa48("1134");
          return stryMutAct_9fa48("1136") ? {} : (stryCov_9fa48("1136"), {
            vm,
            facts: stryMutAct_9fa48("1137") ? ["Stryker was here"] : (stryCov_9fa48("1137"), [])
          });
        }
      case stryMutAct_9fa48("1139") ? "" : (stryCov_9fa48("1139"), 'Scheduled'):
        if (stryMutAct_9fa48("1138")) {} else {
          stryCov_9fa48("1138");
          return takenOn(vm, instance, time);
        }
      case stryMutAct_9fa48("1141") ? "" : (stryCov_9fa48("1141"), 'Running'):
        if (stryMutAct_9fa48("1140")) {} else {
          stryCov_9fa48("1140");
          return running(vm, instance, time);
        }
      case stryMutAct_9fa48("1142") ? "" : (stryCov_9fa48("1142"), 'Succeeded'):
      case stryMutAct_9fa48("1144") ? "" : (stryCov_9fa48("1144"), 'Failed'):
        if (stryMutAct_9fa48("1143")) {} else {
          stryCov_9fa48("1143");
          {
            if (stryMutAct_9fa48("1145")) {
              {}
            } else {
              stryCov_9fa48("1145");
              const ended = endInstance(vm, stryMutAct_9fa48("1146") ? {} : (stryCov_9fa48("1146"), {
                phase: report.phase,
                cause: stryMutAct_9fa48("1147") ? report.cause && presumedCause(instance, report.phase) : (stryCov_9fa48("1147"), report.cause ?? presumedCause(instance, report.phase)),
                message: (stryMutAct_9fa48("1150") ? report.message === undefined && report.message === '' : stryMutAct_9fa48("1149") ? false : stryMutAct_9fa48("1148") ? true : (stryCov_9fa48("1148", "1149", "1150"), (stryMutAct_9fa48("1152") ? report.message !== undefined : stryMutAct_9fa48("1151") ? false : (stryCov_9fa48("1151", "1152"), report.message === undefined)) || (stryMutAct_9fa48("1154") ? report.message !== '' : stryMutAct_9fa48("1153") ? false : (stryCov_9fa48("1153", "1154"), report.message === (stryMutAct_9fa48("1155") ? "Stryker was here!" : (stryCov_9fa48("1155"), '')))))) ? null : cut(report.message),
                console: (stryMutAct_9fa48("1158") ? report.console === undefined && report.console === '' : stryMutAct_9fa48("1157") ? false : stryMutAct_9fa48("1156") ? true : (stryCov_9fa48("1156", "1157", "1158"), (stryMutAct_9fa48("1160") ? report.console !== undefined : stryMutAct_9fa48("1159") ? false : (stryCov_9fa48("1159", "1160"), report.console === undefined)) || (stryMutAct_9fa48("1162") ? report.console !== '' : stryMutAct_9fa48("1161") ? false : (stryCov_9fa48("1161", "1162"), report.console === (stryMutAct_9fa48("1163") ? "Stryker was here!" : (stryCov_9fa48("1163"), '')))))) ? null : stryMutAct_9fa48("1164") ? report.console : (stryCov_9fa48("1164"), report.console.slice(stryMutAct_9fa48("1165") ? +CONSOLE_MAX : (stryCov_9fa48("1165"), -CONSOLE_MAX)))
              }), time);
              const next = startIfDue(ended.vm, stryMutAct_9fa48("1166") ? {} : (stryCov_9fa48("1166"), {
                now,
                draw: time.draw
              }));
              return stryMutAct_9fa48("1167") ? {} : (stryCov_9fa48("1167"), {
                vm: next.vm,
                facts: stryMutAct_9fa48("1168") ? [] : (stryCov_9fa48("1168"), [...ended.facts, ...next.facts])
              });
            }
          }
        }
    }
  }
}

/** The cause of an end that the agent did not name. */
function presumedCause(instance: Instance, phase: 'Succeeded' | 'Failed'): EndCause {
  if (stryMutAct_9fa48("1169")) {
    {}
  } else {
    stryCov_9fa48("1169");
    if (stryMutAct_9fa48("1172") ? phase !== 'Succeeded' : stryMutAct_9fa48("1171") ? false : stryMutAct_9fa48("1170") ? true : (stryCov_9fa48("1170", "1171", "1172"), phase === (stryMutAct_9fa48("1173") ? "" : (stryCov_9fa48("1173"), 'Succeeded')))) return stryMutAct_9fa48("1174") ? "" : (stryCov_9fa48("1174"), 'GuestShutdown');
    return instance.everRunning ? stryMutAct_9fa48("1175") ? "" : (stryCov_9fa48("1175"), 'Unknown') : stryMutAct_9fa48("1176") ? "" : (stryCov_9fa48("1176"), 'LaunchFailed');
  }
}

/** The host took the instance on: its start deadline runs from here (rule 5). */
export function takenOn(vm: VmRecord, instance: Instance, time: VmTime): VmStep {
  if (stryMutAct_9fa48("1177")) {
    {}
  } else {
    stryCov_9fa48("1177");
    if (stryMutAct_9fa48("1180") ? instance.phase === 'Unknown' || !instance.everRunning : stryMutAct_9fa48("1179") ? false : stryMutAct_9fa48("1178") ? true : (stryCov_9fa48("1178", "1179", "1180"), (stryMutAct_9fa48("1182") ? instance.phase !== 'Unknown' : stryMutAct_9fa48("1181") ? true : (stryCov_9fa48("1181", "1182"), instance.phase === (stryMutAct_9fa48("1183") ? "" : (stryCov_9fa48("1183"), 'Unknown')))) && (stryMutAct_9fa48("1184") ? instance.everRunning : (stryCov_9fa48("1184"), !instance.everRunning)))) {
      if (stryMutAct_9fa48("1185")) {
        {}
      } else {
        stryCov_9fa48("1185");
        return stryMutAct_9fa48("1186") ? {} : (stryCov_9fa48("1186"), {
          vm: stryMutAct_9fa48("1187") ? {} : (stryCov_9fa48("1187"), {
            ...vm,
            instance: stryMutAct_9fa48("1188") ? {} : (stryCov_9fa48("1188"), {
              ...instance,
              phase: stryMutAct_9fa48("1189") ? "" : (stryCov_9fa48("1189"), 'Scheduled'),
              since: time.now
            })
          }),
          facts: stryMutAct_9fa48("1190") ? ["Stryker was here"] : (stryCov_9fa48("1190"), [])
        });
      }
    }
    if (stryMutAct_9fa48("1193") ? instance.phase === 'Pending' : stryMutAct_9fa48("1192") ? false : stryMutAct_9fa48("1191") ? true : (stryCov_9fa48("1191", "1192", "1193"), instance.phase !== (stryMutAct_9fa48("1194") ? "" : (stryCov_9fa48("1194"), 'Pending')))) return stryMutAct_9fa48("1195") ? {} : (stryCov_9fa48("1195"), {
      vm,
      facts: stryMutAct_9fa48("1196") ? ["Stryker was here"] : (stryCov_9fa48("1196"), [])
    });
    const untold = stryMutAct_9fa48("1199") ? instance.stop === null || instance.timedOutAt === null : stryMutAct_9fa48("1198") ? false : stryMutAct_9fa48("1197") ? true : (stryCov_9fa48("1197", "1198", "1199"), (stryMutAct_9fa48("1201") ? instance.stop !== null : stryMutAct_9fa48("1200") ? true : (stryCov_9fa48("1200", "1201"), instance.stop === null)) && (stryMutAct_9fa48("1203") ? instance.timedOutAt !== null : stryMutAct_9fa48("1202") ? true : (stryCov_9fa48("1202", "1203"), instance.timedOutAt === null)));
    return stryMutAct_9fa48("1204") ? {} : (stryCov_9fa48("1204"), {
      vm: stryMutAct_9fa48("1205") ? {} : (stryCov_9fa48("1205"), {
        ...vm,
        instance: stryMutAct_9fa48("1206") ? {} : (stryCov_9fa48("1206"), {
          ...instance,
          phase: stryMutAct_9fa48("1207") ? "" : (stryCov_9fa48("1207"), 'Scheduled'),
          since: time.now,
          startDeadlineAt: untold ? startDeadlineAt(vm, time) : null,
          nextWakeAt: untold ? null : instance.nextWakeAt
        })
      }),
      facts: stryMutAct_9fa48("1208") ? ["Stryker was here"] : (stryCov_9fa48("1208"), [])
    });
  }
}
function running(vm: VmRecord, instance: Instance, {
  now
}: VmTime): VmStep {
  if (stryMutAct_9fa48("1209")) {
    {}
  } else {
    stryCov_9fa48("1209");
    if (stryMutAct_9fa48("1212") ? instance.timedOutAt !== null && instance.phase === 'Running' : stryMutAct_9fa48("1211") ? false : stryMutAct_9fa48("1210") ? true : (stryCov_9fa48("1210", "1211", "1212"), (stryMutAct_9fa48("1214") ? instance.timedOutAt === null : stryMutAct_9fa48("1213") ? false : (stryCov_9fa48("1213", "1214"), instance.timedOutAt !== null)) || (stryMutAct_9fa48("1216") ? instance.phase !== 'Running' : stryMutAct_9fa48("1215") ? false : (stryCov_9fa48("1215", "1216"), instance.phase === (stryMutAct_9fa48("1217") ? "" : (stryCov_9fa48("1217"), 'Running')))))) return stryMutAct_9fa48("1218") ? {} : (stryCov_9fa48("1218"), {
      vm,
      facts: stryMutAct_9fa48("1219") ? ["Stryker was here"] : (stryCov_9fa48("1219"), [])
    });
    const again = instance.everRunning;
    const asked = stryMutAct_9fa48("1222") ? instance.stop === null : stryMutAct_9fa48("1221") ? false : stryMutAct_9fa48("1220") ? true : (stryCov_9fa48("1220", "1221", "1222"), instance.stop !== null);
    const next: Instance = stryMutAct_9fa48("1223") ? {} : (stryCov_9fa48("1223"), {
      ...instance,
      phase: stryMutAct_9fa48("1224") ? "" : (stryCov_9fa48("1224"), 'Running'),
      since: now,
      everRunning: stryMutAct_9fa48("1225") ? false : (stryCov_9fa48("1225"), true),
      runningSince: stryMutAct_9fa48("1226") ? instance.runningSince && now : (stryCov_9fa48("1226"), instance.runningSince ?? now),
      startDeadlineAt: null,
      nextWakeAt: asked ? instance.nextWakeAt : null
    });
    const recovered = stryMutAct_9fa48("1229") ? vm.startFailure === null : stryMutAct_9fa48("1228") ? false : stryMutAct_9fa48("1227") ? true : (stryCov_9fa48("1227", "1228", "1229"), vm.startFailure !== null);
    return stryMutAct_9fa48("1230") ? {} : (stryCov_9fa48("1230"), {
      vm: stryMutAct_9fa48("1231") ? {} : (stryCov_9fa48("1231"), {
        ...vm,
        instance: next,
        startFailure: null
      }),
      facts: recovered ? stryMutAct_9fa48("1232") ? [] : (stryCov_9fa48("1232"), [note(stryMutAct_9fa48("1233") ? "" : (stryCov_9fa48("1233"), 'VM Recovered'), stryMutAct_9fa48("1234") ? `` : (stryCov_9fa48("1234"), `Running after ${stryMutAct_9fa48("1235") ? vm.startFailure?.consecutiveFailCount && 0 : (stryCov_9fa48("1235"), (stryMutAct_9fa48("1236") ? vm.startFailure.consecutiveFailCount : (stryCov_9fa48("1236"), vm.startFailure?.consecutiveFailCount)) ?? 0)} start failures`))]) : again ? stryMutAct_9fa48("1237") ? ["Stryker was here"] : (stryCov_9fa48("1237"), []) : stryMutAct_9fa48("1238") ? [] : (stryCov_9fa48("1238"), [note(stryMutAct_9fa48("1239") ? "" : (stryCov_9fa48("1239"), 'VM Running'), stryMutAct_9fa48("1240") ? `` : (stryCov_9fa48("1240"), `instance ${instance.instanceId} is Running`))])
    });
  }
}