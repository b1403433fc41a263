import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportWaitMs, retryWaitMs } from '../../agent/backoff.ts';
import { createUptime } from '../../agent/node/host-facts.ts';
import { helpText, readSettings } from '../../agent/settings.ts';
import { bundleAgent } from './scene.ts';

const base = {
  HOLDOFF_ENDPOINT: 'https://api.example.com/',
  HOLDOFF_REGION: 'eu-west-1',
  HOLDOFF_NODE_ID: 'i-0123456789abcdef0',
};
let folder: string;
let agent: ReturnType<typeof bundleAgent>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdoff-settings-'));
  agent = bundleAgent();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  agent.remove();
});

describe('settings', () => {
  test('come from the environment, with defaults for the rest', () => {
    expect(readSettings([], base)).toMatchObject({
      endpoint: 'https://api.example.com',
      updateSocket: '/run/api.sock',
      bootIdFile: '/proc/sys/kernel/random/boot_id',
      rules: { allowExec: false, qemu: null, libvirt: null },
      group: null,
      refreshEveryMs: 900_000,
    });
  });
  test('a flag wins over the environment; the Region may be AWS_REGION', () => {
    const { HOLDOFF_REGION: _region, ...rest } = base;
    expect(
      readSettings(['--group', 'blue', '--allow-exec'], { ...rest, AWS_REGION: 'us-gov-west-1', HOLDOFF_GROUP: 'red' }),
    ).toMatchObject({
      group: 'blue',
      rules: { allowExec: true },
      region: 'us-gov-west-1',
    });
  });
  test('a node id and a Region that are not given are to be found out', () => {
    expect(readSettings([], { HOLDOFF_ENDPOINT: base.HOLDOFF_ENDPOINT })).toMatchObject({ nodeId: null, region: null });
  });
  test('a host opts in to hypervisors by naming them', () => {
    const hypervisors = {
      HOLDOFF_QEMU: '/usr/bin/qemu-system-x86_64',
      HOLDOFF_QEMU_DIRS: '/srv/images, /srv/more',
      HOLDOFF_LIBVIRT: 'qemu:///system',
      HOLDOFF_LIBVIRT_DOMAINS: 'web-*,db',
    };
    expect(readSettings([], { ...base, ...hypervisors })).toMatchObject({
      rules: {
        qemu: { program: '/usr/bin/qemu-system-x86_64', dirs: ['/srv/images', '/srv/more'] },
        libvirt: { uri: 'qemu:///system', virsh: 'virsh', domains: ['web-*', 'db'] },
      },
    });
  });
  test.each([
    ['a driver nobody knows', { HOLDOFF_DRIVER: 'yum' }, /--driver \(HOLDOFF_DRIVER\) must be bottlerocket or script/],
    [
      'a script driver without scripts',
      { HOLDOFF_DRIVER: 'script' },
      /--scripts .* must be given with --driver script/,
    ],
    ['a missing endpoint', { HOLDOFF_ENDPOINT: undefined }, /--endpoint \(HOLDOFF_ENDPOINT\) must be given/],
    ['an endpoint that is no URL', { HOLDOFF_ENDPOINT: 'api' }, /must be an http or https URL/],
    ['a node id that SSM would not give', { HOLDOFF_NODE_ID: 'node-1' }, /i- with 8 or 17/],
    ['a duration without a unit', { HOLDOFF_SETTLE: '300' }, /--settle .* must be a duration/],
    ['a QEMU that is looked for on a path', { HOLDOFF_QEMU: 'qemu' }, /--qemu .* must be an absolute path/],
    ['a directory that is not absolute', { HOLDOFF_QEMU_DIRS: 'images' }, /--qemu-dirs .* must be absolute/],
    ['a switch that is neither on nor off', { HOLDOFF_ALLOW_EXEC: 'maybe' }, /--allow-exec/],
  ])('%s is refused by name', (_what, change, message) => {
    expect(() => readSettings([], { ...base, ...change })).toThrow(message);
  });
  test('every setting is in the help', () => {
    for (const name of ['HOLDOFF_ENDPOINT', 'HOLDOFF_STATE_DIR', 'HOLDOFF_ALLOW_EXEC', 'KillMode=process'])
      expect(helpText()).toContain(name);
  });
  test('the program says what is wrong and exits 2; --help exits 0', () => {
    const wrong = spawnSync(process.execPath, [agent.bundle, '--node-id', 'x'], { env: {}, encoding: 'utf8' });
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('--endpoint')]);
    const help = spawnSync(process.execPath, [agent.bundle, '--help'], { env: {}, encoding: 'utf8' });
    expect([help.status, help.stdout]).toEqual([0, helpText()]);
  });
});

describe('waits', () => {
  test('between tries double up to a minute, half of each drawn', () => {
    expect([1, 2, 3, 7, 50].map((n) => [retryWaitMs(n, 0), retryWaitMs(n, 1)])).toEqual([
      [500, 1000],
      [1000, 2000],
      [2000, 4000],
      [30_000, 60_000],
      [30_000, 60_000],
    ]);
  });
  test('between reports are what we are told, ± 10 %', () => {
    expect([reportWaitMs(900, 0), reportWaitMs(900, 1)]).toEqual([810_000, 990_000]);
  });
});

test('uptime grows also where the kernel file has not moved', () => {
  const file = join(folder, 'uptime');
  writeFileSync(file, '12.50 40.00\n');
  let clock = 0;
  const uptime = createUptime(file, () => clock);
  const first = uptime();
  const second = uptime();
  clock = 2000;
  expect([first, second, uptime()]).toEqual([12.5, 12.501, 14.5]);
});
