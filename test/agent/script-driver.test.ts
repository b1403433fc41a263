/** The script driver with real scripts: what it says of them, and what survives the agent. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AgentError } from '../../agent/failure.ts';
import { captureCommand } from '../../agent/hooks.ts';
import type { UpdateDriver } from '../../agent/updater/driver.ts';
import { createScriptDriver } from '../../agent/updater/script/driver.ts';
import {
  freshRecord,
  openScriptStore,
  type ScriptRecord,
  type ScriptStore,
} from '../../agent/updater/script/record.ts';
import { Runs } from '../../agent/runs.ts';
import { readScripts, type Scripts } from '../../agent/updater/script/scripts.ts';
import { alive, until } from './scene.ts';

const END = new AbortController().signal;
const sh = (text: string): string[] => ['/bin/sh', '-c', text];
let dir: string;
let late = 0;
let bootId = 'b1';
const scripts: Scripts = {
  version: sh('echo 1.0'),
  check: sh('echo "${HOLDOFF_VERSION_LOCK:-2.0}"'),
  prepare: sh('echo "fetching $HOLDOFF_VERSION" >&2'),
  activate: sh('true'),
  deactivate: sh('true'),
  reboot: sh('true'),
};

/** A driver as an agent opens it: a second one is the same agent, started again. */
const open = (more: Partial<Scripts> = {}, store: ScriptStore = openScriptStore(dir)): UpdateDriver =>
  createScriptDriver({
    scripts: { ...scripts, ...more },
    store,
    runs: new Runs(join(dir, 'runs'), { PATH: process.env['PATH'], OUT: dir }),
    bootId: () => bootId,
    uptime: () => (performance.now() + late) / 1000,
    wallMs: Date.now,
    timeoutMs: 60_000,
    pause: () => sleep(10),
    ask: (script) => captureCommand(script, { PATH: process.env['PATH'] }, 10_000, END),
  });

async function done(api: UpdateDriver): Promise<Awaited<ReturnType<UpdateDriver['look']>>> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(10)) {
    const view = await api.look();
    if (view.kind !== 'busy') return view;
  }
  throw new Error('the script did not end');
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdoff-script-'));
  late = 0;
  bootId = 'b1';
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the scripts of a host', () => {
  test('take an update as far as its reboot, each command shown with a timestamp of its own', async () => {
    const api = open();
    expect(await api.look()).toEqual({ kind: 'none' });
    expect(await api.version()).toEqual({ version: '1.0' });
    const seen: string[] = [];
    for (const command of ['refresh', 'prepare', 'activate', 'reboot'] as const) {
      expect(await api.command(command)).toEqual({ kind: 'accepted' });
      const view = await done(api);
      expect(view).toMatchObject({ status: { last: { type: command, status: 'Success' } } });
      seen.push(view.kind === 'status' ? `${view.status.state} ${view.status.last?.timestamp ?? ''}` : view.kind);
    }
    expect(seen.map((line) => line.split(' ')[0])).toEqual(['Available', 'Staged', 'Ready', 'Ready']);
    expect(new Set(seen).size).toBe(4);
  });

  test('one at a time: a second command is busy until the first has ended', async () => {
    const api = open({ check: sh(`while [ ! -e "${dir}/go" ]; do sleep 0.02; done`) });
    await api.command('refresh');
    expect(await api.look()).toEqual({ kind: 'busy', message: 'the script check is still running' });
    expect(await api.command('refresh')).toEqual({ kind: 'busy' });
    writeFileSync(join(dir, 'go'), '');
    expect((await done(api)).kind).toBe('status');
  });

  test('a script that fails says how it ended and the last thing it printed', async () => {
    const api = open({ check: sh('echo looking; echo no route to host >&2; exit 4') });
    await api.command('refresh');
    expect(await done(api)).toMatchObject({
      status: { state: 'Idle', last: { status: 'Failed', detail: 'ended with 4: no route to host' } },
    });
  });

  test('a reboot that is refused is refused at once', async () => {
    const api = open({ reboot: sh('echo not now >&2; exit 1') });
    expect(await api.command('reboot')).toEqual({
      kind: 'refused',
      status: 500,
      message: 'the script reboot ended with 1: not now',
    });
  });

  test('a script that cannot be started, or prints no version, is a failure with its reason', async () => {
    const api = open({ check: ['/nowhere/check'], version: sh('true') });
    await api.command('refresh');
    expect(await done(api)).toMatchObject({
      status: { last: { status: 'Failed', detail: expect.stringMatching(/^ended with 127: .*nowhere/) } },
    });
    expect(await api.version()).toEqual({ unavailable: 'the script version printed nothing' });
    expect(await open({ version: ['/nowhere/version'] }).version()).toMatchObject({
      unavailable: expect.stringMatching(/^the script version could not be started/),
    });
  });

  test('over its time a script is killed with all it started', async () => {
    const api = open({ check: sh(`sleep 300 & echo $! > "${dir}/pid"; wait`) });
    await api.command('refresh');
    await until('a pid', () => existsSync(join(dir, 'pid')) && readFileSync(join(dir, 'pid'), 'utf8').endsWith('\n'));
    const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
    late = 61_000;
    expect(await done(api)).toMatchObject({ status: { last: { detail: 'took longer than 60 s and was killed' } } });
    await until('the end of what the script had started', () => !alive(pid));
  });

  test('a lock is what the check is told to offer', async () => {
    const api = open();
    expect(await api.versionLock()).toBe('latest');
    expect(await api.lockVersion('0.9')).toBeNull();
    await api.command('refresh');
    expect(await done(api)).toMatchObject({ status: { state: 'Available', chosen: '0.9' } });
  });

  test('there are no settings to read, and that is said', async () => {
    await expect(open().settings()).rejects.toThrow(/driven by scripts.*exec hook/);
  });
});

describe('an agent that is killed and started again', () => {
  test('takes in what ended without it', async () => {
    await open({ check: sh(`while [ ! -e "${dir}/go" ]; do sleep 0.02; done; echo 2.0`) }).command('refresh');
    writeFileSync(join(dir, 'go'), '');
    expect(await done(open())).toMatchObject({ status: { state: 'Available', chosen: '2.0' } });
  });

  test('does not start anew what still runs', async () => {
    await open({ check: sh(`while [ ! -e "${dir}/go" ]; do sleep 0.02; done`) }).command('refresh');
    const again = open();
    expect(await again.command('refresh')).toEqual({ kind: 'busy' });
    writeFileSync(join(dir, 'go'), '');
    await done(again);
  });

  test('after a boot in between nothing is known to be staged, and a run of the last boot has no result', async () => {
    const before = open();
    for (const command of ['refresh', 'prepare'] as const) {
      await before.command(command);
      await done(before);
    }
    bootId = 'b2';
    expect(await open().look()).toEqual({ kind: 'none' });
    expect(await open().command('activate')).toMatchObject({ kind: 'refused', status: 409 });
  });

  test('a run that was written down and never begun is asked for again, and a shell that comes late does not begin it', async () => {
    const store = openScriptStore(dir);
    const asked = {
      id: 'refresh-1',
      name: 'refresh' as const,
      version: null,
      startedAt: 0,
      since: null,
      process: null,
    };
    store.save({ ...freshRecord('b1', null), runs: 1, running: asked });
    expect(await open().look()).toEqual({ kind: 'none' });
    const late = new Runs(join(dir, 'runs'), { PATH: process.env['PATH'] });
    const claim = join(dir, 'runs/refresh-1.claim');
    expect(existsSync(claim)).toBe(true);
    expect(late.look('refresh-1', null, null)).toMatchObject({ kind: 'ended', failure: 'ended without a result' });
    expect(await open().command('refresh')).toEqual({ kind: 'accepted' });
    expect(await done(open())).toMatchObject({ status: { last: { type: 'refresh', status: 'Success' } } });
  });

  test('finds a script whose start it did not see the end of', async () => {
    const runs = new Runs(join(dir, 'runs'), { PATH: process.env['PATH'] });
    const store = openScriptStore(dir);
    const asked = {
      id: 'refresh-1',
      name: 'refresh' as const,
      version: null,
      startedAt: 0,
      since: null,
      process: null,
    };
    store.save({ ...freshRecord('b1', null), runs: 1, running: asked });
    runs.start('refresh-1', sh(`while [ ! -e "${dir}/go" ]; do sleep 0.02; done; echo 2.0`), {});
    await until('a script', () => existsSync(join(dir, 'runs/refresh-1.pid')));
    expect(await open().look()).toMatchObject({ kind: 'busy' });
    writeFileSync(join(dir, 'go'), '');
    expect(await done(open())).toMatchObject({ status: { state: 'Available', chosen: '2.0' } });
  });

  test.each(['{"format": 9', '{"format": 9}'])(
    'a record that cannot be read (%s) stands for an activation, which is taken back',
    async (text) => {
      writeFileSync(join(dir, 'script-driver.json'), text);
      const api = open();
      expect(await api.look()).toMatchObject({
        status: { state: 'Ready', last: { detail: 'the record of the script driver was lost' } },
      });
      expect(await api.command('deactivate')).toEqual({ kind: 'accepted' });
      expect(await done(open())).toMatchObject({
        status: { state: 'Staged', last: { type: 'deactivate', status: 'Success' } },
      });
    },
  );
});

describe('a script that runs while its record cannot be kept', () => {
  const slow = sh(
    `echo begins >> "$OUT/journal"; while [ ! -e "$OUT/go" ]; do sleep 0.02; done; echo ends >> "$OUT/journal"`,
  );
  const journal = (): string => readFileSync(join(dir, 'journal'), 'utf8');
  const begun = (): Promise<void> => until('a script', () => existsSync(join(dir, 'journal')));

  test('that it began could be written and its process not: it is not begun a second time, nor is its undoing', async () => {
    const disk = openScriptStore(dir);
    disk.save({ ...freshRecord('b1', null), state: 'Ready' });
    let writes = 0;
    const full = {
      load: disk.load,
      save: (record: ScriptRecord): void => {
        writes += 1;
        if (writes === 2) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
        disk.save(record);
      },
    };
    const api = open({ deactivate: slow }, full);
    expect(await api.command('deactivate')).toEqual({ kind: 'accepted' });
    await begun();
    expect(await api.command('deactivate')).toEqual({ kind: 'busy' });
    // The next agent finds it by its claim.
    expect(await open({ deactivate: slow }).look()).toMatchObject({ kind: 'busy' });
    writeFileSync(join(dir, 'go'), '');
    expect(await done(api)).toMatchObject({ status: { state: 'Staged', last: { status: 'Success' } } });
    expect(journal()).toBe('begins\nends\n');
  });

  test.each(['lost', 'gone'])(
    'a record that is %s: what runs is ended first, and nothing runs beside it',
    async (how) => {
      await open({ activate: sh('true') }).command('refresh');
      await done(open());
      expect(await open({ prepare: slow }).command('prepare')).toEqual({ kind: 'accepted' });
      await begun();
      if (how === 'gone') rmSync(join(dir, 'script-driver.json'));
      else writeFileSync(join(dir, 'script-driver.json'), '{"format"');
      const next = open();
      expect((await done(next)).kind).toBe(how === 'gone' ? 'none' : 'status');
      writeFileSync(join(dir, 'go'), '');
      expect(await next.command(how === 'gone' ? 'refresh' : 'deactivate')).toEqual({ kind: 'accepted' });
      await done(next);
      expect(journal()).toBe('begins\n');
    },
  );
});

describe('what a script prints', () => {
  test('may be of any length: the end of it is what is said', async () => {
    const api = open({
      check: sh('head -c 3000000 /dev/zero | tr "\\0" x >&2; echo >&2; echo no space left >&2; exit 1'),
    });
    await api.command('refresh');
    expect(await done(api)).toMatchObject({
      status: { last: { detail: expect.stringMatching(/^ended with 1: no space left$/) } },
    });
  });
});

describe('the list of scripts', () => {
  test.each([
    ['not JSON', '{', /must be JSON with a command for each of version, check, prepare/],
    ['one is missing', JSON.stringify({ ...scripts, reboot: undefined }), /reboot/],
    ['one is not absolute', JSON.stringify({ ...scripts, check: ['check'] }), /absolute path/],
    ['one is unknown', JSON.stringify({ ...scripts, rebot: ['/x'] }), /rebot/],
  ])('is refused when it is wrong: %s', (_what, text, why) => {
    const file = join(dir, 'scripts.json');
    writeFileSync(file, text);
    expect(() => readScripts(file)).toThrow(AgentError);
    expect(() => readScripts(file)).toThrow(why);
  });

  test('is read', () => {
    const file = join(dir, 'scripts.json');
    writeFileSync(file, JSON.stringify(scripts));
    expect(readScripts(file)).toEqual(scripts);
  });
});
