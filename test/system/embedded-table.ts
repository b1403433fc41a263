/** A table on dynalite, on disk, for the tests of one file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { startDynamoDb } from '../../local/aws/dynamodb.ts';
import { tableInput } from '../../local/table-input.ts';

/** @returns the client, once the first test of the file runs */
export function embeddedTable(name: string): () => DynamoDBClient {
  const dir = mkdtempSync(join(tmpdir(), `holdoff-${name}-`));
  let embedded: Awaited<ReturnType<typeof startDynamoDb>> | null = null;
  let client: DynamoDBClient | null = null;
  beforeAll(async () => {
    embedded = await startDynamoDb({ path: dir, region: 'us-east-1', table: tableInput() });
    const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'test' };
    client = new DynamoDBClient({ endpoint: embedded.url, region: 'us-east-1', credentials });
  });
  afterAll(async () => {
    client?.destroy();
    await embedded?.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return () => {
    if (client === null) throw new Error('the table is asked for before the tests begin');
    return client;
  };
}
