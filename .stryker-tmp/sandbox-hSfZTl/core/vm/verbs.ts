/** start, stop, restart and delete: a level-triggered power intent with a sequence number (DESIGN section 3). */
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
import { refused } from '../fact.ts';
import { vmPolicyOf } from '../policy.ts';
import { after, type Duration, milliseconds } from '../time.ts';
import type { VmContext } from './event.ts';
import { askToEnd, note, startIfDue, type VmStep } from './life.ts';
import { DELETE_PATIENCE, live, type VmRecord } from './record.ts';
type Verb = VmStep | ReturnType<typeof refused>;

/** A person asked: the failure records are cleared (rule 2); `lastFailure` stays as evidence. */
const cleared = stryMutAct_9fa48("1283") ? () => undefined : (stryCov_9fa48("1283"), (() => {
  const cleared = (vm: VmRecord): VmRecord => (stryMutAct_9fa48("1286") ? vm.startFailure === null || vm.unstableRuns === null : stryMutAct_9fa48("1285") ? false : stryMutAct_9fa48("1284") ? true : (stryCov_9fa48("1284", "1285", "1286"), (stryMutAct_9fa48("1288") ? vm.startFailure !== null : stryMutAct_9fa48("1287") ? true : (stryCov_9fa48("1287", "1288"), vm.startFailure === null)) && (stryMutAct_9fa48("1290") ? vm.unstableRuns !== null : stryMutAct_9fa48("1289") ? true : (stryCov_9fa48("1289", "1290"), vm.unstableRuns === null)))) ? vm : stryMutAct_9fa48("1291") ? {} : (stryCov_9fa48("1291"), {
    ...vm,
    startFailure: null,
    unstableRuns: null
  });
  return cleared;
})());
const intend = stryMutAct_9fa48("1292") ? () => undefined : (stryCov_9fa48("1292"), (() => {
  const intend = (vm: VmRecord, on: boolean, verb: NonNullable<VmRecord['lastVerb']>): VmRecord => (stryMutAct_9fa48("1295") ? vm.power.on === on || vm.lastVerb === verb : stryMutAct_9fa48("1294") ? false : stryMutAct_9fa48("1293") ? true : (stryCov_9fa48("1293", "1294", "1295"), (stryMutAct_9fa48("1297") ? vm.power.on !== on : stryMutAct_9fa48("1296") ? true : (stryCov_9fa48("1296", "1297"), vm.power.on === on)) && (stryMutAct_9fa48("1299") ? vm.lastVerb !== verb : stryMutAct_9fa48("1298") ? true : (stryCov_9fa48("1298", "1299"), vm.lastVerb === verb)))) ? vm : stryMutAct_9fa48("1300") ? {} : (stryCov_9fa48("1300"), {
    ...vm,
    power: stryMutAct_9fa48("1301") ? {} : (stryCov_9fa48("1301"), {
      on,
      sequence: stryMutAct_9fa48("1302") ? vm.power.sequence - 1 : (stryCov_9fa48("1302"), vm.power.sequence + 1)
    }),
    lastVerb: verb
  });
  return intend;
})());
const terminating = stryMutAct_9fa48("1303") ? () => undefined : (stryCov_9fa48("1303"), (() => {
  const terminating = (vm: VmRecord): ReturnType<typeof refused> => refused(409, stryMutAct_9fa48("1304") ? "" : (stryCov_9fa48("1304"), 'VmTerminating'), stryMutAct_9fa48("1305") ? `` : (stryCov_9fa48("1305"), `VM ${vm.vmId} is being deleted and cannot be started; declare it again when it is gone`));
  return terminating;
})());
const halted = stryMutAct_9fa48("1306") ? () => undefined : (stryCov_9fa48("1306"), (() => {
  const halted = (vm: VmRecord, verb: string): ReturnType<typeof refused> => refused(409, stryMutAct_9fa48("1307") ? "" : (stryCov_9fa48("1307"), 'VmHalted'), stryMutAct_9fa48("1308") ? `` : (stryCov_9fa48("1308"), `VM ${vm.vmId} has run strategy Halted and cannot be ${verb}; change its runStrategy to Always, RerunOnFailure, Manual or Once first`));
  return halted;
})());

/** Tries now, in back-off too; a live instance that nobody stops stays the one instance. */
export function startVm(vm: VmRecord, context: VmContext): Verb {
  if (stryMutAct_9fa48("1309")) {
    {}
  } else {
    stryCov_9fa48("1309");
    if (stryMutAct_9fa48("1312") ? vm.deleting === null : stryMutAct_9fa48("1311") ? false : stryMutAct_9fa48("1310") ? true : (stryCov_9fa48("1310", "1311", "1312"), vm.deleting !== null)) return terminating(vm);
    if (stryMutAct_9fa48("1315") ? vm.body.runStrategy !== 'Halted' : stryMutAct_9fa48("1314") ? false : stryMutAct_9fa48("1313") ? true : (stryCov_9fa48("1313", "1314", "1315"), vm.body.runStrategy === (stryMutAct_9fa48("1316") ? "" : (stryCov_9fa48("1316"), 'Halted')))) return halted(vm, stryMutAct_9fa48("1317") ? "" : (stryCov_9fa48("1317"), 'started'));
    if (stryMutAct_9fa48("1320") ? vm.body.runStrategy === 'Once' && vm.power.on && vm.instance !== null || !live(vm.instance) : stryMutAct_9fa48("1319") ? false : stryMutAct_9fa48("1318") ? true : (stryCov_9fa48("1318", "1319", "1320"), (stryMutAct_9fa48("1322") ? vm.body.runStrategy === 'Once' && vm.power.on || vm.instance !== null : stryMutAct_9fa48("1321") ? true : (stryCov_9fa48("1321", "1322"), (stryMutAct_9fa48("1324") ? vm.body.runStrategy === 'Once' || vm.power.on : stryMutAct_9fa48("1323") ? true : (stryCov_9fa48("1323", "1324"), (stryMutAct_9fa48("1326") ? vm.body.runStrategy !== 'Once' : stryMutAct_9fa48("1325") ? true : (stryCov_9fa48("1325", "1326"), vm.body.runStrategy === (stryMutAct_9fa48("1327") ? "" : (stryCov_9fa48("1327"), 'Once')))) && vm.power.on)) && (stryMutAct_9fa48("1329") ? vm.instance === null : stryMutAct_9fa48("1328") ? true : (stryCov_9fa48("1328", "1329"), vm.instance !== null)))) && (stryMutAct_9fa48("1330") ? live(vm.instance) : (stryCov_9fa48("1330"), !live(vm.instance))))) {
      if (stryMutAct_9fa48("1331")) {
        {}
      } else {
        stryCov_9fa48("1331");
        return refused(409, stryMutAct_9fa48("1332") ? "" : (stryCov_9fa48("1332"), 'VmRanOnce'), stryMutAct_9fa48("1333") ? `` : (stryCov_9fa48("1333"), `VM ${vm.vmId} has run strategy Once and has had its run (${vm.instance.phase}); stop it explicitly, then start it again, or change its runStrategy`));
      }
    }
    const on = cleared(intend(vm, stryMutAct_9fa48("1334") ? false : (stryCov_9fa48("1334"), true), stryMutAct_9fa48("1335") ? "" : (stryCov_9fa48("1335"), 'start')));
    const runs = stryMutAct_9fa48("1338") ? live(on.instance) && on.instance.stop === null || on.instance.timedOutAt === null : stryMutAct_9fa48("1337") ? false : stryMutAct_9fa48("1336") ? true : (stryCov_9fa48("1336", "1337", "1338"), (stryMutAct_9fa48("1340") ? live(on.instance) || on.instance.stop === null : stryMutAct_9fa48("1339") ? true : (stryCov_9fa48("1339", "1340"), live(on.instance) && (stryMutAct_9fa48("1342") ? on.instance.stop !== null : stryMutAct_9fa48("1341") ? true : (stryCov_9fa48("1341", "1342"), on.instance.stop === null)))) && (stryMutAct_9fa48("1344") ? on.instance.timedOutAt !== null : stryMutAct_9fa48("1343") ? true : (stryCov_9fa48("1343", "1344"), on.instance.timedOutAt === null)));
    const wanted = runs ? on : stryMutAct_9fa48("1345") ? {} : (stryCov_9fa48("1345"), {
      ...on,
      pendingStart: stryMutAct_9fa48("1346") ? {} : (stryCov_9fa48("1346"), {
        notBefore: context.now
      })
    });
    const step = startIfDue(wanted, context);
    return stryMutAct_9fa48("1347") ? {} : (stryCov_9fa48("1347"), {
      vm: step.vm,
      facts: (stryMutAct_9fa48("1350") ? on === vm || step.facts.length === 0 : stryMutAct_9fa48("1349") ? false : stryMutAct_9fa48("1348") ? true : (stryCov_9fa48("1348", "1349", "1350"), (stryMutAct_9fa48("1352") ? on !== vm : stryMutAct_9fa48("1351") ? true : (stryCov_9fa48("1351", "1352"), on === vm)) && (stryMutAct_9fa48("1354") ? step.facts.length !== 0 : stryMutAct_9fa48("1353") ? true : (stryCov_9fa48("1353", "1354"), step.facts.length === 0)))) ? stryMutAct_9fa48("1355") ? ["Stryker was here"] : (stryCov_9fa48("1355"), []) : stryMutAct_9fa48("1356") ? [] : (stryCov_9fa48("1356"), [note(stryMutAct_9fa48("1357") ? "" : (stryCov_9fa48("1357"), 'VM Start Requested'), stryMutAct_9fa48("1358") ? "" : (stryCov_9fa48("1358"), 'started by an operator')), ...step.facts])
    });
  }
}

/** Works in every state, under every strategy, with or without an instance, twice; never ends in a restart (rule 4). */
export function stopVm(vm: VmRecord, grace: Duration | null, context: VmContext): Verb {
  if (stryMutAct_9fa48("1359")) {
    {}
  } else {
    stryCov_9fa48("1359");
    const off = cleared(intend(vm, stryMutAct_9fa48("1360") ? true : (stryCov_9fa48("1360"), false), stryMutAct_9fa48("1361") ? "" : (stryCov_9fa48("1361"), 'stop')));
    const idle = (stryMutAct_9fa48("1364") ? off.pendingStart !== null : stryMutAct_9fa48("1363") ? false : stryMutAct_9fa48("1362") ? true : (stryCov_9fa48("1362", "1363", "1364"), off.pendingStart === null)) ? off : stryMutAct_9fa48("1365") ? {} : (stryCov_9fa48("1365"), {
      ...off,
      pendingStart: null
    });
    const ended = askToEnd(idle, stryMutAct_9fa48("1366") ? grace && vmPolicyOf(vm.body).grace : (stryCov_9fa48("1366"), grace ?? vmPolicyOf(vm.body).grace), context.now);
    return stryMutAct_9fa48("1367") ? {} : (stryCov_9fa48("1367"), {
      vm: ended.vm,
      facts: (stryMutAct_9fa48("1370") ? ended.vm !== vm : stryMutAct_9fa48("1369") ? false : stryMutAct_9fa48("1368") ? true : (stryCov_9fa48("1368", "1369", "1370"), ended.vm === vm)) ? stryMutAct_9fa48("1371") ? ["Stryker was here"] : (stryCov_9fa48("1371"), []) : stryMutAct_9fa48("1372") ? [] : (stryCov_9fa48("1372"), [note(stryMutAct_9fa48("1373") ? "" : (stryCov_9fa48("1373"), 'VM Stop Requested'), stryMutAct_9fa48("1374") ? "" : (stryCov_9fa48("1374"), 'stopped by an operator')), ...ended.facts])
    });
  }
}
export function restartVm(vm: VmRecord, context: VmContext): Verb {
  if (stryMutAct_9fa48("1375")) {
    {}
  } else {
    stryCov_9fa48("1375");
    if (stryMutAct_9fa48("1378") ? vm.deleting === null : stryMutAct_9fa48("1377") ? false : stryMutAct_9fa48("1376") ? true : (stryCov_9fa48("1376", "1377", "1378"), vm.deleting !== null)) return terminating(vm);
    if (stryMutAct_9fa48("1381") ? vm.body.runStrategy !== 'Halted' : stryMutAct_9fa48("1380") ? false : stryMutAct_9fa48("1379") ? true : (stryCov_9fa48("1379", "1380", "1381"), vm.body.runStrategy === (stryMutAct_9fa48("1382") ? "" : (stryCov_9fa48("1382"), 'Halted')))) return halted(vm, stryMutAct_9fa48("1383") ? "" : (stryCov_9fa48("1383"), 'restarted'));
    if (stryMutAct_9fa48("1386") ? vm.body.runStrategy !== 'Once' : stryMutAct_9fa48("1385") ? false : stryMutAct_9fa48("1384") ? true : (stryCov_9fa48("1384", "1385", "1386"), vm.body.runStrategy === (stryMutAct_9fa48("1387") ? "" : (stryCov_9fa48("1387"), 'Once')))) {
      if (stryMutAct_9fa48("1388")) {
        {}
      } else {
        stryCov_9fa48("1388");
        return refused(409, stryMutAct_9fa48("1389") ? "" : (stryCov_9fa48("1389"), 'VmRunsOnce'), stryMutAct_9fa48("1390") ? `` : (stryCov_9fa48("1390"), `VM ${vm.vmId} has run strategy Once and is not restarted; stop it, then start it, or change its runStrategy`));
      }
    }
    const stopping = stryMutAct_9fa48("1393") ? live(vm.instance) && vm.instance.stop !== null || vm.lastVerb === 'restart' : stryMutAct_9fa48("1392") ? false : stryMutAct_9fa48("1391") ? true : (stryCov_9fa48("1391", "1392", "1393"), (stryMutAct_9fa48("1395") ? live(vm.instance) || vm.instance.stop !== null : stryMutAct_9fa48("1394") ? true : (stryCov_9fa48("1394", "1395"), live(vm.instance) && (stryMutAct_9fa48("1397") ? vm.instance.stop === null : stryMutAct_9fa48("1396") ? true : (stryCov_9fa48("1396", "1397"), vm.instance.stop !== null)))) && (stryMutAct_9fa48("1399") ? vm.lastVerb !== 'restart' : stryMutAct_9fa48("1398") ? true : (stryCov_9fa48("1398", "1399"), vm.lastVerb === (stryMutAct_9fa48("1400") ? "" : (stryCov_9fa48("1400"), 'restart')))));
    if (stryMutAct_9fa48("1403") ? stopping || vm.power.on : stryMutAct_9fa48("1402") ? false : stryMutAct_9fa48("1401") ? true : (stryCov_9fa48("1401", "1402", "1403"), stopping && vm.power.on)) return stryMutAct_9fa48("1404") ? {} : (stryCov_9fa48("1404"), {
      vm,
      facts: stryMutAct_9fa48("1405") ? ["Stryker was here"] : (stryCov_9fa48("1405"), [])
    });
    const on: VmRecord = stryMutAct_9fa48("1406") ? {} : (stryCov_9fa48("1406"), {
      ...cleared(vm),
      power: stryMutAct_9fa48("1407") ? {} : (stryCov_9fa48("1407"), {
        on: stryMutAct_9fa48("1408") ? false : (stryCov_9fa48("1408"), true),
        sequence: stryMutAct_9fa48("1409") ? vm.power.sequence - 1 : (stryCov_9fa48("1409"), vm.power.sequence + 1)
      }),
      lastVerb: stryMutAct_9fa48("1410") ? "" : (stryCov_9fa48("1410"), 'restart'),
      pendingStart: stryMutAct_9fa48("1411") ? {} : (stryCov_9fa48("1411"), {
        notBefore: context.now
      }),
      restartCount: stryMutAct_9fa48("1412") ? vm.restartCount - (vm.instance === null ? 0 : 1) : (stryCov_9fa48("1412"), vm.restartCount + ((stryMutAct_9fa48("1415") ? vm.instance !== null : stryMutAct_9fa48("1414") ? false : stryMutAct_9fa48("1413") ? true : (stryCov_9fa48("1413", "1414", "1415"), vm.instance === null)) ? 0 : 1))
    });
    const ended = askToEnd(on, vmPolicyOf(vm.body).grace, context.now);
    const step = startIfDue(ended.vm, context);
    return stryMutAct_9fa48("1416") ? {} : (stryCov_9fa48("1416"), {
      vm: step.vm,
      facts: stryMutAct_9fa48("1417") ? [] : (stryCov_9fa48("1417"), [note(stryMutAct_9fa48("1418") ? "" : (stryCov_9fa48("1418"), 'VM Restart Requested'), stryMutAct_9fa48("1419") ? "" : (stryCov_9fa48("1419"), 'restarted by an operator')), ...ended.facts, ...step.facts])
    });
  }
}

/** Accepted in every state; the record goes once the instance is known ended, or at once with `force` (rule 8). */
export function deleteVm(vm: VmRecord, force: boolean, context: VmContext): Verb {
  if (stryMutAct_9fa48("1420")) {
    {}
  } else {
    stryCov_9fa48("1420");
    const {
      now
    } = context;
    const {
      grace
    } = vmPolicyOf(vm.body);
    const off: VmRecord = stryMutAct_9fa48("1421") ? {} : (stryCov_9fa48("1421"), {
      ...cleared(intend(vm, stryMutAct_9fa48("1422") ? true : (stryCov_9fa48("1422"), false), stryMutAct_9fa48("1423") ? "" : (stryCov_9fa48("1423"), 'stop'))),
      pendingStart: null
    });
    const deleting = stryMutAct_9fa48("1424") ? vm.deleting && {
      at: now,
      deadlineAt: after(now, milliseconds(grace + DELETE_PATIENCE))
    } : (stryCov_9fa48("1424"), vm.deleting ?? (stryMutAct_9fa48("1425") ? {} : (stryCov_9fa48("1425"), {
      at: now,
      deadlineAt: after(now, milliseconds(stryMutAct_9fa48("1426") ? grace - DELETE_PATIENCE : (stryCov_9fa48("1426"), grace + DELETE_PATIENCE)))
    })));
    const ended = askToEnd(stryMutAct_9fa48("1427") ? {} : (stryCov_9fa48("1427"), {
      ...off,
      deleting
    }), grace, now);
    const asked = (stryMutAct_9fa48("1430") ? vm.deleting !== null : stryMutAct_9fa48("1429") ? false : stryMutAct_9fa48("1428") ? true : (stryCov_9fa48("1428", "1429", "1430"), vm.deleting === null)) ? stryMutAct_9fa48("1431") ? [] : (stryCov_9fa48("1431"), [note(stryMutAct_9fa48("1432") ? "" : (stryCov_9fa48("1432"), 'VM Delete Requested'), force ? stryMutAct_9fa48("1433") ? "" : (stryCov_9fa48("1433"), 'deleted by force: an instance may still run on its host') : stryMutAct_9fa48("1434") ? "" : (stryCov_9fa48("1434"), 'deleted by an operator'))]) : stryMutAct_9fa48("1435") ? ["Stryker was here"] : (stryCov_9fa48("1435"), []);
    if (stryMutAct_9fa48("1438") ? false : stryMutAct_9fa48("1437") ? true : stryMutAct_9fa48("1436") ? force : (stryCov_9fa48("1436", "1437", "1438"), !force)) return stryMutAct_9fa48("1439") ? {} : (stryCov_9fa48("1439"), {
      vm: (stryMutAct_9fa48("1442") ? vm.deleting !== null : stryMutAct_9fa48("1441") ? false : stryMutAct_9fa48("1440") ? true : (stryCov_9fa48("1440", "1441", "1442"), vm.deleting === null)) ? ended.vm : vm,
      facts: (stryMutAct_9fa48("1445") ? vm.deleting !== null : stryMutAct_9fa48("1444") ? false : stryMutAct_9fa48("1443") ? true : (stryCov_9fa48("1443", "1444", "1445"), vm.deleting === null)) ? stryMutAct_9fa48("1446") ? [] : (stryCov_9fa48("1446"), [...asked, ...ended.facts]) : stryMutAct_9fa48("1447") ? ["Stryker was here"] : (stryCov_9fa48("1447"), [])
    });
    const {
      instance
    } = ended.vm;
    const dropped = (stryMutAct_9fa48("1450") ? instance === null && !live(instance) : stryMutAct_9fa48("1449") ? false : stryMutAct_9fa48("1448") ? true : (stryCov_9fa48("1448", "1449", "1450"), (stryMutAct_9fa48("1452") ? instance !== null : stryMutAct_9fa48("1451") ? false : (stryCov_9fa48("1451", "1452"), instance === null)) || (stryMutAct_9fa48("1453") ? live(instance) : (stryCov_9fa48("1453"), !live(instance))))) ? ended.vm : stryMutAct_9fa48("1454") ? {} : (stryCov_9fa48("1454"), {
      ...ended.vm,
      instance: stryMutAct_9fa48("1455") ? {} : (stryCov_9fa48("1455"), {
        ...instance,
        phase: 'Failed' as const,
        cause: 'Requested' as const,
        nextWakeAt: null
      })
    });
    return stryMutAct_9fa48("1456") ? {} : (stryCov_9fa48("1456"), {
      vm: dropped,
      facts: stryMutAct_9fa48("1457") ? [] : (stryCov_9fa48("1457"), [...asked, ...ended.facts])
    });
  }
}