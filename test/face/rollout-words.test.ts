import { describe, expect, it } from 'vitest';
import { EXIT } from '../../cli/errors.ts';
import { groupFields } from '../../present/groups.ts';
import { nodeFields } from '../../present/nodes.ts';
import { absoluteWhen } from '../../present/when.ts';
import { group, idleNode, NODE_A, NODE_B } from './fleet.ts';
import { holdoff, items, ok } from './holdoff.ts';

const said = (changes: Parameters<typeof group>[0]): string[] =>
  groupFields(group(changes), absoluteWhen).map(({ label, text }) => `${label}: ${text}`);

describe('a group in full', () => {
  it('says what its rollout stands at', () => {
    expect(
      said({
        window: { open: false, opensAt: '2026-01-06T02:00:00.000Z' },
        zone: 'eu-1a',
        breakers: [{ version: '2.0.0', openedAt: '2026-01-05T00:00:00.000Z', nodes: [NODE_A, NODE_B] }],
        expedited: [{ version: '2.0.1', by: 'ann', until: '2026-01-06T00:00:00.000Z' }],
        settled: [{ version: '1.9.0', since: '2026-01-01T00:00:00.000Z' }],
        rollout: {
          at: '2026-01-05T00:09:00.000Z',
          target: { '2.0.1': { done: 3, underWay: 1, waiting: 5, failed: 1 } },
        },
      }),
    ).toEqual(
      expect.arrayContaining([
        'Window: closed; opens 2026-01-06T02:00:00.000Z',
        'Zone: eu-1a is updated now',
        `Breaker: open for 2.0.0 since 2026-01-05T00:00:00.000Z: ${NODE_A}, ${NODE_B} crashed on it`,
        'Expedited: 2.0.1 by ann, until 2026-01-06T00:00:00.000Z',
        'Settled: on 1.9.0 since 2026-01-01T00:00:00.000Z',
        'Rollout: 2.0.1: 3 of 10 nodes done, 1 under way, 5 waiting, 1 failed',
        'Counted: 2026-01-05T00:09:00.000Z',
      ]),
    );
  });

  it.each<[Parameters<typeof group>[0], string]>([
    [{ window: { open: true } }, 'Window: open'],
    [
      { window: { open: true, openedBy: 'ann', closesAt: '2026-01-05T01:00:00.000Z' } },
      'Window: opened by ann; nothing begins after 2026-01-05T01:00:00.000Z',
    ],
    [
      { window: { open: false, frozen: { to: '2026-01-07T00:00:00.000Z', reason: 'year end' } } },
      'Window: frozen until 2026-01-07T00:00:00.000Z: year end',
    ],
    [{ rollout: null }, 'Rollout: not counted yet'],
  ])('%#: %s', (changes, line) => expect(said(changes)).toContain(line));
});

it('a node in full begins with what it waits for', () => {
  const node = idleNode({ waitingFor: { code: 'OutsideWindow', until: '2026-01-06T02:00:00.000Z' } });
  expect(nodeFields(node, absoluteWhen)[0]).toMatchObject({
    label: 'Waits for',
    text: 'OutsideWindow, until 2026-01-06T02:00:00.000Z',
  });
});

it('nodes --waiting-for lists those that wait for it first, and refuses a word that is no such code', async () => {
  const fleet = items(idleNode(), idleNode({ nodeId: NODE_B, waitingFor: { code: 'NoSlot' } }));
  const ran = await holdoff('nodes --waiting-for NoSlot', () => fleet);
  expect(ran.out.split('\t')[0]).toBe(NODE_B);
  expect((await holdoff('nodes --waiting-for Nothing', () => fleet)).code).toBe(EXIT.usage);
});

describe('vms console', () => {
  const console = (text: string | null) => ({
    vmId: 'web',
    askedAt: '2026-01-05T00:10:00.000Z',
    askedBy: 'ann',
    receivedAt: text === null ? null : '2026-01-05T00:10:03.000Z',
    instanceId: 'web-1',
    console: text,
  });

  it('asks the host, waits, and prints what came, without what could move a cursor', async () => {
    let gets = 0;
    const ran = await holdoff('vms console web', ({ method }) => {
      if (method === 'POST') return ok(console(null), 202);
      gets += 1;
      return ok(console(gets < 2 ? null : 'login:\u001b[2J'));
    });
    expect(ran.out).toBe('login:\n');
    expect(ran.api.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/vms/web/console',
      'GET /v1/vms/web/console',
      'GET /v1/vms/web/console',
    ]);
  });
});
