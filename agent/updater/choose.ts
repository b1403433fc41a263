/** The driver that this host's settings name. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { captureCommand } from '../hooks.ts';
import { Runs } from '../runs.ts';
import type { Environment, Settings } from '../settings.ts';
import { createBottlerocketDriver } from './bottlerocket.ts';
import type { UpdateDriver } from './driver.ts';
import { createScriptDriver } from './script/driver.ts';
import { openScriptStore } from './script/record.ts';
import { readScripts } from './script/scripts.ts';

export type DriverSource = {
  readonly env: Environment;
  readonly bootId: () => string;
  /** Seconds since that boot. */
  readonly uptime: () => number;
  readonly ended: AbortSignal;
};

export function chooseDriver(settings: Settings, { env, bootId, uptime, ended }: DriverSource): UpdateDriver {
  if (settings.driver === 'bottlerocket') {
    return createBottlerocketDriver(settings.updateSocket, settings.requestTimeoutMs);
  }
  const scriptEnv = { PATH: env['PATH'], HOLDOFF_NODE_ID: settings.nodeId };
  return createScriptDriver({
    scripts: readScripts(settings.scripts),
    store: openScriptStore(settings.stateDir),
    runs: new Runs(join(settings.stateDir, 'script-runs'), scriptEnv),
    bootId,
    uptime,
    wallMs: Date.now,
    timeoutMs: settings.scriptTimeoutMs,
    pause: () => sleep(100),
    ask: (script, how) =>
      captureCommand(script, { ...scriptEnv, ...how?.env }, how?.timeoutMs ?? settings.requestTimeoutMs, ended),
  });
}
