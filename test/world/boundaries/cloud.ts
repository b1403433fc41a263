/** What the services of AWS do for one world; the SDK clients of services.ts speak to it. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { MemoryStore } from '../../../world/simulate/memory-store.ts';

export type Attributes = Record<string, AttributeValue>;

export type Cloud = {
  /** The items, with their conditional write. */
  readonly store: MemoryStore;
  /** Entries of the event log, by partition and sort key. */
  readonly log: Map<string, { partition: string; sort: string; item: Attributes }>;
  /** False when there is a schedule of that name. */
  createSchedule(name: string, at: number, message: string): boolean;
  queued(queue: 'vernier' | 'commands', body: string, delaySeconds: number): void;
  published(detail: string): void;
  /** Wakes the agents; false when one of the nodes is not known to SSM. */
  commanded(nodes: readonly string[]): boolean;
};
