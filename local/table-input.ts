/** The table as the embedded DynamoDB creates it, from the same data that `infra/` deploys. */
import type { CreateTableInput } from '@aws-sdk/client-dynamodb';
import { type IndexName, TABLE } from '../core/contract/table.ts';

export const LOCAL_TABLE = 'holdoff';

export function tableInput(): CreateTableInput {
  // The keys of a literal object are exactly its declared names.
  const names = Object.keys(TABLE.indexes) as IndexName[];
  const attributes = [TABLE.key, ...names.map((name) => TABLE.indexes[name])].flatMap(({ partition, sort }) => [
    partition,
    sort,
  ]);
  return {
    TableName: LOCAL_TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: keySchema(TABLE.key),
    GlobalSecondaryIndexes: names.map((IndexName) => ({
      IndexName,
      KeySchema: keySchema(TABLE.indexes[IndexName]),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })),
  };
}

const keySchema = ({
  partition,
  sort,
}: {
  partition: string;
  sort: string;
}): NonNullable<CreateTableInput['KeySchema']> => [
  { AttributeName: partition, KeyType: 'HASH' },
  { AttributeName: sort, KeyType: 'RANGE' },
];
