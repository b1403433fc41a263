/** The event log in the table: one partition a day, thirty days kept (DESIGN section 6). */
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import type { EventEntry } from '../../core/contract/answers.ts';
import { TABLE } from '../../core/contract/table.ts';
import { formatInstant, hours, type Instant, instant, parseInstant } from '../../core/kit/time.ts';
import type { EventLog, Page } from '../ports.ts';
import { fromAttributes, toAttributes } from './attributes.ts';

const DAYS_KEPT = 30;
const DAY = hours(24);
const { partition, sort } = TABLE.key;

const dayOf = (at: Instant): string => formatInstant(at).slice(0, 10);

export class DynamoEventLog implements EventLog {
  readonly #client: DynamoDBClient;
  readonly #table: string;

  constructor(client: DynamoDBClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  /** An event delivered twice is kept once: its id is part of its key. */
  async append(entries: readonly EventEntry[]): Promise<void> {
    await Promise.all(
      entries.map(async (entry) => {
        const at = parseInstant(entry.at);
        if (at === null) return;
        const item = {
          [partition]: `events#${dayOf(at)}`,
          [sort]: `${entry.at}#${entry.id}`,
          entry,
          [TABLE.timeToLiveAttribute]: Math.ceil((at + DAYS_KEPT * DAY) / 1000),
        };
        try {
          await this.#client.send(
            new PutItemCommand({
              TableName: this.#table,
              Item: toAttributes(item),
              ConditionExpression: 'attribute_not_exists(#p)',
              ExpressionAttributeNames: { '#p': partition },
            }),
          );
        } catch (error) {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
        }
      }),
    );
  }

  /** Newest first; the cursor is the key of the last entry given. */
  async read(limit: number, cursor: string | null, now: Instant): Promise<Page<EventEntry>> {
    const items: { key: string; entry: EventEntry }[] = [];
    const from = cursor === null ? null : parseInstant(cursor.slice(0, cursor.indexOf('#')));
    for (let day = 0; day <= DAYS_KEPT && items.length <= limit; day += 1) {
      const at = instant((from ?? now) - day * DAY);
      items.push(...(await this.#day(dayOf(at), limit + 1 - items.length, day === 0 ? cursor : null)));
    }
    const page = items.slice(0, limit);
    return { items: page.map(({ entry }) => entry), cursor: items.length > limit ? (page.at(-1)?.key ?? null) : null };
  }

  async #day(day: string, limit: number, before: string | null): Promise<{ key: string; entry: EventEntry }[]> {
    const { Items: found = [] } = await this.#client.send(
      new QueryCommand({
        TableName: this.#table,
        KeyConditionExpression: `#p = :p${before === null ? '' : ' AND #s < :s'}`,
        ExpressionAttributeNames: { '#p': partition, ...(before === null ? {} : { '#s': sort }) },
        ExpressionAttributeValues: toAttributes({
          ':p': `events#${day}`,
          ...(before === null ? {} : { ':s': before }),
        }),
        ScanIndexForward: false,
        Limit: limit,
      }),
    );
    return found.map((item) => {
      const raw = fromAttributes(item);
      // `append` is the only writer of this partition.
      return { key: String(raw[sort]), entry: raw['entry'] as EventEntry };
    });
  }
}
