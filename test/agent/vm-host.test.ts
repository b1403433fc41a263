/** The VM half of the agent against a scripted control plane and a scripted virsh: what only an unlucky moment shows. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openBootClock } from '../../agent/boot-clock.ts';
import type { ControlPlane } from '../../agent/api/client.ts';
import { RefusedError } from '../../agent/failure.ts';
import { accepted, type Instance, recovered } from '../../agent/host/instance.ts';
import { VmHost, type VmHostOptions } from '../../agent/host/vm-host.ts';
import { openInstances } from '../../agent/host/store.ts';
import type { VmReport } from '../../core/contract/agent-bodies.ts';
import type { HostVm } from '../../core/contract/agent-answers.ts';
import { until } from './scene.ts';

const bootClockMs = openBootClock();
const LAUNCH = {
  api: '1.0',
  vmId: 'web',
  uid: 'u1',
  instanceId: 'i1',
  launchRevision: 1,
  launch: { type: 'libvirt', domain: 'web' } as const,
  simulateCrash: false,
  graceSeconds: 0,
  startDeadlineSeconds: 300,
};
const ITEM: HostVm = { vmId: 'web', uid: 'u1', power: 'on', instanceId: 'i1', launchRevision: 1 };
type Answer = { power: 'on' | 'off'; instanceId: string };

let dir: string;
let ending: AbortController;
let reports: VmReport[];
let items: HostVm[];
let answer: (report: VmReport) => Answer;
let draining: boolean;
let boot: string;

const path = (name: string): string => join(dir, name);
const calls = (): string[] => (existsSync(path('calls')) ? readFileSync(path('calls'), 'utf8').trim().split('\n') : []);
const said = (): string[] =>
  reports.map(({ instanceId, phase, cause }) => `${instanceId} ${phase} ${cause ?? ''}`.trim());

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdoff-host-'));
  mkdirSync(path('state'));
  // A domain that is on or off; `destroy` fails as often as there are lines in `broken`.
  writeFileSync(
    path('virsh'),
    `#!/bin/sh
cd "${dir}"
case "$3" in event) exec sleep 600;; esac
shift 3
echo "$1" >> calls
case "$1" in
  domstate) if [ -e on ]; then echo "running (booted)"; else echo "shut off (destroyed)"; fi;;
  domid) if [ -e on ]; then echo 7; else echo -; fi;;
  start) touch on;;
  destroy) if [ -e broken ]; then rm broken; echo "error: connection reset" >&2; exit 1; fi; rm -f on;;
esac
`,
  );
  chmodSync(path('virsh'), 0o755);
  ending = new AbortController();
  reports = [];
  items = [];
  answer = ({ instanceId }) => ({ power: 'on', instanceId });
  draining = false;
  boot = 'b1';
});
afterEach(async () => {
  ending.abort();
  // What was just being asked may still write.
  for (let tries = 0; existsSync(dir); tries += 1) {
    try {
      rmSync(dir, { recursive: true, force: true });
    } catch (error) {
      if (tries === 20) throw error;
      await sleep(50);
    }
  }
});

function open(
  more: Partial<ControlPlane> = {},
  other: Partial<VmHostOptions> = {},
): { host: VmHost; done: Promise<void> } {
  const plane: ControlPlane = {
    reportNode: () => Promise.reject(new Error('not asked here')),
    hostVms: () => Promise.resolve(items),
    launch: () => Promise.resolve(LAUNCH),
    reportVm: (_vmId, report) => {
      reports.push(report);
      return Promise.resolve({ api: '1.0', desired: answer(report) });
    },
    ...more,
  };
  const host = new VmHost({
    plane,
    store: openInstances(path('state'), path('guests')),
    rules: { allowExec: true, qemu: null, libvirt: { uri: 'test:///', virsh: path('virsh'), domains: ['*'] } },
    settleMs: 50,
    slowRetryMs: 200,
    env: { PATH: process.env['PATH'] },
    bootId: () => boot,
    draining: () => draining,
    changed: () => undefined,
    reportSoon: () => undefined,
    now: bootClockMs,
    random: Math.random,
    log: () => undefined,
    ended: ending.signal,
    ...other,
  });
  host.start();
  host.sync();
  // What `agent.ts` does when the agent ends.
  ending.signal.addEventListener('abort', () => {
    host.sync();
    host.nudge();
  });
  return { host, done: host.run() };
}

const here = () => ({ now: bootClockMs(), bootId: boot });
const keep = (instance: Instance): void => openInstances(path('state'), path('guests')).save(instance);

describe('a libvirt domain', () => {
  test('whose launch was interrupted is not started by the next agent: nobody knows whether it is wanted still', async () => {
    keep({
      ...accepted(LAUNCH, here()),
      launchingAt: bootClockMs(),
      told: { scheduled: true, running: false, end: false },
    });
    open();
    await until('its end', () => said().includes('i1 Failed LaunchFailed'), said);
    expect(calls()).not.toContain('start');
  });

  test('of another boot of its host is lost with it: HostLost, and nobody knows how long it ran', async () => {
    const launched = { ...accepted(LAUNCH, here()), launchingAt: bootClockMs(), runningAt: bootClockMs() };
    keep({ ...launched, told: { scheduled: true, running: true, end: false } });
    boot = 'b2';
    open();
    await until('its end', () => said().includes('i1 Failed HostLost'), said);
    expect(reports.at(-1)).not.toHaveProperty('ranSeconds');
    expect(calls()).not.toContain('start');
  });

  test('that an agent finds running is taken over, whoever had begun it', async () => {
    keep({
      ...accepted(LAUNCH, here()),
      launchingAt: bootClockMs(),
      told: { scheduled: true, running: false, end: false },
    });
    writeFileSync(path('on'), '');
    open();
    await until('Running', () => said().includes('i1 Running'), said);
    expect(calls()).not.toContain('start');
  });

  test('whose destruction fails is destroyed again', async () => {
    items = [ITEM];
    const { host } = open();
    await until('Running', () => said().includes('i1 Running'), said);
    writeFileSync(path('broken'), '');
    answer = ({ instanceId }) => ({ power: 'off', instanceId });
    items = [{ ...ITEM, power: 'off', graceSeconds: 0 }];
    host.sync();
    await until('its end', () => said().some((line) => /^i1 (Failed|Succeeded) Requested$/.test(line)), said);
    expect(calls().filter((call) => call === 'destroy').length).toBeGreaterThan(1);
  });
});

test('a launch that arrives when the host has begun to drain is said to have ended for the update, and nothing is started', async () => {
  items = [ITEM];
  open({
    launch: () => {
      draining = true;
      return Promise.resolve(LAUNCH);
    },
  });
  await until('its end', () => said().some((line) => line.endsWith('HostMaintenance')), said);
  expect(calls()).not.toContain('start');
});

describe('a state disk that is full', () => {
  /** A host whose records cannot be written while `full`; what it logs of that. */
  function onFullDisk(command: string[]): { full: boolean; lines: string[]; host: VmHost } {
    const store = openInstances(path('state'), path('guests'));
    const disk = { full: false, lines: [] as string[] };
    const save = (instance: Instance): void => {
      if (disk.full) throw new Error('no space left on device');
      store.save(instance);
    };
    const { host } = open(
      { launch: () => Promise.resolve({ ...LAUNCH, launch: { type: 'exec', command } as const }) },
      {
        store: { ...store, save },
        log: (_level, event, detail) => {
          if (event === 'record not written') disk.lines.push(String(detail?.['why']));
        },
      },
    );
    return Object.assign(disk, { host });
  }

  test('an end that cannot be written is told, written once it can be, and logged once', async () => {
    items = [ITEM];
    const disk = onFullDisk(['/bin/sh', '-c', `while [ ! -e ${path('go')} ]; do sleep 0.05; done; exit 3`]);
    await until('Running', () => said().includes('i1 Running'), said);
    disk.full = true;
    writeFileSync(path('go'), '');
    await until('its end', () => said().includes('i1 Failed Killed'), said);
    expect(disk.lines).toEqual(['no space left on device']);
    disk.full = false;
    await until('the record', () =>
      readFileSync(path('state/instances/web@i1/instance.json'), 'utf8').includes('exit code 3'),
    );
  });

  test('a guest is stopped all the same', async () => {
    items = [ITEM];
    const disk = onFullDisk(['sleep', '300']);
    await until('Running', () => said().includes('i1 Running'), said);
    disk.full = true;
    items = [{ ...ITEM, power: 'off', graceSeconds: 5 }];
    disk.host.sync();
    await until('its end', () => said().includes('i1 Succeeded Requested'), said);
  });

  test('nothing is begun of which there would be no record: that is a start failure, with the reason', async () => {
    const disk = onFullDisk(['sleep', '300']);
    disk.full = true;
    items = [ITEM];
    disk.host.sync();
    await until('its end', () => said().includes('i1 Failed LaunchFailed'), said);
    expect(reports.at(-1)?.message).toBe('its record cannot be written: no space left on device');
  });
});

test('an end that a list does not know yet is told once with each list, and asks for no list itself', async () => {
  items = [ITEM];
  let lists = 0;
  const { host } = open({
    hostVms: () => {
      lists += 1;
      return Promise.resolve(items);
    },
    launch: () => {
      draining = true;
      return Promise.resolve(LAUNCH);
    },
  });
  const ends = (): number => said().filter((line) => line.endsWith('HostMaintenance')).length;
  // Once by itself, and once for the list that is asked for then.
  await until('the end, told again', () => ends() === 2, said);
  for (const more of [3, 4]) {
    const before = lists;
    host.sync();
    await until('another', () => ends() === more, said);
    expect(lists).toBe(before + 1);
  }
});

test('an instance whose VM is not declared any more is left alone, and its end is told once and done with', async () => {
  const known = { ...accepted(LAUNCH, here()), launchingAt: bootClockMs(), runningAt: bootClockMs() };
  keep({ ...known, domain: { name: 'web', life: { id: '7', bootId: 'b1' } } });
  writeFileSync(path('on'), '');
  answer = () => {
    throw new RefusedError(404, 'VmNotFound', 'there is no such VM');
  };
  const { host } = open();
  await until('its report', () => said().includes('i1 Running'), said);
  host.sync();
  expect([existsSync(path('on')), calls().includes('destroy')]).toEqual([true, false]);
  rmSync(path('on'));
  host.nudge();
  const ends = (): number => said().filter((line) => line.startsWith('i1 Failed')).length;
  const told = (): boolean =>
    readFileSync(path('state/instances/web@i1/instance.json'), 'utf8').includes(
      '"told":{"scheduled":true,"running":true,"end":true}',
    );
  await until('its end, answered', () => told() || ends() > 1, said);
  expect([told(), ends()]).toEqual([true, 1]);
});

describe('an instance that nobody here knows, of a VM that is to have another', () => {
  const orphan = (): void => {
    keep({
      ...recovered({ vmId: 'web', instanceId: 'x9' }, 'libvirt', here()),
      domain: { name: 'web', life: { id: '7', bootId: 'b1' } },
    });
    writeFileSync(path('on'), '');
    items = [ITEM];
  };

  test('is asked about, lives on when it is adopted, and the other is not launched', async () => {
    orphan();
    const { host } = open();
    const asked = (): number => said().filter((line) => line === 'x9 Running').length;
    await until('its report', () => asked() > 0, said);
    const more = asked() + 2;
    while (asked() < more) {
      host.sync();
      const now = asked();
      await until('another report', () => asked() > now, said);
    }
    expect(said().filter((line) => !line.startsWith('x9 '))).toEqual([]);
    expect(calls()).not.toContain('destroy');
    expect(existsSync(path('on'))).toBe(true);
  });

  test('is ended when the answer says so, and then the other is launched', async () => {
    orphan();
    answer = ({ instanceId }) => ({ power: instanceId === 'i1' ? 'on' : 'off', instanceId });
    open();
    await until('the other', () => said().includes('i1 Running'), said);
    expect(said().findIndex((line) => line.startsWith('x9 ') && line.endsWith('Requested'))).toBeGreaterThanOrEqual(0);
  });
});
