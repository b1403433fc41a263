/** Wakes leave through a queue; its consumer sends them to SSM in batches (DESIGN section 5). */
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Instant } from '../../core/kit/time.ts';
import type { WakeMessage } from '../messages.ts';
import type { Wake, Wakes } from '../ports.ts';

export class SqsWakes implements Wakes {
  readonly #sqs: SQSClient;
  readonly #queueUrl: string;

  constructor(sqs: SQSClient, queueUrl: string) {
    this.#sqs = sqs;
    this.#queueUrl = queueUrl;
  }

  async send({ hostId, generation }: Wake, _now: Instant): Promise<void> {
    const message: WakeMessage = { nodeId: hostId, generation };
    await this.#sqs.send(new SendMessageCommand({ QueueUrl: this.#queueUrl, MessageBody: JSON.stringify(message) }));
  }
}
