import type { Story } from '../story.ts';

const A = 'i-0000000000000000a';
const B = 'i-0000000000000000b';

export const UPDATES: readonly Story[] = [
  {
    name: 'two nodes are updated, one after the other',
    nodes: [
      { nodeId: A, group: 'web' },
      { nodeId: B, group: 'web', at: 5 },
    ],
    steps: [],
    lasts: 3600,
  },
];
