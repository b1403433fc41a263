/** The VM half of the agent against a scripted control plane and a scripted virsh: what only an unlucky moment shows. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ControlPlane } from '../../agent/api/client.ts';
import { accepted, type Instance, recovered } from '../../agent/host/instance.ts';
import { VmDriver, type VmDriverOptions } from '../../agent/host/driver.ts';
import { openInstances } from '../../agent/host/store.ts';
import type { VmReport } from '../../core/contract/agent-bodies.ts';
import type { HostVm } from '../../core/contract/agent-answers.ts';
import { until } from './scene.ts';

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
  dir = mkdtempSync(join(tmpdir(), 'holdoff-driver-'));
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
afterEach(() => {
  ending.abort();
  rmSync(dir, { recursive: true, force: true });
});

function open(
  more: Partial<ControlPlane> = {},
  other: Partial<VmDriverOptions> = {},
): { driver: VmDriver; done: Promise<void> } {
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
  const driver = new VmDriver({
    plane,
    store: openInstances(path('state')),
    rules: { allowExec: true, qemu: null, libvirt: { uri: 'test:///', virsh: path('virsh'), domains: ['*'] } },
    settleMs: 50,
    slowRetryMs: 200,
    env: { PATH: process.env['PATH'] },
    bootId: () => boot,
    draining: () => draining,
    changed: () => undefined,
    now: Date.now,
    random: Math.random,
    log: () => undefined,
    ended: ending.signal,
    ...other,
  });
  driver.start();
  driver.sync();
  // What `agent.ts` does when the agent ends.
  ending.signal.addEventListener('abort', () => {
    driver.sync();
    driver.nudge();
  });
  return { driver, done: driver.run() };
}

const keep = (instance: Instance): void => openInstances(path('state')).save(instance);

describe('a libvirt domain', () => {
  test('whose launch was interrupted is not started by the next agent: nobody knows whether it is wanted still', async () => {
    keep({
      ...accepted(LAUNCH, Date.now()),
      launchingAt: Date.now(),
      told: { scheduled: true, running: false, end: false },
    });
    boot = 'b2';
    open();
    await until('its end', () => said().includes('i1 Failed LaunchFailed'), said);
    expect(calls()).not.toContain('start');
  });

  test('that an agent finds running is taken over, whoever had begun it', async () => {
    keep({
      ...accepted(LAUNCH, Date.now()),
      launchingAt: Date.now(),
      told: { scheduled: true, running: false, end: false },
    });
    writeFileSync(path('on'), '');
    open();
    await until('Running', () => said().includes('i1 Running'), said);
    expect(calls()).not.toContain('start');
  });

  test('whose destruction fails is destroyed again', async () => {
    items = [ITEM];
    const { driver } = open();
    await until('Running', () => said().includes('i1 Running'), said);
    writeFileSync(path('broken'), '');
    answer = ({ instanceId }) => ({ power: 'off', instanceId });
    items = [{ ...ITEM, power: 'off', graceSeconds: 0 }];
    driver.sync();
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

test('an end that cannot be written down is written once it can be; meanwhile the log is not flooded', async () => {
  items = [ITEM];
  const command = ['/bin/sh', '-c', `while [ ! -e ${path('go')} ]; do sleep 0.05; done; exit 3`];
  const store = openInstances(path('state'));
  let full = false;
  const failures: string[] = [];
  open(
    { launch: () => Promise.resolve({ ...LAUNCH, launch: { type: 'exec', command } as const }) },
    {
      store: {
        ...store,
        save: (instance) => {
          if (full) throw new Error('no space left on device');
          store.save(instance);
        },
      },
      log: (_level, event, detail) => {
        if (event === 'vm clock failed')
          failures.push(`${String(detail?.['why'])}, again in ${String(detail?.['nextTryMs'])} ms`);
      },
    },
  );
  await until('Running', () => said().includes('i1 Running'), said);
  full = true;
  const since = Date.now();
  writeFileSync(path('go'), '');
  await until(
    'the third failure',
    () => failures.length >= 3,
    () => failures,
  );
  // A second passes between two of them.
  expect(failures.length).toBeLessThan(2 + (Date.now() - since) / 900);
  expect(new Set(failures)).toEqual(new Set(['no space left on device, again in 1000 ms']));
  expect(said()).not.toContain('i1 Failed Killed');
  full = false;
  await until('its end', () => said().includes('i1 Failed Killed'), said);
});

test('an end that a list does not know yet is told once with each list, and asks for no list itself', async () => {
  items = [ITEM];
  let lists = 0;
  const { driver } = open({
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
    driver.sync();
    await until('another', () => ends() === more, said);
    expect(lists).toBe(before + 1);
  }
});

describe('an instance that nobody here knows, of a VM that is to have another', () => {
  const orphan = (): void => {
    keep({
      ...recovered({ vmId: 'web', instanceId: 'x9' }, 'libvirt', Date.now()),
      domain: { name: 'web', life: { id: '7', bootId: 'b1' } },
    });
    writeFileSync(path('on'), '');
    items = [ITEM];
  };

  test('is asked about, lives on when it is adopted, and the other is not launched', async () => {
    orphan();
    const { driver } = open();
    const asked = (): number => said().filter((line) => line === 'x9 Running').length;
    await until('its report', () => asked() > 0, said);
    const more = asked() + 2;
    while (asked() < more) {
      driver.sync();
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
