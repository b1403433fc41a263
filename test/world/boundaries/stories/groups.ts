/** Groups: limits that come and go, followers of default, slots that nobody uses. */
import { decideGroup } from '../../../../core/group/group.ts';
import { parseGroupId, parseNodeId } from '../../../../core/kit/ids.ts';
import type { Story } from '../story.ts';
import type { Stage } from '../stage.ts';

const [A, B, C, D, E, F] = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `i-0000000000000000${letter}`) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const put = (group: string, body: object) => ['PUT', `/v1/groups/${group}`, body] as const;

/** A slot is claimed for a node that never starts: what a death between the two leaves behind. */
async function forgetSlot({ store, now }: Stage): Promise<void> {
  const group = parseGroupId('web');
  const nodeId = parseNodeId(A);
  if (group === null || nodeId === null) throw new Error('ids of this story');
  const known = (await store.load('group', group))?.record ?? null;
  const event = { kind: 'claim', claims: [{ nodeId, claimId: 'forgotten' }], limit: 1 } as const;
  const outcome = decideGroup(known, group, event, now);
  if (outcome.kind === 'changed') await store.save('group', outcome.next, known?.revision ?? 0, 'forgotten');
}

export const GROUPS: readonly Story[] = [
  {
    name: 'a limit ends, and holds again before those without a slot are back',
    nodes: [
      { nodeId: A, group: 'web', at: 5 },
      { nodeId: B, group: 'web', at: 6 },
      { nodeId: C, group: 'web', at: 40 },
    ],
    steps: [
      { at: 1, call: put('web', { maxConcurrentUpdates: 'unlimited' }) },
      { at: 20, call: put('web', { maxConcurrentUpdates: '50%' }) },
      { at: 700, call: ['POST', '/v1/groups/web/openWindow', { for: '1h' }] },
      { at: 710, call: ['POST', '/v1/groups/web/closeWindow', {}] },
      { at: 720, call: ['POST', '/v1/groups/web/expedite', { version: '9.9', for: '1h' }] },
      { at: 730, call: ['POST', '/v1/groups/web/closeBreaker', {}] },
      { at: 900, call: ['DELETE', '/v1/groups/web'] },
    ],
    lasts: 1500,
  },
  {
    name: "a limit raised in default's policy holds in the groups that follow it",
    nodes: [
      { nodeId: D, group: 'rear' },
      { nodeId: E, group: 'rear' },
    ],
    steps: [{ at: 20, call: put('default', { maxConcurrentUpdates: 2 }) }],
    lasts: 900,
  },
  {
    name: 'a slot that nobody uses is freed by the sweep',
    nodes: [
      { nodeId: A, group: 'web', version: '1.1' },
      { nodeId: F, group: 'web', at: 20 },
    ],
    steps: [{ at: 10, do: forgetSlot }],
    lasts: 1500,
  },
];
