/**
 * The examples for hosts that are not Bottlerocket, end to end with the real agent in a root of their own: dnf, apt-get, rpm
 * and systemctl are stand-ins that write down what they were asked.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
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

const EXAMPLES = resolve(import.meta.dirname, '../../agent/distribution/hosts');
const host = (...parts: string[]): string => join(scene.dir, 'host', ...parts);
const journal = (): string[] => readFileSync(host('journal'), 'utf8').trim().split('\n');

const HOSTS = {
  'amazon-linux-2023.sh': {
    from: '2023.5.20240101',
    to: '2023.6.20250115',
    asked: [
      '--releasever=2023.6.20250115 distro-sync --downloadonly',
      '--cacheonly --releasever=2023.6.20250115 distro-sync',
    ],
  },
  'ubuntu.sh': {
    from: '20240101T000000Z',
    to: '20250115T000000Z',
    asked: ['--snapshot 20250115T000000Z update', '--download-only dist-upgrade', '--no-download dist-upgrade'],
  },
} as const;

function standIn(name: string, body: string): void {
  writeFileSync(host('bin', name), `#!/bin/sh\necho "${name} $*" >> "${host('journal')}"\n${body}\n`);
  chmodSync(host('bin', name), 0o755);
}

/** A reboot is a power cycle of the machine; a stand-in fails while the file `fail-NAME` is there. */
async function boot(example: keyof typeof HOSTS): Promise<void> {
  const { from, to } = HOSTS[example];
  for (const folder of ['bin', 'etc/holdoff']) mkdirSync(host(folder), { recursive: true });
  const fails = (name: string): string =>
    `[ ! -e "${host(`fail-${name}`)}" ] || { echo "${name}: no mirror" >&2; exit 1; }`;
  standIn('rpm', `echo ${from}`);
  standIn(
    'dnf',
    `${fails('dnf')}\ncase "$*" in *check-release-update*) echo "  Run the following: dnf upgrade --releasever=${to}" ;; esac`,
  );
  standIn('apt-get', fails('apt-get'));
  const cycle = `require('node:http').request({socketPath:process.argv[2],method:'POST',path:'/test/power-cycle'}).end()`;
  writeFileSync(host('cycle.cjs'), cycle);
  standIn('systemctl', `"${process.execPath}" "${host('cycle.cjs')}" "${scene.file('machine/api.sock')}"`);
  if (example === 'ubuntu.sh') {
    writeFileSync(host('etc/holdoff/running-snapshot'), from);
    writeFileSync(host('etc/holdoff/offered-snapshot'), to);
  }
  const run = (word: string): [string, string[]] => [
    word,
    [
      '/usr/bin/env',
      `HOLDOFF_HOST_ROOT=${host()}`,
      `PATH=${host('bin')}:${process.env['PATH'] ?? ''}`,
      join(EXAMPLES, example),
      word,
    ],
  ];
  const scripts = Object.fromEntries(['version', 'check', 'prepare', 'activate', 'deactivate', 'reboot'].map(run));
  writeFileSync(host('scripts.json'), JSON.stringify(scripts));
  await scene.boot({ agentEnv: { HOLDOFF_DRIVER: 'script', HOLDOFF_SCRIPTS: host('scripts.json') } });
}

describe.each(['amazon-linux-2023.sh', 'ubuntu.sh'] as const)('%s', (example) => {
  const { from, to, asked } = HOSTS[example];

  test('goes to the pinned version with one reboot, and replaces no package before it', async () => {
    await boot(example);
    scene.plane.node.held = true;
    await scene.told('- Idle', '2 StagedUpdate', '3 PerformedUpdate');
    expect(journal().some((line) => line.includes(asked.at(-1) ?? ''))).toBe(false);
    scene.plane.node.held = false;
    await scene.told('4 RebootedIntoUpdate', '5 MonitoringUpdate', '6 Idle');
    expect(scene.plane.reports.at(0)?.currentVersion).toBe(from);
    expect(scene.plane.reports.at(-1)?.currentVersion).toBe(to);
    for (const words of asked) expect(journal().filter((line) => line.includes(words))).toHaveLength(1);
    expect(scene.machine.state().boots).toBe(2);
    expect(scene.plane.node.crash.count).toBe(0);
  });

  test('that cannot replace its packages refuses the reboot, takes the activation back and says why', async () => {
    await boot(example);
    scene.plane.node.held = true;
    await scene.told('3 PerformedUpdate');
    writeFileSync(host(example === 'ubuntu.sh' ? 'fail-apt-get' : 'fail-dnf'), '');
    scene.plane.node.updates = false;
    scene.plane.node.held = false;
    await scene.told('4 ErrorReset RebootRefused', '5 Idle');
    expect(scene.plane.node.crash.lastMessage).toContain('no mirror');
    expect(existsSync(host('var/lib/holdoff-host/pending'))).toBe(false);
    expect(scene.machine.state().boots).toBe(1);
  });
});

test('a check that cannot ask is a failed check, never "nothing newer"', async () => {
  await boot('amazon-linux-2023.sh');
  await scene.told('2 StagedUpdate');
  await scene.close();
  scene = new Scene(agent.bundle);
  mkdirSync(host(), { recursive: true });
  writeFileSync(host('fail-dnf'), '');
  await boot('amazon-linux-2023.sh');
  await until(
    'what is said of it',
    () => scene.plane.reports.at(-1)?.updateCheck.message?.includes('no mirror') === true,
    () => scene.plane.reports.at(-1),
  );
});
