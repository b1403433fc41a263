// @ts-nocheck
import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type AttributeValue,
  type CreateTableInput,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { startDynamoDb } from '../../local/aws/dynamodb.ts';
import { CLIENT, closing, codeOf, dataDir, REGION } from './surroundings.ts';

const TABLE: CreateTableInput = {
  TableName: 'holdoff',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'due', AttributeType: 'S' },
  ],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'due',
      KeySchema: [{ AttributeName: 'due', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
};
const start = (path: string, table = TABLE) => startDynamoDb({ path, region: REGION, table });

describe('the embedded DynamoDB', () => {
  it('has its table, and keeps what was written over a restart', async () => {
    const path = dataDir();
    const first = await start(path);
    const Item: Record<string, AttributeValue> = { pk: { S: 'NODE#i-0' }, revision: { N: '1' } };
    const before = new DynamoDBClient({ ...CLIENT, endpoint: first.url });
    await before.send(new PutItemCommand({ TableName: 'holdoff', Item }));
    await first.close();
    const second = closing(await start(path));
    const after = new DynamoDBClient({ ...CLIENT, endpoint: second.url });
    const Key = { pk: { S: 'NODE#i-0' } };
    const found = await after.send(new GetItemCommand({ TableName: 'holdoff', Key, ConsistentRead: true }));
    expect(found.Item).toEqual(Item);
  });

  it('honours the condition of a write', async () => {
    const { url } = closing(await start(dataDir()));
    const client = new DynamoDBClient({ ...CLIENT, endpoint: url });
    const put = () =>
      client.send(
        new PutItemCommand({
          TableName: 'holdoff',
          Item: { pk: { S: 'a' } },
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
      );
    const codes = await Promise.all([codeOf(put()), codeOf(put()), codeOf(put())]);
    expect(codes.toSorted()).toEqual([
      'ConditionalCheckFailedException',
      'ConditionalCheckFailedException',
      'no error',
    ]);
  });

  it('refuses a table that another version made', async () => {
    const path = dataDir();
    await (await start(path)).close();
    const { GlobalSecondaryIndexes: _, ...table } = TABLE;
    const AttributeDefinitions = [{ AttributeName: 'pk', AttributeType: 'S' as const }];
    await expect(start(path, { ...table, AttributeDefinitions })).rejects.toMatchObject({ code: 'TableDiffers' });
  });

  it('refuses a directory that is in use', async () => {
    const path = dataDir();
    closing(await start(path));
    await expect(start(path)).rejects.toMatchObject({ code: 'DataDirInUse' });
  });
});
