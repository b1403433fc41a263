/** The installer in a folder that stands for the host, with the programs it calls replaced where they would touch this one. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readScripts } from '../../agent/updater/script/scripts.ts';

const script = resolve(import.meta.dirname, '../../agent/distribution/install.sh');
let dir: string;
const path = (name: string): string => join(dir, name);
const host = (name: string): string => readFileSync(path(`host/${name}`), 'utf8');
const calls = (): string[] => (existsSync(path('calls')) ? readFileSync(path('calls'), 'utf8').trim().split('\n') : []);

function program(name: string, text: string): void {
  writeFileSync(path(`bin/${name}`), `#!/bin/sh\n${text}\n`);
  chmodSync(path(`bin/${name}`), 0o755);
}

function install(env: Record<string, string> = {}): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync('/bin/sh', [script], {
    encoding: 'utf8',
    env: {
      PATH: `${path('bin')}:/usr/bin:/bin`,
      HOLDOFF_INSTALL_ROOT: path('host'),
      HOLDOFF_SETTLE_SECONDS: '0',
      HOLDOFF_SOURCE: `file://${path('agent.mjs')}`,
      HOLDOFF_SHA256: createHash('sha256').update('the agent').digest('hex'),
      HOLDOFF_ENDPOINT: 'https://api.example.com',
      HOLDOFF_GROUP: 'web',
      ...env,
    },
  });
  return { status, out: stdout, err: stderr };
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdoff-install-'));
  mkdirSync(path('bin'));
  writeFileSync(path('agent.mjs'), 'the agent');
  program(
    'systemctl',
    `echo "$*" >> "${path('calls')}"; if [ "$1" = is-active ] && [ -e "${path('dead')}" ]; then exit 3; fi`,
  );
  program('journalctl', 'echo "holdoff-agent: --endpoint must be an http or https URL"');
  program('node', `exec "${process.execPath}" "$@"`);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('a host with scripts', () => {
  test.each(['amazon-linux-2023', 'ubuntu'])('gets the example %s, which the agent can read', (name) => {
    expect(install({ HOLDOFF_DRIVER: 'script', HOLDOFF_SCRIPTS: name }).status).toBe(0);
    expect(host('etc/holdoff/managed.env')).toContain(
      'HOLDOFF_DRIVER=script\nHOLDOFF_SCRIPTS=/opt/holdoff/scripts.json\n',
    );
    expect(host('opt/holdoff/host.sh')).toBe(
      readFileSync(resolve(import.meta.dirname, `../../agent/distribution/hosts/${name}.sh`), 'utf8'),
    );
    expect(readScripts(path('host/opt/holdoff/scripts.json')).prepare).toEqual(['/opt/holdoff/host.sh', 'prepare']);
  });

  test('keeps scripts of its own', () => {
    mkdirSync(path('host/etc/holdoff'), { recursive: true });
    writeFileSync(path('host/etc/holdoff/scripts.json'), '{}');
    expect(install({ HOLDOFF_DRIVER: 'script', HOLDOFF_SCRIPTS: '/etc/holdoff/scripts.json' }).status).toBe(0);
    expect(host('etc/holdoff/managed.env')).toContain('HOLDOFF_SCRIPTS=/etc/holdoff/scripts.json\n');
    expect(existsSync(path('host/opt/holdoff/host.sh'))).toBe(false);
  });

  test.each([
    [{ HOLDOFF_DRIVER: 'script' }, 'HOLDOFF_SCRIPTS says which'],
    [{ HOLDOFF_DRIVER: 'apt' }, 'must be bottlerocket or script, not apt'],
    [{ HOLDOFF_DRIVER: 'script', HOLDOFF_SCRIPTS: 'debian' }, 'must be amazon-linux-2023, ubuntu, or an absolute path'],
    [{ HOLDOFF_DRIVER: 'script', HOLDOFF_SCRIPTS: '/nowhere.json' }, 'there is no file /nowhere.json'],
  ])('is refused with %j before anything changes', (env, words) => {
    const { status, err } = install(env);
    expect(status).toBe(1);
    expect(err).toContain(words);
    expect(existsSync(path('host/opt/holdoff/agent.mjs'))).toBe(false);
  });
});

describe('the installer', () => {
  test('puts bundle, settings and unit in their places, and starts the service', () => {
    const { status, out, err } = install();
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(
      /wrote \/opt\/holdoff\/agent\.mjs\n[^]*the agent runs \(SHA-256 [0-9a-f]{64}\); it enrols with its first report/,
    );
    expect(host('opt/holdoff/agent.mjs')).toBe('the agent');
    expect(host('etc/holdoff/managed.env')).toBe('HOLDOFF_ENDPOINT=https://api.example.com\nHOLDOFF_GROUP=web\n');
    expect(host('etc/systemd/system/holdoff-agent.service')).toMatch(/KillMode=process/);
    expect(calls()).toEqual([
      'daemon-reload',
      'enable --quiet holdoff-agent.service',
      'restart holdoff-agent.service',
      'is-active --quiet holdoff-agent.service',
    ]);
    expect(readdirSync(path('host/opt/holdoff'))).toEqual(['agent.mjs']);
  });

  test('run again it changes nothing and restarts nothing', () => {
    install();
    rmSync(path('calls'));
    const { out } = install();
    expect(out).not.toContain('wrote');
    expect(calls()).toContain('start holdoff-agent.service');
    expect(calls()).not.toContain('restart holdoff-agent.service');
  });

  test('cut short before the restart, it restarts when it is run again', () => {
    program('systemctl', `echo "$*" >> "${path('calls')}"; exit 1`);
    expect(install().status).not.toBe(0);
    program('systemctl', `echo "$*" >> "${path('calls')}"`);
    rmSync(path('calls'));
    expect(install()).toMatchObject({ status: 0, err: '' });
    expect(calls()).toContain('restart holdoff-agent.service');
    expect(readdirSync(path('host/opt/holdoff'))).toEqual(['agent.mjs']);
  });

  test("never touches the owner's own settings", () => {
    mkdirSync(path('host/etc/holdoff'), { recursive: true });
    writeFileSync(path('host/etc/holdoff/agent.env'), 'HOLDOFF_DRIVER=script\n');
    install({ HOLDOFF_GROUP: 'db' });
    expect(host('etc/holdoff/agent.env')).toBe('HOLDOFF_DRIVER=script\n');
    expect(host('etc/holdoff/managed.env')).toContain('HOLDOFF_GROUP=db');
  });

  test.each([
    [
      'a bundle that is not what was promised',
      { HOLDOFF_SHA256: 'f'.repeat(64) },
      /has the SHA-256 [0-9a-f]{64} where f{64} was promised; nothing was changed/,
    ],
    [
      'a source that is not there',
      { HOLDOFF_SOURCE: 'file:///nowhere/agent.mjs' },
      /could not be read; nothing was changed/,
    ],
    ['a source of another kind', { HOLDOFF_SOURCE: 'http://example.com/a.mjs' }, /must begin with https/],
    ['an order with a shell in it', { HOLDOFF_ENDPOINT: 'https://x/$(reboot)' }, /characters that do not belong there/],
    ['a line break in an order', { HOLDOFF_GROUP: 'web\nHOLDOFF_ALLOW_EXEC=1' }, /characters that do not belong there/],
    ['no endpoint', { HOLDOFF_ENDPOINT: '' }, /HOLDOFF_ENDPOINT, the address of the control plane, is not given/],
    ['no unit file', { HOLDOFF_UNIT: '/nowhere/unit' }, /there is no unit file/],
  ])('%s is refused by name, and what runs goes on', (_what, env, why) => {
    install();
    const before = ['opt/holdoff/agent.mjs', 'etc/holdoff/managed.env'].map(host);
    rmSync(path('calls'));
    const { status, err } = install(env);
    expect(status).not.toBe(0);
    expect(err).toMatch(why);
    expect(['opt/holdoff/agent.mjs', 'etc/holdoff/managed.env'].map(host)).toEqual(before);
    expect(readdirSync(path('host/opt/holdoff'))).toEqual(['agent.mjs']);
    expect(calls()).toEqual([]);
  });

  test('a Node that is too old is refused with its version', () => {
    program('node', 'if [ "$1" = --version ]; then echo v18.20.0; else exit 1; fi');
    expect(install()).toMatchObject({
      status: 1,
      err: 'Holdoff: Node.js 20.19 or later is needed; this host has v18.20.0\n',
    });
  });

  test('an agent that ends at once fails the installation with its own words', () => {
    writeFileSync(path('dead'), '');
    const { status, err } = install();
    expect(status).toBe(1);
    expect(err).toMatch(/--endpoint must be an http or https URL\nHoldoff: the agent was installed and does not run/);
  });
});
