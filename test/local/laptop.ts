import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startEmbeddedAws, NO_FAULTS, type EmbeddedAws, type EmbeddedHandlers } from '../../local/aws/index.ts';
import { WAKE_DOCUMENT } from '../../core/contract/wake-document.ts';

/** A small laptop: one table, one timer, one queue, one bus, one document. */
export function startLaptop(dataDir: string, handlers: Partial<EmbeddedHandlers> = {}): Promise<EmbeddedAws> {
  return startEmbeddedAws({
    dataDir,
    seed: 1,
    faults: NO_FAULTS,
    table: {
      TableName: 'holdoff',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    },
    scheduleGroups: ['holdoff'],
    queues: [{ name: 'vernier' }, { name: 'timer-dead' }],
    eventBuses: ['holdoff'],
    documents: { 'holdoff-wake': WAKE_DOCUMENT },
    retryDelaysMs: [5, 5],
    notice: () => undefined,
    connect: (aws) => {
      Object.assign(process.env, aws.env);
      return { api: async () => ({ statusCode: 200 }), functions: {}, consumers: {}, subscribers: [], ...handlers };
    },
  });
}

/** Uses every store of the laptop once: an item, a timer that is soon due, a message. */
export async function fillLaptop(aws: EmbeddedAws): Promise<void> {
  await new DynamoDBClient().send(new PutItemCommand({ TableName: 'holdoff', Item: { pk: { S: 'kept' } } }));
  const soon = new Date(Math.ceil(Date.now() / 1000) * 1000 + 5000).toISOString().slice(0, 19);
  await new SchedulerClient().send(
    new CreateScheduleCommand({
      Name: 'soon',
      GroupName: 'holdoff',
      ScheduleExpression: `at(${soon})`,
      ScheduleExpressionTimezone: 'UTC',
      FlexibleTimeWindow: { Mode: 'OFF' },
      ActionAfterCompletion: 'DELETE',
      Target: {
        Arn: aws.functionArn('timer'),
        RoleArn: aws.roleArn('scheduler'),
        Input: '{"id":"soon"}',
        DeadLetterConfig: { Arn: aws.queueArn('timer-dead') },
      },
    }),
  );
  const message = { QueueUrl: aws.queueUrl('vernier'), MessageBody: 'soon', DelaySeconds: 1 };
  await new SQSClient().send(new SendMessageCommand(message));
}
