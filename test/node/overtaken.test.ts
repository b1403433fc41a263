import { expect, test } from 'vitest';
import { runScenario } from '../../world/simulate/run.ts';
import { readScenario } from '../../world/simulate/scenario.ts';

const A = 'i-0000000000000000a';
const B = 'i-0000000000000000b';
const idle = (more: object = {}): object => ({
  state: 'Idle',
  bootId: 'b1',
  currentVersion: '1.0',
  updateCheck: { result: 'Available', version: '2.0' },
  ...more,
});
const web = { hostId: A, runStrategy: 'Always', launch: { type: 'libvirt', domain: 'web' } };

/** What a scenario says went wrong; nothing when every expectation held. */
async function failures(scenario: object): Promise<string[]> {
  const result = await runScenario(readScenario(JSON.stringify(scenario)));
  return result.failures.map(
    ({ step, what, expected, actual }) => `${step}: ${what} ${JSON.stringify([expected, actual])}`,
  );
}

test('an ErrorReset overtaken by a later report of the same step is out of order and counts nothing', async () => {
  const steps = [
    { at: 0, node: A, report: idle({ uptime: 100 }) },
    { at: 10, node: A, report: idle({ generation: '$current', uptime: 200 }) },
    { at: 11, node: A, report: idle({ generation: '$current', state: 'ErrorReset', uptime: 150 }) },
    { at: 11, expect: { node: A, match: { 'crash.count': 0, 'spec.state': 'StagedUpdate' } } },
  ];
  expect(await failures({ steps })).toEqual([]);
});

test('removing a node proves nothing about its VMs: no second instance is started', async () => {
  const steps = [
    { at: 0, node: A, report: idle({ updateCheck: { result: 'UpToDate' } }) },
    { at: 1, vm: 'web', report: { instanceId: '$current', phase: 'Running' } },
    { at: 2, node: A, delete: true },
    {
      at: 2,
      expect: { vm: 'web', match: { printableStatus: 'Running' }, commands: { action: 'StartInstance', count: 1 } },
    },
    { at: 3, node: A, verb: 'fence', status: 202 },
    {
      at: 3,
      expect: {
        vm: 'web',
        match: { 'instance.cause': 'HostLost' },
        commands: { action: 'StartInstance', count: 1 },
      },
    },
  ];
  expect(await failures({ vms: { web }, steps })).toEqual([]);
});

test("a limit raised in default's policy starts nodes of undeclared groups at once", async () => {
  const steps = [
    { at: 0, node: A, report: idle({ group: 'g9' }) },
    { at: 0, node: B, report: idle({ group: 'g9' }) },
    { at: 1, expect: { node: B, match: { phase: 'Queued' } } },
    { at: 1, group: 'default', put: { maxConcurrentUpdates: 2 } },
    { at: 1, expect: { node: B, match: { 'spec.state': 'StagedUpdate' } } },
  ];
  expect(await failures({ steps })).toEqual([]);
});

test("deleting a group's policy does not end its pause", async () => {
  const steps = [
    { at: 0, group: 'g1', verb: 'pause' },
    { at: 0, group: 'g1', delete: true },
    { at: 1, node: A, report: idle({ group: 'g1' }) },
    { at: 1, expect: { node: A, match: { 'spec.state': 'Idle', phase: 'Queued', 'waitingFor.code': 'Paused' } } },
  ];
  expect(await failures({ groups: { g1: {} }, steps })).toEqual([]);
});

test('a node held by an operator is shown as Held in whatever state it is', async () => {
  const steps = [
    { at: 0, node: A, report: idle() },
    { at: 1, node: A, verb: 'hold' },
    { at: 1, expect: { node: A, match: { phase: 'Held', 'spec.state': 'StagedUpdate' } } },
  ];
  expect(await failures({ steps })).toEqual([]);
});

test('commands are judged beside absent, so that a wrong expectation cannot pass', async () => {
  const steps = [
    { at: 0, vm: 'web', delete: { force: true } },
    { at: 1, expect: { vm: 'web', absent: true, commands: { action: 'StopInstance', count: 99 } } },
  ];
  expect(await failures({ vms: { web }, steps })).toHaveLength(1);
});
