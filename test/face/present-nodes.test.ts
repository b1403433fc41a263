/** Nodes as people read them: tones, order, cells, rows and fields. */
import { describe, expect, test } from 'vitest';
import type { NodeJson } from '../../core/contract/answers.ts';
import { NODE_PHASES } from '../../core/contract/words.ts';
import {
  NODE_ROW,
  nodeFields,
  nodeRows,
  nodesByAttention,
  nodeTable,
  nodeTone,
  sayUpdateCheck,
} from '../../present/nodes.ts';
import type { Surface } from '../../present/table.ts';
import { crashedNode, idleNode, NOW } from './fleet.ts';

const wide: Surface = { width: 200, colour: false, now: NOW, fit: 'wrap' };

const plain = (at: string): string => at;

const fieldsOf = (fields: readonly { label: string; text: string; tone?: string | undefined }[]): string[] =>
  fields.map(({ label, text, tone }) => `${label}: ${text}${tone === undefined ? '' : ` [${tone}]`}`);

const columnsOf = (text: string, line = 0): string[] => (text.split('\n')[line] ?? '').split(/ {2,}/);

const status = (changes: Partial<NonNullable<NodeJson['status']>>): NonNullable<NodeJson['status']> => ({
  ...(idleNode().status ?? expect.fail('it has reported')),
  ...changes,
});

const crashes = (count: number): NodeJson['crash'] => ({ ...idleNode().crash, count });

describe('nodes', () => {
  test('each phase has its tone', () => {
    expect(NODE_PHASES.map((phase) => `${phase} ${nodeTone(idleNode({ phase }))}`)).toEqual([
      'Unreachable bad',
      'Recovering warn',
      'Held warn',
      'Monitoring busy',
      'Updating busy',
      'BackingOff bad',
      'WaitingForWindow quiet',
      'Queued quiet',
      'Idle good',
    ]);
  });

  test('an Idle one is a warning while its check fails or it has crashed', () => {
    expect(nodeTone(idleNode({ status: status({ updateCheck: { result: 'Failed' } }) }))).toBe('warn');
    expect(nodeTone(idleNode({ crash: crashes(1) }))).toBe('warn');
    expect(nodeTone(idleNode({ phase: 'Queued', crash: crashes(1) }))).toBe('quiet');
    expect(nodeTone(idleNode({ status: null }))).toBe('good');
  });

  test('come in the order in which a person looks at them', () => {
    const byPhase = nodesByAttention([...NODE_PHASES].reverse().map((phase) => idleNode({ phase })));
    expect(byPhase.map(({ phase }) => phase).join(' ')).toBe(
      'Unreachable BackingOff Recovering Held Monitoring Updating WaitingForWindow Queued Idle',
    );
    const nodes = [
      idleNode({ nodeId: 'd', phase: 'Monitoring' }),
      idleNode({ nodeId: 'c', crash: crashes(1) }),
      idleNode({ nodeId: 'b', crash: crashes(2) }),
      idleNode({ nodeId: 'a', crash: crashes(1) }),
      idleNode({ nodeId: 'e', phase: 'Held' }),
    ];
    expect(nodesByAttention(nodes).map(({ nodeId }) => nodeId)).toEqual(['b', 'a', 'c', 'e', 'd']);
    expect(nodes[0]?.nodeId).toBe('d');
  });

  test('have these columns, and a retry only while they wait for one', () => {
    const waiting = crashedNode({ phase: 'Recovering' });
    const table = nodeTable([waiting, crashedNode({ phase: 'Queued' })], wide);
    expect(columnsOf(table)).toEqual(['NODE', 'GROUP', 'PHASE', 'STEP', 'VERSION', 'CRASHES', 'NEXT', 'WHY']);
    expect(columnsOf(table, 1)).toContain('retry in 12 s');
    expect(table.match(/retry/g)).toHaveLength(1);
  });

  test('show the version that runs, and the one that is wanted where it is another', () => {
    const version = (wanted: string | null): string =>
      columnsOf(nodeTable([idleNode({ spec: { ...idleNode().spec, version: wanted } })], wide), 1)[4] ?? '';
    expect([version(null), version('1.20.0'), version('1.21.0')]).toEqual(['1.20.0', '1.20.0', '1.20.0 → 1.21.0']);
  });

  test('colour their crashes, their phase and their retry', () => {
    const table = nodeTable([crashedNode(), idleNode()], { ...wide, colour: true });
    expect(table).toContain('\u001b[1m\u001b[31m3\u001b[39m\u001b[22m');
    expect(table).toContain('\u001b[2m0\u001b[22m');
    expect(table).toContain('\u001b[1m\u001b[31mretry in 12 s\u001b[39m\u001b[22m');
    expect(table).toContain('\u001b[32mIdle\u001b[39m');
    expect(table).toContain('\u001b[2mNODE\u001b[22m');
  });

  test('give up their columns one after the other on a narrow screen', () => {
    const titles = (width: number): string[] => columnsOf(nodeTable([crashedNode()], { ...wide, width }));
    expect(titles(103)).toContain('VERSION');
    expect(titles(95)).not.toContain('VERSION');
    expect(titles(84)).not.toContain('STEP');
    expect(titles(79)).toEqual(['NODE', 'PHASE', 'CRASHES', 'NEXT', 'WHY']);
    expect(titles(78)).toEqual(['NODE', 'PHASE', 'NEXT', 'WHY']);
    expect(titles(50)).toEqual(['NODE', 'PHASE', 'WHY']);
    expect(titles(10)).toEqual(['NODE', 'PHASE', 'WHY']);
  });

  test.each<[NonNullable<NodeJson['status']>['updateCheck'], string]>([
    [{ result: 'UpToDate', version: '9' }, 'up to date'],
    [{ result: 'Available', version: '9' }, '9 is available'],
    [{ result: 'Available' }, 'a newer version is available'],
    [{ result: 'Failed', message: 'no route' }, 'update check failed: no route'],
    [{ result: 'Failed' }, 'update check failed: no reason given'],
  ])('%j is said in words', (check, said) => {
    expect(sayUpdateCheck(check)).toBe(said);
  });

  test('in full have every field, with its tone', () => {
    const node = crashedNode({
      blockedVersions: ['1', '2'],
      heldBy: 'ann',
      spec: { ...idleNode().spec, version: '9' },
    });
    expect(fieldsOf(nodeFields(node, plain))).toEqual([
      `Explanation: ${node.explanation} [bad]`,
      `Node: ${node.nodeId}`,
      'Phase: BackingOff [bad]',
      'Group: canary',
      'Wanted state: Idle',
      'Wanted since: 2026-01-05T00:00:00.000Z',
      'Wanted version: 9',
      'Generation: 7',
      'Reported state: Idle',
      'Reported at: 2026-01-05T00:09:48.000Z',
      'Running version: 1.20.0',
      'Update check: up to date',
      'Boot id: boot-1',
      'Agent version: 0.1.0',
      'Crashes: 3 [bad]',
      'First crash: 2026-01-05T00:05:00.000Z',
      'Last crash: 2026-01-05T00:09:40.000Z',
      'Failed to reach: PerformedUpdate',
      'Reason: ActivateFailed',
      'Message: exit status 1',
      'Retry: 2026-01-05T00:10:12.000Z',
      'Record cleared: 2026-01-06T00:05:00.000Z',
      'Blocked versions: 1, 2',
      'Held by: ann [warn]',
    ]);
    expect(fieldsOf(nodeFields(idleNode({ status: null }), plain)).slice(6)).toEqual([
      'Wanted version: none',
      'Generation: 7',
      'Reported state: never reported [warn]',
      'Crashes: 0',
      'Blocked versions: none',
      'Held by: nobody',
    ]);
    const bare = idleNode({ status: status({ agentVersion: null, updateCheck: { result: 'Failed' } }) });
    expect(fieldsOf(nodeFields(bare, plain))).toEqual(
      expect.arrayContaining(['Agent version: not said', 'Update check: update check failed: no reason given [warn]']),
    );
  });

  test('in rows have the columns that help texts name', () => {
    expect(NODE_ROW.split(' ')).toHaveLength(nodeRows([idleNode()]).split('\t').length);
    expect(nodeRows([idleNode({ spec: { ...idleNode().spec, version: '9' } })]).split('\t')[6]).toBe('9');
    expect(NODE_ROW).toBe(
      'nodeId group phase specState reportedState currentVersion wantedVersion crashCount retryAfter reportedAt explanation',
    );
  });
});
