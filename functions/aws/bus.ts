/** Events leave on our own bus (DESIGN section 6). They may be lost: the item's last 20 and the gauges are not. */
import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import type { EventEntry } from '../../core/contract/answers.ts';
import { EVENT_SOURCE } from '../../core/contract/names.ts';
import type { Bus } from '../ports.ts';

const BATCH_MAX = 10;

export class EventBridgeBus implements Bus {
  readonly #client: EventBridgeClient;
  readonly #bus: string;

  constructor(client: EventBridgeClient, bus: string) {
    this.#client = client;
    this.#bus = bus;
  }

  /** @throws when an entry was refused */
  async publish(entries: readonly EventEntry[]): Promise<void> {
    for (let from = 0; from < entries.length; from += BATCH_MAX) {
      const answer = await this.#client.send(
        new PutEventsCommand({
          Entries: entries.slice(from, from + BATCH_MAX).map((entry) => ({
            EventBusName: this.#bus,
            Source: EVENT_SOURCE,
            DetailType: entry.type,
            Detail: JSON.stringify(entry),
          })),
        }),
      );
      const refusedEntry = answer.Entries?.find((entry) => entry.ErrorCode !== undefined);
      if (refusedEntry !== undefined)
        throw new Error(
          `PutEvents refused an entry: ${refusedEntry.ErrorCode ?? ''} ${refusedEntry.ErrorMessage ?? ''}`,
        );
    }
  }
}
