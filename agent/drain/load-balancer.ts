/**
 * Leaving load balancers: deregister from the target groups, wait until their deregistration delay has run out, and come
 * back after the boot. Waits for the fact, not for a fixed time (BU#156).
 */
import type { AwsCall } from '../api/aws.ts';
import { type DrainAdapter, DONE } from './adapter.ts';

type Target = { group: string; port: string; state: string };

export function loadBalancerAdapter(groups: readonly string[], call: AwsCall, nodeId: string): DrainAdapter {
  const elb = (action: string, input: Record<string, string>): Promise<string> =>
    call(
      { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      new URLSearchParams({ Action: action, Version: '2015-12-01', ...input }).toString(),
    );
  const registered = async (): Promise<Target[]> => {
    const lists = await Promise.all(
      groups.map(async (group) => {
        const text = await elb('DescribeTargetHealth', { TargetGroupArn: group });
        return readTargets(text, nodeId).map((target) => ({ group, ...target }));
      }),
    );
    return lists.flat();
  };
  const change = (action: 'DeregisterTargets' | 'RegisterTargets', { group, port }: { group: string; port: string }) =>
    elb(action, { TargetGroupArn: group, 'Targets.member.1.Id': nodeId, 'Targets.member.1.Port': port });

  return {
    survey: async () => {
      if (!nodeId.startsWith('i-')) {
        return { kind: 'impossible', message: `target groups hold EC2 instances, and ${nodeId} is none` };
      }
      const targets = await registered();
      return { kind: 'surveyed', mine: targets.filter(({ state }) => state !== 'draining').map(keyOf) };
    },
    drain: async (mine) => {
      const left = await registered();
      const ours = left.filter((target) => target.state !== 'draining' && mine.includes(keyOf(target)));
      for (const target of ours) await change('DeregisterTargets', target);
      if (left.length === 0) return DONE;
      return { kind: 'waiting', left: left.map(sayTarget), blockedBy: [] };
    },
    // With the record lost nothing proves that we deregistered it: an operator may have. It is left, and said.
    undo: async (mine) => {
      for (const key of mine ?? []) {
        const [group = '', port = ''] = key.split(' ');
        await change('RegisterTargets', { group, port });
      }
      return DONE;
    },
  };
}

const keyOf = ({ group, port }: Target): string => `${group} ${port}`;
const sayTarget = ({ group, port, state }: Target): string =>
  `port ${port} in ${group.split('/')[1] ?? group} (${state})`;

/** The targets of one instance in the XML of DescribeTargetHealth; a target that is `unused` receives nothing. */
export function readTargets(xml: string, instanceId: string): { port: string; state: string }[] {
  return [...xml.matchAll(/<member>([\s\S]*?)<\/member>/g)].flatMap(([, member = '']) => {
    const id = /<Id>([^<]+)<\/Id>/.exec(member)?.[1];
    const port = /<Target>[\s\S]*?<Port>(\d+)<\/Port>/.exec(member)?.[1];
    const state = /<State>([^<]+)<\/State>/.exec(member)?.[1] ?? 'unknown';
    return id === instanceId && port !== undefined && state !== 'unused' ? [{ port, state }] : [];
  });
}
