/**
 * The scenarios of facts/bottlerocket-updates.md section 4, by their numbers: the real agent on the double of a
 * Bottlerocket node, through the real control plane. docs/agent.md has the table. Here: the drain, the
 * reboot, and what happens around them.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import { eventually, NEW, OLD, Site } from './site.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

const site = new Site();
beforeAll(() => site.start());
afterAll(() => site.close());

const DRAIN: NonNullable<GroupBody['drain']> = {
  steps: [{ type: 'exec', hook: 'drain', undo: 'undrain' }],
  timeout: '60s',
};

describe.concurrent('the reboot', () => {
  test('10 a boot rollback: RolledBack, scheduling restored, that version blocked, no second drain or reboot', async () => {
    const node = await site.node(await site.group({ drain: DRAIN }), { bootsBack: true });
    const after = await node.crashed(1);
    expect(after).toMatchObject({
      crash: { lastReason: 'RolledBack', lastState: 'RebootedIntoUpdate' },
      blockedVersions: [NEW],
      status: { currentVersion: OLD },
    });
    expect(node.hooks()).toEqual(['drain', 'undrain']);
    expect(node.acts()).toEqual(['prepare', 'activate', 'reboot']);
  });

  test('11 a reboot that is accepted and does not come is asked for once more', async () => {
    const node = await site.node(
      await site.group(),
      { ignoreReboot: 1 },
      { agentEnv: { HOLDOFF_REBOOT_AGAIN_AFTER: '1s' } },
    );
    expect((await node.updated()).crash.count).toBe(0);
    expect(node.acts()).toEqual(['prepare', 'activate', 'reboot', 'reboot']);
  });

  test('11 a reboot that is refused: the drain is undone and the update deactivated', async () => {
    const node = await site.node(await site.group({ drain: DRAIN }), { refuseReboot: true });
    const { crash } = await node.crashed(1);
    expect(crash).toMatchObject({ lastReason: 'RebootRefused', lastMessage: expect.stringMatching(/500.*inhibited/) });
    expect(node.hooks()).toEqual(['drain', 'undrain']);
    expect(node.acts()).toEqual(['prepare', 'activate', 'deactivate']);
    expect(node.machine.state()).toMatchObject({ boots: 1, disk: { nextBootInactive: false } });
  });

  test('12 a node that does not come back keeps its slot; back late, it is judged by what it runs', async () => {
    const group = await site.group({ deadlines: { RebootedIntoUpdate: '20s' } });
    const node = await site.node(group, { rebootSeconds: 3600 });
    const gone = await node.becomes('unreachable', ({ phase }) => phase === 'Unreachable');
    expect(gone.crash).toMatchObject({ count: 1, lastReason: 'DeadlinePassed' });
    const next = await site.node(group);
    const waiting = await next.becomes('waits for the slot', ({ phase }) => phase === 'Queued');
    expect(waiting.spec.state).toBe('Idle');
    node.machine.setFaults({ rebootSeconds: 0.3 });
    node.machine.comeBack();
    const back = await node.crashed(1);
    expect(back.status?.currentVersion).toBe(NEW);
    expect(node.machine.state().boots).toBe(2);
    await next.updated();
  });

  test('13 a drain that is blocked: aborted, undone, deactivated, named; the next node goes on', async () => {
    const group = await site.group({ drain: { ...DRAIN, timeout: '10s' } });
    const node = await site.heldNode(group);
    writeFileSync(node.file('busy'), '');
    await node.verb('release');
    await node.becomes('shows what blocks it', ({ explanation }) => explanation.includes('job 7 still runs'));
    const next = await site.node(group);
    const after = await node.crashed(1);
    expect(after.crash).toMatchObject({ lastReason: 'DrainBlocked', lastState: 'RebootedIntoUpdate' });
    expect(after.crash.lastMessage).toMatch(/hook drain ended with 1: job 7 still runs/);
    expect(after.phase).toBe('BackingOff');
    expect(node.hooks().at(-1)).toBe('undrain');
    expect(node.acts()).toEqual(['prepare', 'activate', 'deactivate']);
    await next.updated();
  });

  test('14 a node that vanishes under way: its slot is free, nothing is counted, the next goes on', async () => {
    const group = await site.group();
    const node = await site.node(group, { rebootSeconds: 3600 });
    await eventually('the node is down', () => !node.machine.state().up && node.acts().includes('reboot'));
    const next = await site.node(group);
    await next.becomes('waits', ({ phase }) => phase === 'Queued');
    await site.laptop.ok('DELETE', `/v1/nodes/${node.nodeId}`);
    expect((await next.updated()).crash.count).toBe(0);
    expect((await node.events()).filter((event) => event.startsWith('Node Crashed'))).toEqual([]);
  });

  test.sequential('15 control plane and agent are killed during the drain: one reboot, and nothing is left drained', async () => {
    const node = await site.heldNode(await site.group({ drain: DRAIN }));
    writeFileSync(node.file('busy'), '');
    await node.verb('release');
    await eventually('draining', () => node.hooks().includes('drain'));
    node.machine.killAgent();
    site.laptop.kill();
    await eventually('the agent is back', () => node.machine.state().agent.starts >= 2);
    rmSync(node.file('busy'));
    expect((await node.updated()).crash.count).toBe(0);
    expect(node.acts()).toEqual(['prepare', 'activate', 'reboot']);
    expect(node.hooks().at(-1)).toBe('undrain');
  });

  test('21 wakes that SSM refuses, the node fails or nobody hears of: repeated sooner, and no step fails for it', async () => {
    const node = await site.heldNode(await site.group());
    await node.machine.stopAgent();
    node.wakes('unregistered');
    await node.verb('release');
    const shown = await node.becomes('the wake is refused', ({ explanation }) =>
      /The last wake ended InvalidInstanceId and is repeated in (?:[12]?\d|30) s/.test(explanation),
    );
    expect(shown).toMatchObject({ spec: { state: 'StagedUpdate' }, crash: { count: 0 } });
    node.wakes('fail');
    node.machine.startAgent();
    expect((await node.updated()).crash.count).toBe(0);
    expect(node.acts()).toEqual(['prepare', 'activate', 'reboot']);
  });

  test('22 a pause pressed before the reboot: no disruptive step until it is resumed', async () => {
    const group = await site.group({ drain: DRAIN });
    const node = await site.heldNode(group, { commandSeconds: 1 });
    await node.verb('release');
    await eventually('staging', () => node.acts().includes('prepare'));
    await site.laptop.ok('POST', `/v1/groups/${group}/pause`, {});
    await node.becomes(
      'waits staged',
      ({ spec, status, waitingFor }) =>
        spec.state === 'StagedUpdate' && status?.state === 'StagedUpdate' && waitingFor?.code === 'Paused',
    );
    expect([node.acts(), node.hooks()]).toEqual([['prepare'], []]);
    await site.laptop.ok('POST', `/v1/groups/${group}/resume`, {});
    expect((await node.updated()).crash.count).toBe(0);
  });
});
