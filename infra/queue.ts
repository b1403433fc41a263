import { Duration, Validations } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

export interface WorkQueueProps {
  readonly queueName: string;
  /** The consumer's timeout; the queue hides a message for six times as long, as AWS advises. */
  readonly consumerTimeout: Duration;
  /** Where a message goes that has been received five times in vain. */
  readonly deadLetters: Queue;
  /** How long a message is worth delivering. */
  readonly retention: Duration;
  readonly key: IKey | null;
}

/**
 * A key of the user's in place of SQS's own. By the property and not by CDK's, whose grants on the queue would bring
 * grants on the key that are wider than ours (`grantKey`).
 */
function encrypt(queue: Queue, key: IKey | null): void {
  if (key === null) return;
  const { defaultChild } = queue.node;
  if (!(defaultChild instanceof CfnQueue)) throw new TypeError('a Queue is made of a CfnQueue');
  defaultChild.kmsMasterKeyId = key.keyArn;
  defaultChild.sqsManagedSseEnabled = undefined;
}

/** A queue whose messages one function consumes. */
export class WorkQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, props: WorkQueueProps) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      queueName: props.queueName,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.seconds(props.consumerTimeout.toSeconds() * 6),
      retentionPeriod: props.retention,
      deadLetterQueue: { queue: props.deadLetters, maxReceiveCount: 5 },
    });
    encrypt(this.queue, props.key);
  }
}

/** A queue where nothing should ever be: an alarm watches it, a person empties it. */
export class DeadLetterQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, queueName: string, key: IKey | null) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      queueName,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    encrypt(this.queue, key);
    const reason = 'This is a dead-letter queue: an alarm says when something is in it.';
    Validations.of(this.queue).acknowledge(
      { id: 'AwsSolutions-SQS3', reason },
      { id: 'Serverless-SQSRedrivePolicy', reason },
    );
  }
}
