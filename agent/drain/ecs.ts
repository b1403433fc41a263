/**
 * Draining an ECS container instance: DRAINING, then wait until no task is left. Ownership is a custom attribute of the
 * instance, so that it survives a lost record, and an operator's DRAINING is never taken for ours (EU#14).
 */
import * as z from 'zod/mini';
import type { AwsCall } from '../api/aws.ts';
import { AgentError } from '../failure.ts';
import { exchange } from '../http/exchange.ts';
import type { DrainOutcome } from '../node/drain-record.ts';
import { type DrainAdapter, DONE } from './adapter.ts';

const MARK = 'holdoff.draining';
const OURS = 'draining';

const metadataSchema = z.object({ Cluster: z.string(), ContainerInstanceArn: z.string() });
const instanceSchema = z.object({
  status: z.string(),
  runningTasksCount: z.optional(z.number()),
  pendingTasksCount: z.optional(z.number()),
  attributes: z.optional(z.array(z.object({ name: z.string(), value: z.optional(z.string()) }))),
});
const describeSchema = z.object({ containerInstances: z.array(instanceSchema) });
const listSchema = z.object({ taskArns: z.array(z.string()), nextToken: z.optional(z.nullable(z.string())) });
const tasksSchema = z.object({
  tasks: z.array(z.object({ taskArn: z.string(), group: z.optional(z.string()), startedBy: z.optional(z.string()) })),
});
/** DescribeTasks takes so many. */
const DESCRIBED_MAX = 100;

type Place = z.infer<typeof metadataSchema>;

/** @param introspection the ECS agent's local endpoint, which says which cluster and instance this is */
export function ecsAdapter(call: AwsCall, introspection: string, nodeId: string, timeoutMs: number): DrainAdapter {
  const ecs = async (action: string, input: unknown): Promise<unknown> => {
    const headers = {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `AmazonEC2ContainerServiceV20141113.${action}`,
    };
    return JSON.parse(await call(headers, JSON.stringify(input)));
  };
  const place = async (): Promise<Place> => {
    const url = new URL(`${introspection}/v1/metadata`);
    const { status, text } = await exchange({ method: 'GET', url, headers: {}, timeoutMs });
    if (status !== 200) throw new AgentError('Host', `the ECS agent answered ${status} to /v1/metadata`);
    return metadataSchema.parse(JSON.parse(text));
  };
  const look = async ({ Cluster, ContainerInstanceArn }: Place) => {
    const answer = await ecs('DescribeContainerInstances', {
      cluster: Cluster,
      containerInstances: [ContainerInstanceArn],
    });
    const instance = describeSchema.parse(answer).containerInstances[0];
    if (instance === undefined || instance.status === 'INACTIVE') return null;
    const marked = instance.attributes?.some(({ name, value }) => name === MARK && value === nodeId) === true;
    return {
      draining: instance.status === 'DRAINING',
      marked,
      tasks: (instance.runningTasksCount ?? 0) + (instance.pendingTasksCount ?? 0),
    };
  };
  const mark = ({ Cluster, ContainerInstanceArn }: Place, action: 'PutAttributes' | 'DeleteAttributes') =>
    ecs(action, {
      cluster: Cluster,
      attributes: [{ name: MARK, value: nodeId, targetType: 'container-instance', targetId: ContainerInstanceArn }],
    });
  const set = ({ Cluster, ContainerInstanceArn }: Place, status: 'DRAINING' | 'ACTIVE') =>
    ecs('UpdateContainerInstancesState', { cluster: Cluster, containerInstances: [ContainerInstanceArn], status });
  const tasks = async ({ Cluster, ContainerInstanceArn }: Place): Promise<{ left: string[]; standalone: string[] }> => {
    const arns: string[] = [];
    let nextToken: string | null = null;
    do {
      const page: z.infer<typeof listSchema> = listSchema.parse(
        await ecs('ListTasks', {
          cluster: Cluster,
          containerInstance: ContainerInstanceArn,
          ...(nextToken === null ? {} : { nextToken }),
        }),
      );
      arns.push(...page.taskArns);
      nextToken = page.nextToken ?? null;
    } while (nextToken !== null);
    if (arns.length === 0) return { left: [], standalone: [] };
    const described: z.infer<typeof tasksSchema>['tasks'] = [];
    for (let from = 0; from < arns.length; from += DESCRIBED_MAX) {
      const page = await ecs('DescribeTasks', { cluster: Cluster, tasks: arns.slice(from, from + DESCRIBED_MAX) });
      described.push(...tasksSchema.parse(page).tasks);
    }
    const name = ({ taskArn, group }: { taskArn: string; group?: string | undefined }): string =>
      `task ${taskArn.split('/').at(-1) ?? taskArn} (${group ?? 'no group'})`;
    return {
      left: described.map(name),
      // DRAINING moves the tasks of services; a task that no service started stays until it ends by itself (EU#43).
      standalone: described.filter(({ group }) => group?.startsWith('service:') !== true).map(name),
    };
  };

  return {
    survey: async () => {
      const here = await place();
      const instance = await look(here);
      if (instance === null)
        return { kind: 'impossible', message: 'this node is no active container instance of its cluster' };
      const mine = instance.draining && !instance.marked ? [] : [OURS];
      // What DRAINING cannot move is known before anything is: the tasks of services go on here meanwhile.
      const { standalone } = instance.draining || instance.tasks === 0 ? { standalone: [] } : await tasks(here);
      if (standalone.length === 0) return { kind: 'surveyed', mine };
      return { kind: 'blocked', mine, blockedBy: standalone.map((task) => `${task}, which no service started`) };
    },
    drain: async (mine) => {
      const here = await place();
      const instance = await look(here);
      if (instance === null)
        return { kind: 'impossible', message: 'this node is no active container instance of its cluster' };
      if (mine.includes(OURS)) {
        if (!instance.marked) await mark(here, 'PutAttributes');
        if (!instance.draining) await set(here, 'DRAINING');
      }
      if (instance.draining && instance.tasks === 0) return DONE;
      const { left, standalone } = await tasks(here);
      const outcome: DrainOutcome = { kind: 'waiting', left, blockedBy: standalone };
      return outcome;
    },
    undo: async (mine) => {
      if (mine !== null && !mine.includes(OURS)) return DONE;
      const here = await place();
      const instance = await look(here);
      // Without the mark it was never ours; an instance that is gone needs nothing back.
      if (instance === null || !instance.marked) return DONE;
      if (instance.draining) await set(here, 'ACTIVE');
      await mark(here, 'DeleteAttributes');
      return DONE;
    },
  };
}
