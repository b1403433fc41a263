/** Wakes leave through a queue; its consumer sends them to SSM in batches (DESIGN section 5). */
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Instant } from '../../core/kit/time.ts';
import type { Wake, Wakes } from '../ports.ts';

/** A wake on its way: what the agent is told is opaque, and it looks up the rest. */
export type WakeMessage = { nodeId: string; generation: number };

export class SqsWakes implements Wakes {
  readonly #sqs: SQSClient;
  readonly #queueUrl: string;

  constructor(sqs: SQSClient, queueUrl: string) {
    this.#sqs = sqs;
    this.#queueUrl = queueUrl;
  }

  async send({ ref, hostId, generation }: Wake, _now: Instant): Promise<void> {
    // A VM's wake names no generation of the node's: the agent asks what should run.
    const message: WakeMessage = { nodeId: hostId, generation: ref.kind === 'node' ? generation : 0 };
    await this.#sqs.send(new SendMessageCommand({ QueueUrl: this.#queueUrl, MessageBody: JSON.stringify(message) }));
  }
}
