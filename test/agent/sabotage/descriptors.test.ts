/** The real agent without file descriptors: what it cannot do it says, and it goes on (DESIGN section 3; docs/agent.md). */
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
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

const pid = (): number => scene.machine.state().agent.pid ?? 0;
/** Descriptors have numbers, and the lowest free one is given: below this many none may be opened any more. */
const limit = (below: number | 'none'): void => {
  const soft = below === 'none' ? 4096 : below;
  execFileSync('prlimit', ['--pid', String(pid()), `--nofile=${soft}:`]);
};
/** How often it has been refused a descriptor, as it says itself. */
const refusals = (event: string): number =>
  scene.logLines().filter((line) => line.includes(event) && line.includes('EMFILE')).length;
const neverEnded = (before: number): void => {
  expect([pid(), scene.machine.state().agent.starts]).toEqual([before, 1]);
};
const sleeping = (name: string) => ({
  type: 'exec' as const,
  command: `while [ ! -e ${scene.file(name)} ]; do sleep 0.05; done`,
});

test('an instance that cannot be launched for want of descriptors is LaunchFailed with that reason; the next one runs', async () => {
  await scene.boot();
  await scene.told('1 Idle');
  const before = pid();
  // The fewest that it has open at one time: connections come and go.
  let fewest = openOf(before);
  const reports = scene.plane.reports.length;
  await until('some reports', () => {
    const open = openOf(before);
    if (open.length < fewest.length) fewest = open;
    return scene.plane.reports.length > reports + 4;
  });
  // Two more: for two connections, of which one is still open afterwards, or for a record. A process takes three.
  let below = 0;
  for (let free = 0; free < 2; below += 1) if (!fewest.includes(below)) free += 1;
  limit(below);
  scene.declare({ launch: sleeping('never') });
  scene.wake('list', '0');
  await scene.phases('web', 'a1 Failed LaunchFailed');
  expect(scene.plane.vmReports.at(-1)?.message).toContain('EMFILE');
  limit('none');
  scene.declare({ instanceId: 'a2', launch: sleeping('never') });
  await scene.phases('web', 'a2 Scheduled', 'a2 Running');
  neverEnded(before);
});

test('without any descriptor the agent goes on, kills nothing, and reports what has become of its guests once it can', async () => {
  scene.declare({ launch: sleeping('down') });
  scene.declare({ vmId: 'other', instanceId: 'b1', uid: 'u-2', launch: sleeping('never') });
  await scene.boot();
  await scene.phases('web', 'a1 Running');
  await scene.phases('other', 'b1 Running');
  const before = pid();
  limit(0);
  await until(
    'reports that fail',
    () => refusals('report failed') >= 2,
    () => scene.log(),
  );
  writeFileSync(scene.file('down'), '');
  const failed = refusals('report failed');
  await until(
    'one more',
    () => refusals('report failed') > failed,
    () => scene.log(),
  );
  limit('none');
  await scene.phases('web', 'a1 Running', 'a1 Succeeded GuestShutdown');
  const reports = scene.plane.reports.length;
  await until('its reports', () => scene.plane.reports.length > reports + 2);
  expect(scene.plane.phases('other').at(-1)).toBe('b1 Running');
  neverEnded(before);
});

const openOf = (process: number): number[] => readdirSync(`/proc/${process}/fd`).map(Number);
