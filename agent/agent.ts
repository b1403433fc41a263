/** Wires the agent: one identity, one worker, one reporter, one host of VMs. */
import { join } from 'node:path';
import { createClient } from './api/client.ts';
import { createSigner } from '../client/sign.ts';
import { defaultIdentity } from './api/credentials.ts';
import { createDrainer } from './drain/drainer.ts';
import { createChecker } from './health/checks.ts';
import { AgentError, messageOf } from './failure.ts';
import { HookRuns } from './hook-runs.ts';
import { createHookRunner, readHooks } from './hooks.ts';
import { readProxies } from './http/proxy.ts';
import { Latch } from './latch.ts';
import type { Log } from './log.ts';
import { limitsOf } from './limits.ts';
import { takeLock } from './lock.ts';
import { NetworkTime } from './network-time.ts';
import { createUptime, readBootId } from './node/host-facts.ts';
import { openMemory } from './node/memory.ts';
import { runReporter } from './node/reporter.ts';
import { Worker } from './node/worker.ts';
import type { Environment, Settings } from './settings.ts';
import { createSteadyClock } from './steady-clock.ts';
import { chooseDriver } from './updater/choose.ts';
import { openLockStore } from './updater/version-lock.ts';
import { AGENT_VERSION } from './version.ts';
import { openBootClock } from './boot-clock.ts';
import { VmHost } from './host/vm-host.ts';
import { openInstances } from './host/store.ts';
import { type Wake, watchWakes } from './wake.ts';
import { findZone } from './zone.ts';

/** Runs until the signal is aborted. What was launched goes on running. */
export async function runAgent(settings: Settings, env: Environment, log: Log, ended: AbortSignal): Promise<void> {
  const lock = takeLockSomewhere(settings, log);
  const host = openHost(settings, env, ended);
  const { plane, bootId, time } = host;
  const work = new Latch();
  const reports = new Latch();
  const vms = new VmHost({
    ...settings,
    plane,
    store: openInstances(settings.stateDir, settings.guestsDir),
    env,
    bootId,
    draining: () => worker.draining(),
    changed: () => work.set(),
    reportSoon: () => reports.set(),
    now: openBootClock(),
    random: Math.random,
    log,
    ended,
  });
  const worker: Worker = new Worker({
    ...settings,
    ...host,
    liveVms: () => vms.liveCount(),
    limits: limitsOf(settings),
    random: Math.random,
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
    log('info', 'agent started', { version: AGENT_VERSION, endpoint: settings.endpoint, memory: worker.memory.kind });
    // Whoever lost the record does not know what they were for.
    if (worker.memory.kind === 'lost') await host.hookRuns.endAll();
    vms.start();
    vms.sync();
    wakes.take();
    await Promise.all([
      worker.run(),
      vms.run(),
      runReporter({
        ...settings,
        ...host,
        send: (report) => plane.reportNode(report),
        worker,
        zone: findZone(settings, env, log, ended),
        hostTroubles: () => [time.trouble()].filter((trouble) => trouble !== null),
        now: () => host.clock.now(),
        agentVersion: AGENT_VERSION,
        random: Math.random,
        log,
        ended,
        latch: reports,
        vms: () => vms.report(),
        reported: () => vms.afterNodeReport(),
      }),
    ]);
  } finally {
    lock.release();
  }
  log('info', 'agent ended');
}

/** What the agent reaches the host and the world with. */
function openHost(settings: Settings, env: Environment, ended: AbortSignal) {
  const monotonicMs = (): number => performance.now();
  // Read once: no process lives on into another boot.
  const thisBoot = readBootId(settings.bootIdFile);
  const bootId = (): string => thisBoot;
  const uptime = createUptime(settings.uptimeFile, monotonicMs);
  const store = openMemory(settings.stateDir);
  const known = store.load();
  const source = { bootId, uptime, monotonicMs, wallMs: Date.now };
  const clock = createSteadyClock(source, known.kind === 'kept' ? known.record.clock : null);
  const time = new NetworkTime(monotonicMs, Date.now);
  const wallMs = (): number => time.now();
  const identity = defaultIdentity(env);
  const proxies = readProxies(env);
  const hookEnv = { PATH: env['PATH'], HOLDOFF_NODE_ID: settings.nodeId };
  const hookRuns = new HookRuns({ folder: join(settings.stateDir, 'hook-runs'), env: hookEnv, bootId, uptime, ended });
  const runHook = createHookRunner(readHooks(settings.hooks), hookRuns, hookEnv, ended);
  const endHook = (slot: string): Promise<void> => hookRuns.end(slot);
  const driver = chooseDriver(settings, { env, bootId, uptime, ended });
  const plane = createClient({
    endpoint: settings.endpoint,
    nodeId: settings.nodeId,
    sign: createSigner({ region: settings.region, identity, wallMs }),
    timeoutMs: settings.requestTimeoutMs,
    proxies,
    time,
    ended,
  });
  const reach = { ...settings, identity, env, runHook, endHook, proxies, wallMs, settings: () => driver.settings() };
  return {
    bootId,
    uptime,
    store,
    locks: openLockStore(settings.stateDir),
    clock,
    time,
    plane,
    driver,
    hookRuns,
    drainer: createDrainer(reach),
    checker: createChecker({ runHook, systemctl: settings.systemctl, env: { PATH: env['PATH'] }, ended }),
  };
}

/** On a state folder that is full or read-only the agent still reports: its lock is then beside the wakes, in memory. */
function takeLockSomewhere({ stateDir, agentDir }: Settings, log: Log): { release(): void } {
  try {
    return takeLock(stateDir);
  } catch (error) {
    if (error instanceof AgentError) throw error;
    log('error', 'state folder cannot be written', { why: messageOf(error) });
    return takeLock(agentDir);
  }
}

/** A wake for an older generation than the one on record has been handled: it asks only for the list of VMs. */
function handled({ memory }: Worker, { generation }: Wake): boolean {
  return memory.kind === 'kept' && generation !== null && generation < memory.record.generation;
}
