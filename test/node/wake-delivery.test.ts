/** Wakes on their way to SSM (DESIGN section 5): one command for many nodes, and what was not sent is tried again. */
import { InvalidInstanceId, type SendCommandCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { describe, expect, test } from 'vitest';
import { wakeNodes, type WakeTarget } from '../../functions/aws/run-command.ts';

const node = (n: number): string => `i-${n.toString(16).padStart(17, '0')}`;
const targets = (count: number): WakeTarget[] =>
  Array.from({ length: count }, (_, n) => ({ nodeId: node(n), generation: n % 3 === 0 ? null : n }));

/** SSM as far as it is used: it refuses a command with a node that it does not know, and may throttle from some command on. */
function ssmThat({ unknown = [], throttlesFrom = Infinity }: { unknown?: string[]; throttlesFrom?: number }) {
  const commands: { nodes: string[]; parameters: Record<string, string[]> }[] = [];
  let asked = 0;
  const send = ({ input }: SendCommandCommand): Promise<object> => {
    asked += 1;
    const nodes = input.InstanceIds ?? [];
    if (asked >= throttlesFrom) return Promise.reject(new Error('ThrottlingException: Rate exceeded'));
    if (nodes.some((id) => unknown.includes(id)))
      return Promise.reject(new InvalidInstanceId({ message: 'unknown', $metadata: {} }));
    commands.push({ nodes, parameters: input.Parameters ?? {} });
    return Promise.resolve({});
  };
  // Only `send` is called.
  return { commands, client: { send } as unknown as SSMClient };
}

describe('wakes', () => {
  test('of 120 nodes are three commands, whatever each node is woken for, and each node is named once', async () => {
    const { commands, client } = ssmThat({});
    const twice = [...targets(120), { nodeId: node(5), generation: 99 }];
    expect(await wakeNodes(client, 'wake', twice, 'id')).toEqual({ unregistered: [], unsent: null });
    expect(commands.map(({ nodes }) => nodes.length)).toEqual([50, 50, 20]);
    expect(new Set(commands.flatMap(({ nodes }) => nodes)).size).toBe(120);
    expect(commands.map(({ parameters }) => parameters['generation'])).toEqual([['0'], ['0'], ['0']]);
    expect(new Set(commands.map(({ parameters }) => parameters['wakeId']?.[0])).size).toBe(3);
  });

  test('of a node that SSM does not know are named, and keep nobody else waiting', async () => {
    const { commands, client } = ssmThat({ unknown: [node(7), node(31)] });
    const outcome = await wakeNodes(client, 'wake', targets(50), 'id');
    expect(outcome).toEqual({
      unregistered: [
        { nodeId: node(7), generation: 7 },
        { nodeId: node(31), generation: 31 },
      ],
      unsent: null,
    });
    expect(commands.flatMap(({ nodes }) => nodes)).toHaveLength(48);
  });

  test('that SSM throttles are given back, and those that it took are not', async () => {
    const { commands, client } = ssmThat({ throttlesFrom: 2 });
    const { unsent } = await wakeNodes(client, 'wake', targets(120), 'id');
    expect(commands.flatMap(({ nodes }) => nodes)).toHaveLength(50);
    expect(unsent?.targets.map(({ nodeId }) => nodeId)).toEqual(
      targets(120)
        .slice(50)
        .map(({ nodeId }) => nodeId),
    );
    expect(String(unsent?.error)).toContain('Rate exceeded');
  });

  test('in the middle of looking for a node that is not known are given back from there on', async () => {
    const { commands, client } = ssmThat({ unknown: [node(0)], throttlesFrom: 3 });
    const { unsent } = await wakeNodes(client, 'wake', targets(4), 'id');
    expect(commands).toEqual([]);
    expect(unsent?.targets.map(({ nodeId }) => nodeId)).toEqual([node(0), node(1), node(2), node(3)]);
  });
});
