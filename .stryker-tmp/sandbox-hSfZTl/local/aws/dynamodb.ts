// @ts-nocheck
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  type CreateTableInput,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { EmbeddedAwsError } from './errors.ts';
import { openPort } from './loopback.ts';

export interface DynamoDbOptions {
  readonly port?: number;
  /** Directory of the database. One process at a time. */
  readonly path: string;
  readonly region: string;
  /** Created when it is absent; one of the same name with other keys is refused. */
  readonly table: CreateTableInput;
}

export interface EmbeddedDynamoDb {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Starts DynamoDB by dynalite, on disk. LevelDB has each write handed to the kernel before it is answered, so that a
 * kill of the process loses nothing. What dynalite lacks is in facts/aws-services.md, section 7.
 */
export async function startDynamoDb(options: DynamoDbOptions): Promise<EmbeddedDynamoDb> {
  mkdirSync(options.path, { recursive: true });
  await tryDatabase(options.path);
  const server = dynalite({ path: options.path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const port = await openPort(server, options.port ?? 0);
  try {
    await ensureTable(port.url, options);
  } catch (error) {
    await port.close();
    throw error;
  }
  return { url: port.url, close: port.close };
}

interface Database {
  open(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens and closes the database once, with the library dynalite has: when it cannot be opened, because another process
 * holds its lock, dynalite ends the whole process with an uncaught exception at its first request.
 */
async function tryDatabase(path: string): Promise<void> {
  // The cast holds: `level`, which is a dependency of dynalite and not of ours, exports this class (level 10).
  const { Level } = createRequire(import.meta.resolve('dynalite'))('level') as {
    Level: new (path: string) => Database;
  };
  const database = new Level(path);
  try {
    await database.open();
    await database.close();
  } catch (error) {
    const message = `the database in ${path} does not open; is another process using it?`;
    throw new EmbeddedAwsError('DataDirInUse', message, { cause: error });
  }
}

async function ensureTable(endpoint: string, { region, table, path }: DynamoDbOptions): Promise<void> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint, region, credentials, maxAttempts: 1 });
  try {
    const found = await describe(client, table.TableName);
    if (found === null) await client.send(new CreateTableCommand(table));
    for (let status = found?.TableStatus; status !== 'ACTIVE';) {
      await pause(5);
      status = (await describe(client, table.TableName))?.TableStatus;
    }
    const different = found === null ? null : difference(found, table);
    if (different !== null) {
      const message = `the table ${table.TableName} in ${path} has other ${different}; it was made by another version`;
      throw new EmbeddedAwsError('TableDiffers', message);
    }
  } catch (error) {
    if (error instanceof EmbeddedAwsError) throw error;
    throw new EmbeddedAwsError('TableDiffers', `the table cannot be made in ${path}`, { cause: error });
  } finally {
    client.destroy();
  }
}

async function describe(client: DynamoDBClient, name: string | undefined): Promise<TableDescription | null> {
  try {
    const answer = await client.send(new DescribeTableCommand({ TableName: name }));
    return answer.Table ?? null;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return null;
    throw error;
  }
}

/** What of a table's shape differs from what is asked for, or null. */
function difference(found: TableDescription, wanted: CreateTableInput): string | null {
  const keys = (schema: TableDescription['KeySchema']): string =>
    (schema ?? []).map(({ AttributeName, KeyType }) => `${KeyType}:${AttributeName}`).join();
  if (keys(found.KeySchema) !== keys(wanted.KeySchema)) return 'keys';
  const indexes = (list: TableDescription['GlobalSecondaryIndexes']): string =>
    (list ?? [])
      .map(({ IndexName, KeySchema }) => `${IndexName}=${keys(KeySchema)}`)
      .sort()
      .join();
  return indexes(found.GlobalSecondaryIndexes) === indexes(wanted.GlobalSecondaryIndexes) ? null : 'indexes';
}
