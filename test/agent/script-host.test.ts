/** A host that is updated by its own scripts, with the real agent: the whole way, a failure, and the agent killed in between. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

const root = (): string => join(scene.dir, 'host');
const text = (name: string): string =>
  existsSync(join(root(), name)) ? readFileSync(join(root(), name), 'utf8').trim() : '';
const journal = (): string[] => text('journal').split('\n');

/** Files stand for the host: `running`, `offered`, `staged`, `next`. A script fails while a file `fail-NAME` is there. */
async function boot(more: { command?: string[]; env?: Record<string, string> } = {}): Promise<void> {
  mkdirSync(root());
  writeFileSync(join(root(), 'running'), '1.0');
  writeFileSync(join(root(), 'offered'), '2.0');
  const script = (name: string, body: string): [string, string[]] => {
    const file = join(root(), name);
    writeFileSync(
      file,
      `#!/bin/sh\ncd "${root()}" || exit 9\necho "${name} \${HOLDOFF_VERSION:-}" >> journal\nif [ -e "fail-${name}" ]; then echo "${name} is broken" >&2; exit 7; fi\n${body}\n`,
    );
    chmodSync(file, 0o755);
    return [name, [file]];
  };
  // What a reboot is on this machine: the version activated runs, and the power is cycled.
  const cycle = `require('node:http').request({socketPath:process.argv[2],method:'POST',path:'/test/power-cycle'}).end()`;
  writeFileSync(join(root(), 'cycle.cjs'), cycle);
  const list = Object.fromEntries([
    ['version', ['/bin/cat', join(root(), 'running')]],
    script('check', 'echo "${HOLDOFF_VERSION_LOCK:-$(cat offered)}"'),
    script('prepare', 'while [ -e slow ]; do sleep 0.05; done; echo "$HOLDOFF_VERSION" > staged'),
    script('activate', 'cp staged next'),
    script('deactivate', 'rm -f next'),
    script(
      'reboot',
      `if [ -e next ]; then mv next running; fi\n"${process.execPath}" cycle.cjs "${scene.file('machine/api.sock')}"`,
    ),
  ]);
  writeFileSync(join(root(), 'scripts.json'), JSON.stringify(list));
  await scene.boot({
    ...(more.command === undefined ? {} : { agentCommand: more.command }),
    agentEnv: { HOLDOFF_DRIVER: 'script', HOLDOFF_SCRIPTS: join(root(), 'scripts.json'), ...more.env },
  });
}

describe('a host with scripts', () => {
  test('is prepared, activated, rebooted, proved and Idle again', async () => {
    await boot();
    await scene.told(
      '- Idle',
      '2 StagedUpdate',
      '3 PerformedUpdate',
      '4 RebootedIntoUpdate',
      '5 MonitoringUpdate',
      '6 Idle',
    );
    expect(text('running')).toBe('2.0');
    expect(journal().filter((line) => !line.startsWith('check'))).toEqual([
      'prepare 2.0',
      'activate 2.0',
      'reboot 2.0',
    ]);
    expect(scene.plane.node.crash.count).toBe(0);
    const last = (): unknown => scene.plane.reports.at(-1);
    await until(
      'the next check',
      () => scene.plane.reports.at(-1)?.updateCheck.result === 'UpToDate',
      () => ({ last: last(), log: scene.log() }),
    );
    expect(last()).toMatchObject({ currentVersion: '2.0' });
  });

  test('an activation that fails is ErrorReset with what the script said; then Idle, with nothing left to boot', async () => {
    scene.plane.node.updates = false;
    await boot();
    await scene.told('- Idle');
    writeFileSync(join(root(), 'fail-activate'), '');
    scene.plane.node.updates = true;
    await scene.told('2 StagedUpdate', '3 ErrorReset ActivateFailed', '4 Idle');
    expect(scene.plane.node.crash.lastMessage).toMatch(/^activate failed: ended with 7: activate is broken$/);
    expect(text('next')).toBe('');
    expect(text('running')).toBe('1.0');
  });

  test('killed while a script runs, the agent takes in its end and goes on without a crash', async () => {
    scene.plane.node.updates = false;
    await boot();
    await scene.told('- Idle');
    writeFileSync(join(root(), 'slow'), '');
    scene.plane.node.updates = true;
    await until(
      'the prepare',
      () => journal().includes('prepare 2.0'),
      () => scene.log(),
    );
    scene.machine.killAgent();
    rmSync(join(root(), 'slow'));
    await scene.told('2 StagedUpdate', '6 Idle');
    expect(journal().filter((line) => line === 'prepare 2.0')).toHaveLength(1);
    expect(scene.plane.node.crash.count).toBe(0);
  });

  /** As far as a `prepare` that goes on until the file `slow` is gone. */
  async function preparing(more: Parameters<typeof boot>[0] = {}): Promise<void> {
    scene.plane.node.updates = false;
    await boot(more);
    await scene.told('- Idle');
    writeFileSync(join(root(), 'slow'), '');
    scene.plane.node.updates = true;
    await until(
      'the prepare',
      () => journal().includes('prepare 2.0'),
      () => scene.log(),
    );
  }

  test.each(['{"format":1,"boot', null])(
    'killed while a script runs, and its record lost (%s): the orphan is ended before any other script runs',
    async (left) => {
      await preparing();
      scene.plane.node.updates = false;
      await scene.machine.stopAgent();
      const record = scene.file('machine/state/script-driver.json');
      if (left === null) rmSync(record);
      else writeFileSync(record, left);
      scene.machine.startAgent();
      scene.plane.node.passDeadline();
      await scene.told('3 Idle');
      rmSync(join(root(), 'slow'));
      await until('the next check', () => journal().at(-1)?.startsWith('check') === true && reportsAfter() > 2);
      // It would have written it, had it gone on.
      expect(text('staged')).toBe('');
    },
  );
  const reportsAfter = (): number => scene.plane.reports.filter(({ generation }) => generation === 3).length;

  test.each([12, -12])('a wall clock that jumps by %i h while a script runs ends nothing', async (hours) => {
    const shift = scene.file('shift');
    await preparing({
      command: [process.execPath, '--import', join(import.meta.dirname, 'sabotage/shifted-clock.mjs'), agent.bundle],
      env: { SHIFT_FILE: shift },
    });
    writeFileSync(shift, String(hours * 3_600_000));
    const before = scene.plane.reports.length;
    await until('reports after it', () => scene.plane.reports.length >= before + 4);
    rmSync(join(root(), 'slow'));
    await scene.told('2 StagedUpdate', '6 Idle');
    expect(journal().filter((line) => line === 'prepare 2.0')).toHaveLength(1);
    expect(scene.plane.node.crash.count).toBe(0);
  });
});
