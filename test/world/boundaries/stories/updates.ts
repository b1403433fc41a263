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
      { nodeId: B, group: 'web', at: 30 },
    ],
    steps: [
      { at: 60, unplug: B },
      { at: 300, status: [B, 'Undeliverable'] },
      { at: 5000, plug: B },
    ],
    lasts: 6300,
  },
  {
    name: 'a node is held and released, its group paused and resumed',
    nodes: [{ nodeId: A, group: 'web', at: 20 }],
    steps: [
      { at: 1, call: put('web', {}) },
      { at: 10, call: post('groups/web/pause') },
      { at: 100, call: post(`nodes/${A}/hold`) },
      { at: 200, call: post('groups/web/resume') },
      { at: 400, call: post(`nodes/${A}/release`) },
    ],
    lasts: 1600,
  },
  {
    name: 'a group is paused before a disruptive step and resumed; nodes are tried again, moved and removed',
    nodes: [
      { nodeId: A, group: 'web', at: 20, slow: { PerformedUpdate: 1200 } },
      { nodeId: B, group: 'web', at: 21, version: '1.1' },
      { nodeId: C, group: 'db', at: 22, fails: { StagedUpdate: 1 } },
    ],
    steps: [
      { at: 1, call: put('web', { deadlines: { PerformedUpdate: '40m' } }) },
      { at: 2, call: put('db', { backoff: { unit: '30m', from: 'lastCrash', cap: '2h', resetAfter: 'none' } }) },
      { at: 210, call: post(`nodes/${B}/move`, { group: 'rear' }) },
      { at: 600, call: ['DELETE', `/v1/nodes/${B}`] },
      { at: 900, call: post('groups/web/pause') },
      { at: 1000, call: post(`nodes/${C}/retry`) },
      { at: 2000, call: post('groups/web/resume') },
    ],
    lasts: 2900,
  },
];
