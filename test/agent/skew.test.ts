/** The real agent beside a control plane that answers more than it knows. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
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

test('a newer control plane, whose answers have fields this agent does not know, drives it through an update and a VM', async () => {
  scene.plane.newer = { api: '1.1', maintenanceWindow: { opens: 'soon' }, hints: ['unknown'] };
  await scene.boot({ faults: { offeredVersion: '1.21.0' } });
  await scene.told('2 StagedUpdate', '3 PerformedUpdate', '4 RebootedIntoUpdate', '5 MonitoringUpdate', '6 Idle');
  scene.declare({ launch: { type: 'exec', command: ['/bin/sleep', '300'] } });
  scene.wake('w-1', '6');
  await scene.phases('web', 'a1 Scheduled', 'a1 Running');
  expect(scene.plane.node.crash.count).toBe(0);
});

test('a state that this agent does not know is not obeyed, and it goes on reporting', async () => {
  scene.plane.node.updates = false;
  await scene.boot({ faults: { offeredVersion: '1.21.0' } });
  await scene.told('- Idle', '1 Idle');
  scene.plane.desiredOverride = { state: 'Rehearsed', version: null, generation: 7 };
  const before = scene.plane.reports.length;
  await until(
    'more reports',
    () => scene.plane.reports.length >= before + 3,
    () => scene.log(),
  );
  expect(scene.log().join('\n')).toMatch(/report failed.*asks for Rehearsed, which this agent does not know/);
  scene.plane.desiredOverride = null;
  scene.plane.node.updates = true;
  await scene.told('2 StagedUpdate', '6 Idle');
  // Had it taken the order on, it would have said its generation.
  expect(scene.plane.story().filter((line) => line.startsWith('7 '))).toEqual([]);
});
