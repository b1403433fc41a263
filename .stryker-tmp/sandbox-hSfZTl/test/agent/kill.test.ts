// @ts-nocheck
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
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
const acts = () => state().commands.filter((command) => command !== 'refresh');

describe('an agent that is killed without warning goes on from its record', () => {
  test.each(['prepare', 'activate'])(
    'while %s runs: the outcome is taken, the command is not given again',
    async (command) => {
      await scene.boot({ faults: { offeredVersion: '1.21.0', commandSeconds: 0.5 } });
      await until(command, () => state().commands.includes(command));
      scene.machine.killAgent();
      await scene.told('2 StagedUpdate', '3 PerformedUpdate', '4 RebootedIntoUpdate', '6 Idle');
      expect(acts()).toEqual(['prepare', 'activate', 'reboot']);
      expect(scene.plane.node.crash.count).toBe(0);
    },
  );

  test('while the refresh of a step runs', async () => {
    scene.plane.node.updates = false;
    await scene.boot({ faults: { offeredVersion: '1.21.0', commandSeconds: 0.5 } });
    await scene.told('1 Idle');
    const before = state().commands.length;
    scene.plane.node.updates = true;
    await until('the refresh', () => state().commands.length > before);
    scene.machine.killAgent();
    await scene.told('2 StagedUpdate', '6 Idle');
    expect(acts()).toEqual(['prepare', 'activate', 'reboot']);
  });

  test.each(['prepare', 'activate', 'reboot'])(
    'the moment %s is on record, before or after it was sent',
    async (command) => {
      await scene.boot({ faults: { offeredVersion: '1.21.0' }, agentEnv: { HOLDOFF_REBOOT_AGAIN_AFTER: '1s' } });
      await until(`${command} on record`, () => scene.read('machine/state/node.json').includes(`"name":"${command}"`));
      scene.machine.killAgent();
      await scene.told('2 StagedUpdate', '6 Idle');
      expect(state().version).toBe('1.21.0');
      expect(scene.plane.node.crash.count).toBe(0);
    },
  );

  test.each(['StagedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate'])('with %s reached', async (reached) => {
    await scene.boot({ faults: { offeredVersion: '1.21.0' } });
    await until(reached, () => scene.read('machine/state/node.json').includes(`"state":"${reached}"`));
    scene.machine.killAgent();
    await scene.told('3 PerformedUpdate', '5 MonitoringUpdate', '6 Idle');
    expect(acts()).toEqual(['prepare', 'activate', 'reboot']);
  });

  test('during recovery: the activation is still taken back', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0', refuseReboot: 1, commandSeconds: 0.5 } });
    await until('deactivate', () => state().commands.includes('deactivate'));
    scene.machine.killAgent();
    await scene.told('5 Idle');
    expect(state().disk.nextBootInactive).toBe(false);
  });

  test('a power cut while staging begins the step again', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0', commandSeconds: 0.5 } });
    await until('prepare', () => state().commands.includes('prepare'));
    await scene.machine.reboot();
    await scene.told('2 StagedUpdate', '6 Idle');
    expect(scene.plane.node.crash.count).toBe(0);
    expect(acts().filter((command) => command === 'prepare')).toHaveLength(2);
  });

  test('a power cut with the update activated is a reboot into it', async () => {
    await scene.boot({ faults: { offeredVersion: '1.21.0' } });
    await scene.told('2 StagedUpdate');
    scene.plane.node.held = true;
    await scene.told('3 PerformedUpdate');
    await scene.machine.reboot();
    scene.plane.node.held = false;
    await scene.told('4 RebootedIntoUpdate', '6 Idle');
    expect(acts()).toEqual(['prepare', 'activate']);
  });

  test('a second agent in the same state directory does not start', async () => {
    await scene.boot();
    await scene.told('1 Idle');
    const second = spawnSync(process.execPath, [agent.bundle], {
      encoding: 'utf8',
      env: {
        HOLDOFF_ENDPOINT: scene.plane.url,
        HOLDOFF_REGION: 'eu-west-1',
        HOLDOFF_NODE_ID: 'i-0123456789abcdef0',
        HOLDOFF_STATE_DIR: scene.file('machine/state'),
        HOLDOFF_AGENT_DIR: scene.file('second'),
      },
    });
    expect([second.status, second.stderr]).toEqual([
      1,
      expect.stringContaining(`the agent with pid ${state().agent.pid} is at work`),
    ]);
  });
});

describe('a record that is lost', () => {
  async function loseRecord(how: 'corrupt' | 'gone'): Promise<void> {
    await scene.machine.stopAgent();
    const file = scene.file('machine/state/node.json');
    if (how === 'corrupt') writeFileSync(file, '{"format":1,"gener');
    else rmSync(file);
    scene.machine.startAgent();
  }

  test.each(['corrupt', 'gone'] as const)(
    '%s with an update activated: no generation is named until Idle has been reached',
    async (how) => {
      await scene.boot({ faults: { offeredVersion: '1.21.0' } });
      await scene.told('2 StagedUpdate');
      scene.plane.node.held = true;
      await scene.told('3 PerformedUpdate');
      await loseRecord(how);
      await scene.told('3 PerformedUpdate', '- ErrorReset StateLost');
      // It takes no part in what it does not remember: the deadline ends it.
      expect(acts()).toEqual(['prepare', 'activate']);
      scene.plane.node.updates = false;
      scene.plane.node.passDeadline();
      await scene.told('- ErrorReset StateLost', '4 Idle');
      expect(acts()).toEqual(['prepare', 'activate', 'deactivate']);
      expect(scene.plane.node.crash).toMatchObject({ count: 1, lastReason: 'DeadlinePassed' });
    },
  );

  test('while Idle: it recovers by itself and counts nothing', async () => {
    scene.plane.node.updates = false;
    await scene.boot();
    await scene.told('1 Idle');
    await loseRecord('corrupt');
    await scene.told('1 Idle', '- ErrorReset StateLost', '1 Idle');
    expect(scene.plane.node.crash.count).toBe(0);
  });
});
