/** The real agent, sabotaged: killed while its hook runs, its clock moved, its state folder taken away (docs/agent.md). */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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

const DRAIN = {
  steps: [{ type: 'exec', hook: 'drain', undo: 'undrain' }],
  timeoutSeconds: 60,
  onTimeout: 'abort',
};
const acts = () => scene.machine.state().commands.filter((command) => command !== 'refresh');
const journal = (): string[] => scene.read('journal').trim().split('\n');
const progress = (): string => JSON.stringify(scene.plane.reports.at(-1)?.progress ?? '');
const HOURS_12 = 12 * 3_600_000;

/** A drain hook that goes on until the file `go` is there, and then drains; each begin and end is a line of the journal. */
async function boot(more: { command?: string[]; env?: Record<string, string> } = {}): Promise<void> {
  const { dir } = scene;
  const script = (name: string, body: string): string[] => {
    const file = join(dir, `${name}.sh`);
    writeFileSync(
      file,
      `#!/bin/sh\ncd "${dir}"\necho "${name} begins" >> journal\n${body}\necho "${name} ends" >> journal\n`,
    );
    chmodSync(file, 0o755);
    return [file];
  };
  const hooks = {
    drain: script('drain', 'while [ ! -e go ]; do sleep 0.05; done; touch drained'),
    undrain: script('undrain', 'rm -f drained'),
  };
  writeFileSync(join(dir, 'hooks.json'), JSON.stringify(hooks));
  scene.plane.told = { drain: DRAIN };
  await scene.boot({
    faults: { offeredVersion: '1.21.0' },
    ...(more.command === undefined ? {} : { agentCommand: more.command }),
    agentEnv: { HOLDOFF_HOOKS: join(dir, 'hooks.json'), HOLDOFF_DRAIN_EVERY: '0.1s', ...more.env },
  });
}
const draining = (): Promise<void> =>
  until(
    'the drain hook',
    () => scene.read('journal').includes('drain begins'),
    () => scene.log(),
  );
const restarted = (): Promise<void> =>
  until(
    'another agent',
    () => scene.machine.state().agent.starts === 2,
    () => scene.log(),
  );

describe('an agent that is killed while its drain hook runs', () => {
  test('ends the orphan before anything is undone: the node is not drained again by it', async () => {
    await boot();
    await draining();
    scene.plane.node.updates = false;
    scene.machine.killAgent();
    scene.plane.node.passDeadline();
    await scene.told('5 Idle');
    writeFileSync(scene.file('go'), '');
    const before = scene.plane.reports.length;
    await until('three reports more', () => scene.plane.reports.length >= before + 3);
    expect(journal()).toEqual(['drain begins', 'undrain begins', 'undrain ends']);
    expect(existsSync(scene.file('drained'))).toBe(false);
    expect(acts()).toEqual(['prepare', 'activate', 'deactivate']);
  });

  test('waits for the orphan where the drain goes on: it never runs twice', async () => {
    await boot();
    await draining();
    scene.machine.killAgent();
    await restarted();
    await scene.told('3 PerformedUpdate');
    const before = scene.plane.reports.length;
    await until('reports of the next agent', () => scene.plane.reports.length >= before + 3);
    expect(journal()).toEqual(['drain begins']);
    writeFileSync(scene.file('go'), '');
    await scene.told('4 RebootedIntoUpdate', '6 Idle');
    expect(journal()).toEqual(['drain begins', 'drain ends', 'undrain begins', 'undrain ends']);
    expect(scene.plane.node.crash.count).toBe(0);
  });

  test('ends it also where the record is lost', async () => {
    await boot();
    await draining();
    writeFileSync(scene.file('machine/state/node.json'), '{"format":2,"gener');
    scene.machine.killAgent();
    await scene.told('- ErrorReset StateLost');
    writeFileSync(scene.file('go'), '');
    scene.plane.node.updates = false;
    scene.plane.node.passDeadline();
    await scene.told('5 Idle');
    expect(journal()).not.toContain('drain ends');
    expect(existsSync(scene.file('drained'))).toBe(false);
  });
});

describe('a wall clock that is wrong', () => {
  const shifted = (ms: number): void => writeFileSync(scene.file('shift'), String(ms));
  const bootShifted = (): Promise<void> =>
    boot({
      command: [process.execPath, '--import', join(import.meta.dirname, 'shifted-clock.mjs'), agent.bundle],
      env: { SHIFT_FILE: scene.file('shift') },
    });

  test.each([HOURS_12, -HOURS_12])(
    'jumps by %i ms in the middle of a drain: no step fails, nothing is killed',
    async (ms) => {
      await bootShifted();
      await draining();
      shifted(ms);
      const before = scene.plane.reports.length;
      await until('reports after it', () => scene.plane.reports.length >= before + 4);
      expect(journal()).toEqual(['drain begins']);
      writeFileSync(scene.file('go'), '');
      await scene.told('4 RebootedIntoUpdate');
      shifted(0);
      await scene.told('6 Idle');
      expect(journal()).toEqual(['drain begins', 'drain ends', 'undrain begins', 'undrain ends']);
      expect(scene.plane.node.crash.count).toBe(0);
    },
  );

  test('from the start: refused once, signed with the time of the answer, and said', async () => {
    shifted(HOURS_12);
    scene.plane.minutesAllowed = 5;
    scene.plane.node.updates = false;
    await bootShifted();
    await scene.told('1 Idle');
    await until('what is said of it', () => progress().includes('its clock is 12 h ahead'), progress);
    expect(scene.plane.refusedTimes).toBe(1);
    shifted(0);
    await until('nothing said any more', () => progress() === '""', progress);
  });
});

describe('a state folder that cannot be written', () => {
  /** What a full disk does to the record, and heals when it is taken away. */
  const blocker = (): string => scene.file('machine/state/node.json.new');
  /** Between two writes of the record. */
  const block = (): Promise<void> =>
    until('the record to be blocked', () => {
      try {
        mkdirSync(blocker());
        return true;
      } catch {
        // A write is under way: the file of this name is there for a moment.
        return false;
      }
    });

  test('the undo is still tried, the reason is said, and it heals', async () => {
    await boot();
    writeFileSync(scene.file('go'), '');
    scene.plane.told = { drain: { ...DRAIN, steps: [...DRAIN.steps, { type: 'exec', hook: 'missing' }] } };
    scene.plane.node.held = true;
    await scene.told('3 PerformedUpdate');
    await block();
    scene.plane.node.held = false;
    await until('the reason', () => progress().includes('its state cannot be written'), progress);
    // Nothing that it could not remember was begun.
    expect(existsSync(scene.file('journal'))).toBe(false);
    scene.plane.node.updates = false;
    scene.plane.node.passDeadline();
    await scene.told('5 Idle');
    expect(acts()).toEqual(['prepare', 'activate', 'deactivate']);
    rmdirSync(blocker());
    await until('the record', () =>
      readFileSync(scene.file('machine/state/node.json'), 'utf8').includes('"generation":5'),
    );
    await until('nothing said any more', () => progress() === '""', progress);
  });

  test('an agent that restarts there still reports', async () => {
    scene.plane.node.updates = false;
    await boot();
    await scene.told('1 Idle');
    await block();
    scene.machine.killAgent();
    await restarted();
    const before = scene.plane.reports.length;
    await until(
      'its reports',
      () => scene.plane.reports.length >= before + 2,
      () => scene.log(),
    );
  });
});

test('a pin is set, and given back when it goes', async () => {
  scene.plane.node.updates = false;
  scene.plane.told = { pin: '1.20.5' };
  await scene.boot({ faults: { offeredVersion: '1.21.0' } });
  await until(
    'the lock',
    () => scene.machine.state().disk.versionLock === '1.20.5',
    () => scene.log(),
  );
  scene.machine.killAgent();
  scene.plane.told = {};
  await until(
    'no lock',
    () => scene.machine.state().disk.versionLock === 'latest',
    () => scene.log(),
  );
});
