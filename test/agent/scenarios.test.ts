/**
 * The scenarios of facts/bottlerocket-updates.md section 4, by their numbers: the real agent on the double of a
 * Bottlerocket node, through the real control plane. docs/agent.md has the table.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { GroupBody } from '../../core/contract.ts';
import { eventually, NEW, OLD, Site } from './site.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

const site = new Site();
beforeAll(() => site.start());
afterAll(() => site.close());

const DRAIN: NonNullable<GroupBody['drain']> = {
  steps: [{ type: 'exec', hook: 'drain', undo: 'undrain' }],
  timeout: '60s',
};

describe('the update API', () => {
  test('1 fresh boot: 404 on status is no error, before and after the reboot', async () => {
    const node = await site.node(await site.group());
    expect(node.machine.state().update).toBeNull();
    const updated = await node.updated();
    expect(updated.crash.count).toBe(0);
    expect(node.acts()).toEqual(['prepare', 'activate', 'reboot']);
  });

  test('1 nothing is offered any more when the attempt asks afresh: back to Idle, nothing prepared', async () => {
    const node = await site.heldNode(await site.group(), {}, { agentEnv: { HOLDOFF_REFRESH_EVERY: '1h' } });
    node.machine.setFaults({ offeredVersion: null });
    await node.verb('release');
    expect((await node.crashed(1)).crash.lastReason).toBe('NothingOffered');
    expect(node.acts()).toEqual([]);
  });

  test('2 busy (423) is waited out and counts nothing', async () => {
    const node = await site.heldNode(await site.group());
    node.machine.setFaults({ busy423: 8 });
    await node.verb('release');
    expect((await node.updated()).crash.count).toBe(0);
    expect(node.acts()).toEqual(['prepare', 'activate', 'reboot']);
  });

  test('2 busy beyond the deadline of the state: LockTimeout', async () => {
    const node = await site.heldNode(await site.group(), {}, { agentEnv: { HOLDOFF_STAGE_DEADLINE: '1s' } });
    node.machine.setFaults({ busy423: true });
    await node.verb('release');
    await node.becomes('LockTimeout', ({ crash }) => crash.lastReason === 'LockTimeout');
    node.machine.setFaults({ busy423: false });
    expect((await node.crashed(1)).crash.lastMessage).toMatch(/stayed locked \(423\)/);
    expect(node.acts()).toEqual([]);
  });

  test('3 a failed refresh is "update check failed", never "up to date", and no crash', async () => {
    const node = await site.heldNode(await site.group());
    node.machine.setFaults({ failRefresh: true });
    await node.becomes('check failed', ({ status }) => status?.updateCheck.result === 'Failed');
    await node.verb('release');
    const shown = await node.becomes('explained', ({ explanation }) => explanation.startsWith('Update check failed:'));
    expect(node.machine.state().update).toMatchObject({ update_state: 'Idle', chosen_update: { version: NEW } });
    expect(shown).toMatchObject({ crash: { count: 0 }, spec: { state: 'Idle' } });
    expect(shown.explanation).toMatch(/exit status 1: Failed to refresh/);
  });

  test('4 a failed prepare: one crash, nothing activated, nothing drained', async () => {
    const node = await site.node(await site.group({ drain: DRAIN }), { failPrepare: true });
    const { crash } = await node.crashed(1);
    expect(crash).toMatchObject({ lastState: 'StagedUpdate', lastReason: 'PrepareFailed' });
    expect([node.acts(), node.hooks()]).toEqual([['prepare'], []]);
  });

  test('5 a failed activate: one crash, no drain and no reboot', async () => {
    const node = await site.node(await site.group({ drain: DRAIN }), { failActivate: true });
    const { crash } = await node.crashed(1);
    expect(crash).toMatchObject({ lastState: 'PerformedUpdate', lastReason: 'ActivateFailed' });
    expect([node.acts(), node.hooks()]).toEqual([['prepare', 'activate'], []]);
    expect(node.machine.state().boots).toBe(1);
  });

  test('6 204 and nothing happens: issued once more, then NoProgress; an old success does not count', async () => {
    const node = await site.heldNode(await site.group(), {}, { agentEnv: { HOLDOFF_REFRESH_EVERY: '1h' } });
    await node.runs('refresh-updates');
    node.machine.setFaults({ noProgress: true });
    const before = node.machine.state().commands.length;
    await node.verb('release');
    expect((await node.crashed(1)).crash.lastReason).toBe('NoProgress');
    expect(node.machine.state().commands.slice(before, before + 2)).toEqual(['refresh', 'refresh']);
    expect(node.acts()).toEqual([]);
  });

  test('7 already Ready with what is offered: straight to the reboot', async () => {
    const node = await site.heldNode(await site.group());
    for (const command of ['prepare-update', 'activate-update'] as const) await node.runs(command);
    await node.verb('release');
    expect((await node.updated()).crash.count).toBe(0);
    expect(node.acts()).toEqual(['prepare', 'activate', 'reboot']);
  });

  test('7 Ready with another version: deactivated, prepared and activated anew', async () => {
    const node = await site.heldNode(await site.group());
    for (const command of ['prepare-update', 'activate-update'] as const) await node.runs(command);
    node.machine.setFaults({ offeredVersion: '1.22.0' });
    await node.verb('release');
    expect((await node.updated('1.22.0')).crash.count).toBe(0);
    expect(node.acts()).toEqual(['prepare', 'activate', 'deactivate', 'prepare', 'activate', 'reboot']);
  });

  test('7 already Staged: prepared again, as every attempt does, and no loop of ErrorReset', async () => {
    const node = await site.heldNode(await site.group());
    await node.runs('prepare-update');
    await node.verb('release');
    expect((await node.updated()).crash.count).toBe(0);
    expect(node.acts()).toEqual(['prepare', 'prepare', 'activate', 'reboot']);
  });

  test('8 odd, broken and half documents for a while: looked at again', async () => {
    const node = await site.heldNode(await site.group());
    node.machine.setFaults({ oddStatus: 3, breakStatus: 3, garbleStatus: 3 });
    await node.verb('release');
    expect((await node.updated()).crash.count).toBe(0);
  });

  test('8 an update state that stays unknown: Unparseable with the raw text, no panic', async () => {
    const node = await site.heldNode(await site.group(), {}, { agentEnv: { HOLDOFF_STAGE_DEADLINE: '1s' } });
    node.machine.setFaults({ oddStatus: true });
    await node.verb('release');
    const { crash } = await node.crashed(1);
    expect(crash).toMatchObject({ lastReason: 'Unparseable', lastMessage: expect.stringContaining('Baking') });
    expect(node.machine.state().agent.starts).toBe(1);
  });

  test('9 prepare wrote a newer version than the one chosen: success with a note, no second drain', async () => {
    const node = await site.node(await site.group({ drain: DRAIN }), { writesVersion: '1.21.1' });
    const updated = await node.updated('1.21.1');
    expect(updated.crash.count).toBe(0);
    expect(updated.status?.progress).toBe('runs 1.21.1, where 1.21.0 had been staged');
    expect(node.hooks()).toEqual(['drain', 'undrain']);
  });

  test('9 the choice moves on while an older version is staged: the staged one is used', async () => {
    const group = await site.group();
    const node = await site.heldNode(group, { commandSeconds: 1 });
    await node.verb('release');
    await eventually('staging', () => node.acts().includes('prepare'));
    await node.verb('hold');
    await node.becomes('held before the reboot', ({ explanation }) => explanation.includes('Ready to reboot'));
    node.machine.setFaults({ offeredVersion: '1.21.1', commandSeconds: 0.1 });
    await node.runs('refresh-updates');
    await node.verb('release');
    await eventually('booted', () => node.machine.state().boots === 2);
    expect(node.machine.state().version).toBe(NEW);
    expect((await node.updated('1.21.1')).crash.count).toBe(0);
  });

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

  test('15 control plane and agent are killed during the drain: one reboot, and nothing is left drained', async () => {
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

  test('19 a refresh that takes longer than the 10 s of apiclient is still read', async () => {
    const node = await site.node(await site.group(), { commandSeconds: 11 });
    const shown = await node.becomes('Available', ({ status }) => status?.updateCheck.result === 'Available');
    expect(shown.crash.count).toBe(0);
  });

  test('22 a pause pressed before the reboot: no disruptive step until it is resumed', async () => {
    const group = await site.group({ drain: DRAIN });
    const node = await site.heldNode(group, { commandSeconds: 1 });
    await node.verb('release');
    await eventually('staging', () => node.acts().includes('prepare'));
    await site.laptop.ok('POST', `/v1/groups/${group}/pause`, {});
    await node.becomes(
      'held before the reboot',
      ({ phase, explanation }) => phase === 'Held' && explanation.includes('Ready to reboot'),
    );
    expect([node.acts(), node.hooks()]).toEqual([['prepare', 'activate'], []]);
    await site.laptop.ok('POST', `/v1/groups/${group}/resume`, {});
    expect((await node.updated()).crash.count).toBe(0);
  });

  test('23 a version-lock of the owner on the running version: Idle, and the explanation says why', async () => {
    const node = await site.heldNode(await site.group());
    expect(await node.api('PATCH', '/settings?tx=owner', { updates: { 'version-lock': OLD } })).toBe(204);
    expect(await node.api('POST', '/tx/commit_and_apply?tx=owner')).toBe(200);
    await node.becomes('up to date', ({ status }) => status?.updateCheck.result === 'UpToDate');
    await node.verb('release');
    const shown = await node.becomes('explained', ({ explanation }) => explanation.includes(`version-lock is ${OLD}`));
    expect(shown).toMatchObject({ phase: 'Idle', crash: { count: 0 } });
  });
});
