/** The real agent, hindered at the turning points of an update: told too late, unheard, its clock moved, its record lost. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { MachineOptions } from '../../../local/machine/machine.ts';
import { bundleAgent, Scene, until } from '../scene.ts';

let agent: ReturnType<typeof bundleAgent>;
let scene: Scene;
beforeAll(() => {
  agent = bundleAgent();
});
afterAll(() => agent.remove());
beforeEach(() => {
  scene = new Scene(agent.bundle);
});
afterEach(() => scene.close());

const acts = () => scene.machine.state().commands.filter((command) => command !== 'refresh');
const boot = (options: Partial<MachineOptions> = {}): Promise<void> =>
  scene.boot({ ...options, faults: { offeredVersion: '1.21.0', ...options.faults } });
const moreReports = async (): Promise<void> => {
  const before = scene.plane.reports.length;
  await until('reports', () => scene.plane.reports.length >= before + 3);
};

describe('a reboot that is heard of too late', () => {
  test('is not begun, drain included; told anew in time, it is done', async () => {
    const hooks = { drain: script('drain', 'touch drained'), undrain: script('undrain', 'rm -f drained') };
    writeFileSync(scene.file('hooks.json'), JSON.stringify(hooks));
    const drain = {
      steps: [{ type: 'exec', hook: 'drain', undo: 'undrain' }],
      timeoutSeconds: 60,
      onTimeout: 'abort',
    };
    scene.plane.told = { drain, beginWithinSeconds: 0 };
    await boot({ agentEnv: { HOLDOFF_HOOKS: scene.file('hooks.json'), HOLDOFF_DRAIN_EVERY: '0.1s' } });
    await until(
      'what was not begun',
      () => scene.plane.reports.at(-1)?.notBegun === true,
      () => scene.log(),
    );
    await moreReports();
    expect(scene.plane.reports.at(-1)).toMatchObject({ generation: 4, state: 'PerformedUpdate', notBegun: true });
    expect([acts(), existsSync(scene.file('drained'))]).toEqual([['prepare', 'activate'], false]);
    scene.plane.told = { drain, beginWithinSeconds: 120 };
    await scene.told('4 PerformedUpdate', '4 RebootedIntoUpdate', '6 Idle');
    expect(scene.plane.node.crash.count).toBe(0);
  });

  test('withdrawn instead, it is taken back and counts nothing', async () => {
    scene.plane.told = { beginWithinSeconds: 0 };
    await boot();
    await until(
      'what was not begun',
      () => scene.plane.reports.at(-1)?.notBegun === true,
      () => scene.log(),
    );
    scene.plane.node.updates = false;
    scene.plane.node.spec = { state: 'Idle', version: null, generation: 5 };
    await scene.told('4 PerformedUpdate', '5 Idle');
    expect(acts()).toEqual(['prepare', 'activate', 'deactivate']);
    expect(scene.plane.node.crash.count).toBe(0);
  });
});

test('a report at the end of the soak time that is lost is sent again soon, not at the pace of reports', async () => {
  scene.plane.node.soaks = true;
  scene.plane.told = { soakSeconds: 1 };
  // Turning points are told at once; the next report by itself would come in an hour.
  scene.plane.reportEverySeconds = 3600;
  let [watched, lost] = [0, 0];
  scene.plane.loses = ({ state }) => {
    if (state !== 'MonitoringUpdate') return false;
    watched += 1;
    if (watched !== 2) return false;
    scene.plane.node.soaks = false;
    lost += 1;
    return true;
  };
  await boot();
  await scene.told('5 MonitoringUpdate', '6 Idle');
  expect(lost).toBe(1);
});

test.each([12, -12])('a wall clock that jumps by %i h in the middle of a refresh fails nothing', async (hours) => {
  scene.plane.node.updates = false;
  await boot({
    faults: { commandSeconds: 0.5 },
    agentCommand: [process.execPath, '--import', join(import.meta.dirname, 'shifted-clock.mjs'), agent.bundle],
    agentEnv: { SHIFT_FILE: scene.file('shift'), HOLDOFF_NO_PROGRESS_AFTER: '30s' },
  });
  await scene.told('1 Idle');
  const before = scene.machine.state().commands.length;
  scene.plane.node.updates = true;
  await until('the refresh of a step', () => scene.machine.state().commands.length > before);
  writeFileSync(scene.file('shift'), String(hours * 3_600_000));
  await scene.told('2 StagedUpdate', '6 Idle');
  expect(acts()).toEqual(['prepare', 'activate', 'reboot']);
  expect(scene.plane.node.crash.count).toBe(0);
  // And those of a node at rest go on.
  const last = (event: string): number => scene.logLines().findLastIndex((line) => line.includes(event));
  await until(
    'the next check',
    () => last('"event":"update check"') > last('"event":"state reached"'),
    () => scene.log(),
  );
  expect(scene.plane.reports.at(-1)?.updateCheck.result).toBe('UpToDate');
});

test('a record that is lost in the middle of a rollback leaves no version-lock behind', async () => {
  writeFileSync(scene.file('hooks.json'), JSON.stringify({ sick: script('sick', 'exit 1') }));
  const checks = [{ type: 'exec', name: 'sick', hook: 'sick', timeoutSeconds: 5 }];
  scene.plane.told = { monitor: { checks, onFailure: 'rollback', withinSeconds: 2 } };
  // A command that takes its time leaves some to lose the record in.
  await boot({
    faults: { commandSeconds: 0.5 },
    agentEnv: { HOLDOFF_HOOKS: scene.file('hooks.json'), HOLDOFF_NO_PROGRESS_AFTER: '30s' },
  });
  await until(
    'the lock of the rollback',
    () => scene.machine.state().disk.versionLock === '1.20.5',
    () => scene.log(),
  );
  scene.plane.node.updates = false;
  await scene.machine.stopAgent();
  writeFileSync(scene.file('machine/state/node.json'), '{"format":2,"gener');
  scene.machine.startAgent();
  await until(
    'the lock as its owner had it',
    () => scene.machine.state().disk.versionLock === 'latest',
    () => scene.log(),
  );
  await scene.told('- ErrorReset StateLost', `${scene.plane.node.spec.generation} Idle`);
  expect(scene.machine.state().disk.nextBootInactive).toBe(false);
});

function script(name: string, body: string): string[] {
  const file = scene.file(`${name}.sh`);
  writeFileSync(file, `#!/bin/sh\ncd "${scene.dir}"\n${body}\n`);
  chmodSync(file, 0o755);
  return [file];
}
