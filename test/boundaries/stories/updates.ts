/** Nodes: enrolled, updated, crashed, withdrawn, and what operators ask of them. */
import type { Story } from '../story.ts';

const A = 'i-0000000000000000a';
const B = 'i-0000000000000000b';
const C = 'i-0000000000000000c';

const put = (group: string, body: object) => ['PUT', `/v1/groups/${group}`, body] as const;
const post = (path: string, body: object = {}) => ['POST', `/v1/${path}`, body] as const;

export const UPDATES: readonly Story[] = [
  {
    name: 'two nodes are updated, one after the other',
    nodes: [
      { nodeId: A, group: 'web' },
      { nodeId: B, group: 'web', at: 5 },
    ],
    steps: [],
    lasts: 1500,
  },
  {
    name: 'a step fails, the node recovers and is tried again when it is due',
    nodes: [{ nodeId: A, group: 'web', at: 5, fails: { PerformedUpdate: 1 } }],
    steps: [{ at: 1, call: put('web', { backoff: { preset: 'brupop' } }) }],
    lasts: 1500,
  },
  {
    name: 'a step is not reached within its deadline',
    nodes: [{ nodeId: A, group: 'web', hangs: { PerformedUpdate: 1 } }],
    steps: [],
    lasts: 1800,
  },
  {
    name: 'a step is not picked up and is withdrawn; the node falls silent and comes back',
    nodes: [
      { nodeId: A, group: 'web' },
      { nodeId: B, group: 'web', at: 5 },
    ],
    steps: [
      { at: 30, unplug: B },
      { at: 300, status: [B, 'Undeliverable'] },
      { at: 5000, plug: B },
    ],
    lasts: 6300,
  },
  {
    name: 'nodes are held, released, tried again, moved and removed; a group is paused and resumed',
    nodes: [
      { nodeId: A, group: 'web', at: 5 },
      { nodeId: B, group: 'web', at: 6, version: '1.1' },
      { nodeId: C, group: 'db', at: 7, fails: { StagedUpdate: 1 } },
    ],
    steps: [
      { at: 1, call: put('web', {}) },
      { at: 2, call: put('db', { backoff: { preset: 'brupop' } }) },
      { at: 3, call: post('groups/web/pause') },
      { at: 20, call: post(`nodes/${A}/hold`) },
      { at: 40, call: post('groups/web/resume') },
      { at: 60, call: post(`nodes/${A}/release`) },
      { at: 70, call: post(`nodes/${C}/retry`) },
      { at: 75, call: post('groups/web/pause') },
      { at: 200, call: post('groups/web/resume') },
      { at: 210, call: post(`nodes/${B}/move`, { group: 'rear' }) },
      { at: 600, call: ['DELETE', `/v1/nodes/${B}`] },
    ],
    lasts: 1900,
  },
];
