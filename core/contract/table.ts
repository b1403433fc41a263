/**
 * The one table's keys and indexes, as plain data: `infra/` deploys them, `local/` creates them, `functions/` queries them.
 * Each index is sparse (an item without its two attributes is not in it) and holds keys only: an index proposes, the item decides.
 */

/** The names of the two string attributes of a primary or index key. */
export interface KeyAttributes {
  readonly partition: string;
  readonly sort: string;
}

export const TABLE = {
  /** The table's primary key. */
  key: { partition: 'pk', sort: 'sk' },
  /** Where DynamoDB finds an item's end of life, in epoch seconds; reads filter for themselves, deletion is lazy. */
  timeToLiveAttribute: 'expiresAt',
  /** Index name → key attributes. */
  indexes: {
    /** Listing by kind without a table scan. */
    list: { partition: 'lpk', sort: 'lsk' },
    /** The members of a group, in queue order. */
    members: { partition: 'gpk', sort: 'gsk' },
    /** Everything that waits, sharded, by the instant it falls due. */
    due: { partition: 'dpk', sort: 'dsk' },
    /** What a person should look at; the sweep's gauges are counted from it. */
    attention: { partition: 'apk', sort: 'ask' },
    /** The VMs of a host. */
    host: { partition: 'hpk', sort: 'hsk' },
  },
} as const satisfies {
  readonly key: KeyAttributes;
  readonly timeToLiveAttribute: string;
  readonly indexes: Readonly<Record<string, KeyAttributes>>;
};

/** An index of the table. */
export type IndexName = keyof typeof TABLE.indexes;
