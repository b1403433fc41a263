/** The story that `npm start` tells: from what the API says, once for each thing that happens, with what comes next. */
import { describe, expect, test } from 'vitest';
import type { GroupJson, NodeJson } from '../../core/contract/answers.ts';
import { groupBodySchema } from '../../core/policy/group-policy.ts';
import { after, type Instant, seconds } from '../../core/kit/time.ts';
import { GROUPS, NEW_VERSION, NODES, OLD_VERSION } from '../../local/demo/fleet.ts';
import { CANARY, FOLLOWER, ROLLOUT } from '../../local/demo/rollout.ts';
import { frame } from '../../local/demo/screen.ts';
import { PATIENCE, type Seen, Story } from '../../local/demo/story.ts';
import { crashedNode, event, group, idleNode, loopingVm, NOW, runningVm } from '../face/fleet.ts';

const member = (nodeId: string, currentVersion: string, changes: Partial<NodeJson> = {}): NodeJson => {
  const node = idleNode({ nodeId, group: FOLLOWER, ...changes });
  return { ...node, status: node.status === null ? null : { ...node.status, currentVersion } };
};
const SHOP = ['i-1', 'i-2', 'i-3'];
const old = SHOP.map((id) => member(id, OLD_VERSION, { phase: 'Queued' }));
const breakers = [{ version: NEW_VERSION, openedAt: '2026-01-05T00:09:50.000Z', nodes: ['i-1', 'i-2'] }];

const seen = (changes: { canary?: Partial<GroupJson>; shop?: Partial<GroupJson>; nodes?: NodeJson[] }): Seen => ({
  nodes: changes.nodes ?? old,
  vms: [],
  groups: [group({ group: CANARY, ...changes.canary }), group({ group: FOLLOWER, ...changes.shop })],
});
const told = (story: Story, what: Seen, now: Instant = NOW): string[] => story.tell(what, now).map(({ text }) => text);
const later = (count: number): Instant => after(NOW, seconds(count));

describe('the rollout of the demo', () => {
  test('the policies are what the API takes, each group after the one that it waits for', () => {
    const groups = Object.entries({ ...GROUPS, ...ROLLOUT.groups });
    expect(groups.filter(([, body]) => !groupBodySchema.safeParse(body).success)).toEqual([]);
    const named = groups.map(([name]) => name);
    expect(named.indexOf(CANARY)).toBeLessThan(named.indexOf(FOLLOWER));
    const ids = [...NODES, ...ROLLOUT.nodes].map(({ nodeId }) => nodeId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('begins with the canary, and says when the others follow', () => {
    const story = new Story('holdoff');
    expect(told(story, seen({}))).toEqual([
      'rollout: canary goes to 1.21.0 first; the 3 nodes of shop wait until it has run that for 10 s without a crash',
    ]);
    const settled = [{ version: NEW_VERSION, since: '2026-01-05T00:09:50.000Z' }];
    expect(told(story, seen({ canary: { settled } }))).toEqual([
      'rollout: canary has settled on 1.21.0; the 3 nodes of shop follow. Two of them will crash',
    ]);
  });

  test('says that the breaker opened, what to type, and when the demo would do it; only that counts down', () => {
    const story = new Story('HOLDOFF_DATA=x npm run holdoff --');
    const open = seen({ shop: { breakers } });
    expect(story.tell(open, NOW)).toEqual([
      {
        key: 'open 2026-01-05T00:09:50.000Z',
        text: 'group shop: breaker opened, 2 of 3 crashed on 1.21.0; who was under way is withdrawn, 3 wait. Close it with: HOLDOFF_DATA=x npm run holdoff -- groups close-breaker shop (if nobody does, the demo does in 90 s)',
      },
    ]);
    const [then] = story.tell(open, later(60));
    expect(then?.key).toBe('open 2026-01-05T00:09:50.000Z');
    expect(then?.text).toMatch(/the demo does in 30 s\)$/);
  });

  test('the demo closes it only after its time, and says that it did', () => {
    const story = new Story('holdoff');
    const open = seen({ shop: { breakers } });
    expect(story.overdue(open, NOW)).toBeNull();
    expect(story.overdue(open, after(NOW, seconds(89)))).toBeNull();
    expect(story.overdue(open, after(NOW, PATIENCE))).toBe(NEW_VERSION);
    story.closedByDemo();
    expect(story.overdue(seen({}), after(NOW, PATIENCE))).toBeNull();
    expect(told(story, seen({}))[0]).toMatch(/^group shop: breaker closed by the demo; .* they are tried again$/);
  });

  test('a breaker that a person closes is not closed again; a run that finds one open gives its own time', () => {
    const story = new Story('holdoff');
    expect(story.overdue(seen({ shop: { breakers } }), later(100_000))).toBeNull();
    expect(told(story, seen({}), later(100_001))[0]).toMatch(/^group shop: breaker closed by hand/);
    expect(story.overdue(seen({}), later(200_000))).toBeNull();
    const done = seen({ nodes: SHOP.map((id) => member(id, NEW_VERSION)) });
    expect(told(story, done)).toEqual([
      'rollout: done; canary and the 3 nodes of shop run 1.21.0 (the breaker was closed by hand)',
    ]);
  });

  test('nothing is told of a rollout before its groups and nodes are there', () => {
    expect(told(new Story('holdoff'), { nodes: [], vms: [], groups: [] })).toEqual([]);
  });
});

describe('who crashes next', () => {
  const story = new Story('holdoff');
  test('the node with the most crashes, and the VM that starts and dies; both count down under one key', () => {
    const nodes = [crashedNode({ nodeId: 'i-bbb' })];
    const vms = [
      runningVm(),
      loopingVm({ vmId: 'boots', unstableRuns: { count: 2, retryAfter: '2026-01-05T00:10:20.000Z' } }),
    ];
    const what = { nodes, vms, groups: [] };
    expect(told(story, what)).toEqual([
      'node b…: crashed 3 times; it will crash again in 12 s, and then wait longer',
      'VM boots: died early 2 times; it is started again in 20 s, and will die again',
    ]);
    expect(story.tell(what, later(5)).map(({ key }) => key)).toEqual(story.tell(what, NOW).map(({ key }) => key));
    expect(told(story, what, later(30))).toEqual([]);
  });

  test('a node that has blocked the version does not crash again, nor does one of the shop', () => {
    const nodes = [crashedNode({ blockedVersions: [NEW_VERSION] }), crashedNode({ group: FOLLOWER })];
    expect(told(story, { nodes, vms: [], groups: [] })).toEqual([]);
  });
});

describe('the screen', () => {
  const nodes = [...SHOP.map((id) => idleNode({ nodeId: id })), crashedNode()];
  const drawn = (rows: number, width = 100): string[] =>
    frame(
      {
        now: NOW,
        nodes,
        vms: [runningVm()],
        events: [event()],
        heading: ['the fleet as a page: http://127.0.0.1:4681/'],
        story: ['one thing that goes on, in so many words that a narrow terminal has no room for it in one line'],
      },
      width,
      rows,
      false,
    ).split('\n');

  test('on a low terminal the nodes that are well make room for what happens', () => {
    expect(drawn(40).filter((line) => line.startsWith('i-'))).toHaveLength(4);
    const low = drawn(16);
    expect(low.filter((line) => line.startsWith('i-'))).toHaveLength(1);
    expect(low).toContain('and 3 nodes up to date and well');
    expect(low.join('\n')).toContain('VM Start Delayed');
  });

  test('the story is wrapped, not cut: no line is wider than the terminal', () => {
    const narrow = drawn(40, 40);
    expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(narrow.join(' ')).toContain('has no room for it in one line');
  });
});
