/** Wires the agent: one identity, one worker, one reporter, one VM driver. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from './api/client.ts';
import { createSigner, defaultIdentity } from './api/sign.ts';
import { createDrainer } from './drain/drainer.ts';
import { createChecker } from './health/checks.ts';
import { captureCommand, createHookRunner, readHooks } from './hooks.ts';
import { Latch } from './latch.ts';
import type { Log } from './log.ts';
import { takeLock } from './lock.ts';
import { createUptime, readBootId } from './node/host-facts.ts';
import { openMemory } from './node/memory.ts';
import { runReporter } from './node/reporter.ts';
import { createUpdateApi, type UpdateApi } from './updater/update-api.ts';
import { createWorker, type Worker } from './node/worker.ts';
import { createScriptDriver } from './updater/script/driver.ts';
import { openScriptStore } from './updater/script/record.ts';
import { Runs } from './updater/script/runs.ts';
import { readScripts } from './updater/script/scripts.ts';
import type { Environment, Settings } from './settings.ts';
import { AGENT_VERSION } from './version.ts';
import { VmDriver } from './host/driver.ts';
import { openInstances } from './host/store.ts';
import { type Wake, watchWakes } from './wake.ts';

/** Between tries of a refresh, or of taking back an activation, that failed. */
const RETRY_AFTER_MS = 30_000;

/** Runs until the signal is aborted. What was launched goes on running. */
export async function runAgent(settings: Settings, env: Environment, log: Log, ended: AbortSignal): Promise<void> {
  const lock = takeLock(settings.stateDir, process.pid);
  const now = (): number => Date.now();
  const bootId = (): string => readBootId(settings.bootIdFile);
  const identity = defaultIdentity(env);
  const hookEnv = { PATH: env['PATH'], HOLDOFF_NODE_ID: settings.nodeId };
  const runHook = createHookRunner(readHooks(settings.hooks), hookEnv, ended);
  const api = createDriver(settings, env, bootId, ended);
  const plane = createClient({
    endpoint: settings.endpoint,
    nodeId: settings.nodeId,
    sign: createSigner(settings.region, identity),
    timeoutMs: settings.requestTimeoutMs,
    ended,
  });
  const work = new Latch();
  const reports = new Latch();
  const vms = new VmDriver({
    ...settings,
    plane,
    store: openInstances(settings.stateDir),
    env,
    bootId,
    draining: () => worker.draining(),
    changed: () => work.set(),
    now,
    random: Math.random,
    log,
    ended,
  });
  const worker: Worker = createWorker({
    ...settings,
    api,
    drainer: createDrainer({ ...settings, identity, env, settings: () => api.settings(), runHook }),
    checker: createChecker({ runHook, systemctl: settings.systemctl, env: { PATH: env['PATH'] }, ended }),
    store: openMemory(settings.stateDir),
    bootId,
    liveVms: () => vms.liveCount(),
    limits: {
      deadlinesMs: settings.deadlinesMs,
      noProgressAfterMs: settings.noProgressAfterMs,
      rebootAgainAfterMs: settings.rebootAgainAfterMs,
      retryAfterMs: Math.min(RETRY_AFTER_MS, settings.noProgressAfterMs),
      drainEveryMs: settings.drainEveryMs,
      checkEveryMs: settings.checkEveryMs,
      rollbackMs: rollbackTime(settings),
    },
    now,
    log,
    ended,
    latch: work,
    changed: (reportNow) => {
      if (reportNow) reports.set();
      vms.nudge();
    },
  });
  const onWake = (wake: Wake): void => {
    log('info', 'woken', { wakeId: wake.wakeId, generation: wake.generation });
    vms.sync();
    if (!handled(worker, wake)) reports.set();
  };
  const wakes = watchWakes(settings.agentDir, onWake, log);
  ended.addEventListener('abort', () => {
    wakes.close();
    for (const latch of [work, reports]) latch.set();
    vms.sync();
    vms.nudge();
  });
  try {
    log('info', 'agent started', { version: AGENT_VERSION, endpoint: settings.endpoint, memory: worker.memory().kind });
    vms.start();
    vms.sync();
    wakes.take();
    await Promise.all([
      worker.run(),
      vms.run(),
      runReporter({
        ...settings,
        send: (report) => plane.reportNode(report),
        worker,
        api,
        bootId,
        uptime: createUptime(settings.uptimeFile, () => performance.now()),
        agentVersion: AGENT_VERSION,
        random: Math.random,
        log,
        ended,
        latch: reports,
        reported: () => vms.afterNodeReport(),
      }),
    ]);
  } finally {
    lock.release();
  }
  log('info', 'agent ended');
}

function createDriver(settings: Settings, env: Environment, bootId: () => string, ended: AbortSignal): UpdateApi {
  if (settings.driver === 'bottlerocket') return createUpdateApi(settings.updateSocket, settings.requestTimeoutMs);
  const scriptEnv = { PATH: env['PATH'], HOLDOFF_NODE_ID: settings.nodeId };
  return createScriptDriver({
    scripts: readScripts(settings.scripts),
    store: openScriptStore(settings.stateDir),
    runs: new Runs(join(settings.stateDir, 'script-runs'), scriptEnv),
    bootId,
    now: Date.now,
    timeoutMs: settings.scriptTimeoutMs,
    pause: () => sleep(100),
    ask: (script) => captureCommand(script, scriptEnv, settings.requestTimeoutMs, ended),
  });
}

/** A way back takes the steps of a way there, and as long. */
const rollbackTime = ({ deadlinesMs }: Settings): number =>
  deadlinesMs.StagedUpdate + deadlinesMs.PerformedUpdate + deadlinesMs.RebootedIntoUpdate;

/** A wake for an older generation than the one on record has been handled: it asks only for the list of VMs. */
function handled(worker: Worker, { generation }: Wake): boolean {
  const memory = worker.memory();
  return memory.kind === 'kept' && generation !== null && generation < memory.record.generation;
}
