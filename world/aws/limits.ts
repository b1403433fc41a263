/**
 * What DynamoDB takes of one key in a second, and how large an item is to it (docs/facts/aws-services.md section 4):
 * 1,000 write units of 1 KB each and 3,000 read units of 4 KB. A write whose condition fails is counted like any other.
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';

const UNITS = { write: 1_000, read: 3_000 } as const;
const BYTES = { write: 1_024, read: 4_096 } as const;

export type Access = keyof typeof UNITS;

type Bucket = { left: number; at: number };

/** What is left for each key; refilled as time goes on, never above what one second gives. */
export class KeyLimits {
  readonly #buckets = new Map<string, Bucket>();

  /** @returns false when the key has had its share of this second */
  allows(access: Access, key: string, bytes: number, now: number): boolean {
    const most = UNITS[access];
    const bucket = this.#buckets.get(`${access} ${key}`) ?? { left: most, at: now };
    const left = Math.min(most, bucket.left + ((now - bucket.at) / 1000) * most);
    const allowed = left >= 1;
    const units = Math.max(1, Math.ceil(bytes / BYTES[access]));
    this.#buckets.set(`${access} ${key}`, { left: allowed ? left - units : left, at: now });
    return allowed;
  }
}

/** The size of an item as DynamoDB counts it: names and values, and a little for each list and map. */
export function sizeOf(item: Readonly<Record<string, AttributeValue>>): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + bytesOf(name) + valueSize(value), 0);
}

const bytesOf = (text: string): number => Buffer.byteLength(text, 'utf8');

function valueSize(value: AttributeValue): number {
  if (value.S !== undefined) return bytesOf(value.S);
  // Two digits a byte, and one more.
  if (value.N !== undefined) return Math.ceil(value.N.replace(/[-.]/g, '').length / 2) + 1;
  if (value.L !== undefined) return value.L.reduce((sum, one) => sum + 1 + valueSize(one), 3);
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + sizeOf(value.M);
  return 1;
}
