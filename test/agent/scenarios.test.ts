/**
 * The scenarios of facts/bottlerocket-updates.md section 4, by their numbers: the real agent on the double of a
 * Bottlerocket node, through the real control plane. docs/agent.md has the table. Here: what is offered,
 * staged and activated.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import { eventually, NEW, OLD, Site } from './site.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

const site = new Site();
beforeAll(() => site.start());
afterAll(() => site.close());

/** Before the version that runs. */
const OLDER = '1.19.0';
const DRAIN: NonNullable<GroupBody['drain']> = {
  steps: [{ type: 'exec', hook: 'drain', undo: 'undrain' }],
  timeout: '60s',
};

describe.concurrent('the update API', () => {
  test('1 fresh boot: 404 on status is no error, before and after the reboot', async () => {
    const node = await site.node(await site.group());
    expect(node.machine.state().update).toBeNull();
    const updated = await node.updated();
    expect(updated.crash.count).toBe(0);
    expect(node.acts()).toEqual(['prepare', 'activate', 'reboot']);
  });

  test('1 nothing is offered any more when the attempt asks afresh: back to Idle, nothing prepared', async () => {
    const node = await site.heldNode(await site.group(), {}, { agentEnv: { HOLDOFF_REFRESH_EVERY: '1h' } });
    // A report between the two is no attempt: it says that nothing is offered, and nothing begins. Then once more.
    for (let begun = false; !begun;) {
      const { spec } = await node.becomes('offered', ({ status }) => status?.updateCheck.result === 'Available');
      node.machine.setFaults({ offeredVersion: null });
      await node.verb('release');
      const seen = await node.becomes(
        'begun, or overtaken by a report',
        (shown) => shown.spec.generation > spec.generation || shown.status?.updateCheck.result === 'UpToDate',
      );
      begun = seen.spec.generation > spec.generation;
      if (!begun) {
        await node.verb('hold');
        node.machine.setFaults({});
      }
    }
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
    const node = await site.heldNode(await site.group({ deadlines: { StagedUpdate: '20s' } }));
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
    const node = await site.heldNode(await site.group({ deadlines: { StagedUpdate: '20s' } }));
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

  test('9 the choice moves on while a staged node waits: it begins anew, with one reboot', async () => {
    const group = await site.group();
    const node = await site.heldNode(group, { commandSeconds: 1 });
    await node.verb('release');
    await eventually('staging', () => node.acts().includes('prepare'));
    await node.verb('hold');
    await node.becomes(
      'held staged',
      ({ spec, status, waitingFor }) =>
        spec.state === 'StagedUpdate' && status?.state === 'StagedUpdate' && waitingFor?.code === 'Held',
    );
    node.machine.setFaults({ offeredVersion: '1.21.1', commandSeconds: 0.1 });
    await node.becomes('offered another', ({ status }) => status?.updateCheck.version === '1.21.1');
    await node.verb('release');
    expect((await node.updated('1.21.1')).crash.count).toBe(0);
    expect(node.machine.state().boots).toBe(2);
  });

  test('19 a refresh that takes longer than the 10 s of apiclient is still read', async () => {
    const node = await site.node(await site.group(), { commandSeconds: 11 });
    const shown = await node.becomes('Available', ({ status }) => status?.updateCheck.result === 'Available');
    expect(shown.crash.count).toBe(0);
  });

  test('20 an older version is offered: up to date, and it says why; nothing begins until the owner asks for it', async () => {
    const node = await site.node(await site.group({ version: { allowDowngrade: true } }), { offeredVersion: OLDER });
    const shown = await node.becomes('explained', ({ explanation }) => explanation.includes(`older than ${OLD}`));
    expect(shown).toMatchObject({
      phase: 'Idle',
      crash: { count: 0 },
      status: { updateCheck: { result: 'UpToDate', message: expect.stringContaining('version-lock is latest') } },
    });
    expect(node.acts()).toEqual([]);
    await node.locks(`v${OLDER}`);
    expect((await node.updated(OLDER)).crash.count).toBe(0);
    expect(node.acts()).toEqual(['prepare', 'activate', 'reboot']);
  });

  test('20 the newer version is withdrawn before it is staged: the older one is refused', async () => {
    const node = await site.heldNode(await site.group(), {}, { agentEnv: { HOLDOFF_REFRESH_EVERY: '1h' } });
    node.machine.setFaults({ offeredVersion: OLDER });
    await node.verb('release');
    const { crash } = await node.crashed(1);
    expect(crash).toMatchObject({ lastReason: 'DowngradeOffered', lastState: 'StagedUpdate' });
    expect(crash.lastMessage).toMatch(/^1\.19\.0 is offered, which is older than 1\.20\.5/);
    expect(node.acts()).toEqual([]);
  });

  test('23 a version-lock of the owner on the running version: Idle, and the explanation says why', async () => {
    const node = await site.heldNode(await site.group());
    await node.locks(OLD);
    await node.becomes('up to date', ({ status }) => status?.updateCheck.result === 'UpToDate');
    await node.verb('release');
    const shown = await node.becomes('explained', ({ explanation }) => explanation.includes(`version-lock is ${OLD}`));
    expect(shown).toMatchObject({ phase: 'Idle', crash: { count: 0 } });
  });
});
