import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bundleAgent, Scene, until } from './scene.ts';

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

const state = () => scene.machine.state();

describe('an update from beginning to end', () => {
  test('stages, activates, reboots, proves the new boot and comes back to Idle', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0' } });
    await scene.told(
      '- Idle',
      '2 StagedUpdate',
      '3 PerformedUpdate',
      '4 RebootedIntoUpdate',
      '5 MonitoringUpdate',
      '6 Idle',
    );
    expect(state()).toMatchObject({ version: '1.21.0', boots: 2 });
    expect(state().commands.filter((command) => command !== 'refresh')).toEqual(['prepare', 'activate', 'reboot']);
    expect(scene.plane.node.crash.count).toBe(0);
    const proof = scene.plane.reports.find((report) => report.state === 'RebootedIntoUpdate');
    expect(proof).toMatchObject({ bootId: state().bootId, currentVersion: '1.21.0' });
    expect(scene.plane.unsigned).toEqual([]);
  });

  test('the first report comes after a refresh and carries what it offers', async () => {
    scene.plane.node.updates = false;
    await scene.boot({ faults: { offeredVersion: '1.21.0' }, group: 'blue' });
    await scene.told('- Idle');
    expect(scene.plane.reports[0]).toMatchObject({
      updateCheck: { result: 'Available', version: '1.21.0' },
      currentVersion: '1.20.5',
      group: 'blue',
    });
  });

  test('a failed refresh is never "up to date"', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0', failRefresh: true } });
    await scene.told('- Idle', '1 Idle');
    expect(scene.plane.reports.map((report) => report.updateCheck.result)).not.toContain('UpToDate');
    expect(scene.plane.reports[0]?.updateCheck.message).toMatch(/^refresh failed: exit status 1: Failed to refresh/);
    expect(scene.plane.story()).not.toContain('2 StagedUpdate');
  });

  test('a node with nothing newer stays Idle', async () => {
    await scene.boot({ faults: { offeredVersion: '1.20.5' } });
    await scene.told('- Idle', '1 Idle');
    expect(scene.plane.reports[0]?.updateCheck).toEqual({ result: 'UpToDate' });
  });

  test('uptime grows with every report of a boot', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0' } });
    await scene.told('6 Idle');
    const { reports } = scene.plane;
    const notLater = reports.filter((report, index) => {
      const before = reports[index - 1];
      return before?.bootId === report.bootId && (report.uptime ?? 0) <= (before.uptime ?? 0);
    });
    expect(notLater).toEqual([]);
  });
});

describe('a step that fails is ErrorReset, undone, then Idle', () => {
  test('a failed activation: nothing is left that a reboot would flip', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0', failActivate: 1 } });
    await scene.told('2 StagedUpdate', '3 ErrorReset ActivateFailed', '4 Idle');
    expect(state().disk.nextBootInactive).toBe(false);
    expect(scene.plane.node.crash).toMatchObject({
      count: 1,
      lastState: 'PerformedUpdate',
      lastReason: 'ActivateFailed',
    });
    // The next attempt begins in Idle, with a refresh of its own.
    await scene.told('5 StagedUpdate', '6 PerformedUpdate', '9 Idle');
    expect(state().version).toBe('1.21.0');
  });

  test('a refused reboot: the activated update is deactivated before Idle is reported', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0', refuseReboot: 1 } });
    await scene.told('3 PerformedUpdate', '4 ErrorReset RebootRefused', '5 Idle');
    expect(scene.plane.node.crash.lastMessage).toMatch(/inhibited/);
    expect(state().commands).toContain('deactivate');
  });

  test('a failed prepare does not activate', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0', failPrepare: true } });
    await scene.told('2 ErrorReset PrepareFailed', '3 Idle');
    expect(state().commands).not.toContain('activate');
  });

  test('booted back into the old version is RolledBack, and that version is not tried again', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0', bootsBack: true } });
    await scene.told('3 PerformedUpdate', '4 ErrorReset RolledBack', '5 Idle');
    expect(state()).toMatchObject({ version: '1.20.5', boots: 2 });
    expect(scene.plane.node.blockedVersions).toEqual(['1.21.0']);
    expect(scene.plane.node.crash).toMatchObject({ count: 1, lastReason: 'RolledBack' });
  });

  test('a command that is accepted and shows nothing is repeated once, then NoProgress', async () => {
    scene.plane.node.updates = false;
    await scene.boot({ faults: { offeredVersion: '1.21.0' } });
    await scene.told('1 Idle');
    scene.machine.setFaults({ noProgress: true });
    const before = state().commands.length;
    scene.plane.node.updates = true;
    await scene.told('2 ErrorReset NoProgress', '3 Idle');
    expect(state().commands.slice(before, before + 2)).toEqual(['refresh', 'refresh']);
  });

  test('a retry refreshes afresh and takes what is offered then', async () => {
    scene.plane.node.updates = false;
    await scene.boot({ faults: { offeredVersion: '1.21.0', failPrepare: 1 } });
    await scene.told('1 Idle');
    const offered = (): unknown => scene.plane.reports.at(-1)?.updateCheck;
    const first = { result: 'Available', version: '1.21.0' };
    scene.plane.node.spec = { state: 'StagedUpdate', version: '1.21.0', generation: 2 };
    await scene.told('2 ErrorReset PrepareFailed', '3 Idle');
    await until(
      'Idle again, with the same offer',
      () => scene.plane.story().at(-1) === '3 Idle' && JSON.stringify(offered()) === JSON.stringify(first),
      () => [scene.plane.story(), offered()],
    );
    scene.machine.setFaults({ offeredVersion: '1.22.0' });
    scene.plane.node.spec = { state: 'StagedUpdate', version: '1.21.0', generation: 4 };
    await scene.told('4 StagedUpdate', '8 Idle');
    // What it looks for by itself between two steps is no command of this one.
    const issued = scene.logLines().flatMap((line) => {
      const { event, command, generation } = JSON.parse(line) as Record<string, unknown>; // the agent logs objects
      return event === 'command' && generation === 4 ? [command] : [];
    });
    expect(issued[0]).toBe('refresh');
    expect(issued).toContain('prepare');
    expect(state().version).toBe('1.22.0');
  });

  test('a drain that is given up gives back what each of its steps had taken, the last first, also after a kill', async () => {
    const hook = (line: string): string[] => ['/bin/sh', '-c', `cd "${scene.dir}"; ${line}`];
    const hooks = {
      first: hook('echo first >> journal'),
      second: hook('echo second >> journal; touch second; echo "job 7 still runs"; exit 1'),
      'undo-first': hook('echo undo first >> journal'),
      'undo-second': hook('echo undo second >> journal'),
    };
    writeFileSync(scene.file('hooks.json'), JSON.stringify(hooks));
    const steps = ['first', 'second'].map((name) => ({ type: 'exec', hook: name, undo: `undo-${name}` }));
    scene.plane.told = { drain: { steps, timeoutSeconds: 3, onTimeout: 'abort' } };
    await scene.boot({
      faults: { offeredVersion: '1.21.0' },
      agentEnv: { HOLDOFF_HOOKS: scene.file('hooks.json'), HOLDOFF_DRAIN_EVERY: '0.1s' },
    });
    await until(
      'the second step',
      () => existsSync(scene.file('second')),
      () => scene.log(),
    );
    scene.plane.node.updates = false;
    scene.machine.killAgent();
    await scene.told('5 Idle');
    // Blocked, or on a slow machine not even asked once more in time: given up all the same.
    expect(scene.plane.story()).toContainEqual(expect.stringMatching(/^4 ErrorReset Drain(?:Blocked|Failed)$/));
    const journal = scene.read('journal').trim().split('\n');
    expect(journal.slice(-2)).toEqual(['undo second', 'undo first']);
    expect(journal.filter((line) => line === 'first')).toHaveLength(1);
  });

  test('a reboot that does not come is asked for twice, then NoProgress, and the update is deactivated', async () => {
    await scene.boot({
      faults: { offeredVersion: '1.21.0', ignoreReboot: 2 },
      agentEnv: { HOLDOFF_REBOOT_AGAIN_AFTER: '0.5s' },
    });
    await scene.told('4 ErrorReset NoProgress', '5 Idle');
    expect(state().commands.filter((command) => command === 'reboot')).toHaveLength(2);
    expect(state().commands).toContain('deactivate');
  });
});

describe('what is no failure', () => {
  test('a busy update API (423) is waited out', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0', busy423: 40 } });
    await scene.told('2 StagedUpdate', '6 Idle');
    expect(scene.plane.node.crash.count).toBe(0);
  });

  test('half a status document is looked at again', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0', garbleStatus: 5 } });
    await scene.told('2 StagedUpdate', '6 Idle');
    expect(scene.plane.node.crash.count).toBe(0);
  });

  test('a control plane that is away, throttles or fails is asked again', async () => {
    scene.plane.failNext = [503, 429, 500];
    await scene.boot({ faults: { offeredVersion: '1.21.0' } });
    await scene.told('2 StagedUpdate');
    scene.plane.down = true;
    await until('the update goes on alone', () => state().commands.includes('activate'));
    scene.plane.down = false;
    await scene.told('3 PerformedUpdate', '6 Idle');
  });
});

describe('what the control plane can get wrong', () => {
  test('ErrorReset as a desired state is an Assertion error in the log, not the end of the agent', async () => {
    scene.plane.desiredOverride = { state: 'ErrorReset', version: null, generation: 9 };
    await scene.boot();
    await until(
      'the assertion is logged',
      () => scene.logLines().some((line) => line.includes('"code":"Assertion"')),
      () => scene.log(),
    );
    scene.plane.desiredOverride = null;
    await scene.told('1 Idle');
    expect(state().agent.starts).toBe(1);
  });

  test('a generation that was handled is not done again, and an older one never', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0' } });
    await scene.told('6 Idle');
    const done = state().commands.filter((command) => command !== 'refresh');
    scene.plane.desiredOverride = { state: 'StagedUpdate', version: '1.21.0', generation: 2 };
    const seen = scene.plane.reports.length;
    await until('three more reports', () => scene.plane.reports.length > seen + 3);
    expect(state().commands.filter((command) => command !== 'refresh')).toEqual(done);
    expect(scene.plane.reports.at(-1)).toMatchObject({ generation: 6, state: 'Idle' });
  });

  test('403 and GenerationAhead are logged and asked again slowly', async () => {
    scene.plane.node.updates = false;
    await scene.boot();
    await scene.told('1 Idle');
    scene.plane.failNext = Array.from({ length: 4 }, () => [403, 409]).flat();
    const refusals = (status: number) =>
      scene
        .logLines()
        .filter((line) => line.includes('"event":"report failed"') && line.includes(`: ${status} Scripted`));
    await until(
      'both are logged',
      () => refusals(403).length > 0 && refusals(409).length > 0,
      () => scene.log(),
    );
    expect(refusals(403)[0]).toMatch(/"level":"error".*"code":"Refused"/);
    const seen = scene.plane.reports.length;
    await until('a report gets through', () => scene.plane.reports.length > seen);
  });
});

describe('wakes', () => {
  test('a wake brings a report at once, and its file is taken away', async () => {
    scene.plane.reportEverySeconds = 3600;
    scene.plane.node.updates = false;
    await scene.boot();
    await scene.told('1 Idle');
    const seen = scene.plane.reports.length;
    scene.wake('w1', '1');
    await until('a report', () => scene.plane.reports.length > seen);
    expect(existsSync(scene.file('machine/agent/wake/w1'))).toBe(false);
  });

  test('a wake for a generation that was handled brings no report', async () => {
    scene.plane.reportEverySeconds = 3600;
    await scene.boot({ faults: { offeredVersion: '1.21.0' } });
    await scene.told('6 Idle');
    await until('the check of the new boot', () => scene.plane.reports.at(-1)?.updateCheck.result === 'UpToDate');
    const seen = scene.plane.reports.length;
    scene.wake('old', '3');
    await until('the wake is taken', () => scene.logLines().some((line) => line.includes('"wakeId":"old"')));
    scene.wake('new', '6');
    await until('a report', () => scene.plane.reports.length > seen);
    expect(scene.plane.reports.length).toBe(seen + 1);
  });

  test('a lost wake heals with the next report', async () => {
    scene.plane.node.updates = false;
    await scene.boot({ faults: { offeredVersion: '1.21.0' } });
    await scene.told('1 Idle');
    scene.plane.node.updates = true;
    await scene.told('2 StagedUpdate');
  });

  test('the machine tells the SSM stand-in where its agent is', async () => {
    await scene.boot({ managedDir: scene.file('managed') });
    const managed: unknown = JSON.parse(readFileSync(scene.file('managed/i-0123456789abcdef0.json'), 'utf8'));
    expect(managed).toEqual({ env: { HOLDOFF_AGENT_DIR: scene.file('machine/agent') }, online: true });
  });
});
