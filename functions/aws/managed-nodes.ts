/** Which nodes SSM knows: DescribeInstanceInformation lists a managed node until it is deregistered or terminated. */
import { DescribeInstanceInformationCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { type NodeId, parseNodeId } from '../../core/kit/ids.ts';
import type { NodeRegistry } from '../ports.ts';

/** The most that SSM gives in one answer. */
const PAGE_MAX = 50;

export class ManagedNodes implements NodeRegistry {
  readonly #ssm: SSMClient;

  constructor(ssm: SSMClient) {
    this.#ssm = ssm;
  }

  /**
   * @param nodeIds at most 50
   * @throws whatever SSM answers: then nothing is known about any of them
   */
  async known(nodeIds: readonly NodeId[]): Promise<ReadonlySet<NodeId>> {
    const found = new Set<NodeId>();
    let token: string | undefined;
    do {
      const page = await this.#ssm.send(
        new DescribeInstanceInformationCommand({
          Filters: [{ Key: 'InstanceIds', Values: [...nodeIds] }],
          MaxResults: PAGE_MAX,
          ...(token === undefined ? {} : { NextToken: token }),
        }),
      );
      for (const { InstanceId } of page.InstanceInformationList ?? []) {
        const nodeId = parseNodeId(InstanceId ?? '');
        if (nodeId !== null) found.add(nodeId);
      }
      token = page.NextToken;
    } while (token !== undefined && token !== '');
    return found;
  }
}
