/** What may go wrong with AWS, by name. Who runs a world says when it does; by default nothing ever does. */
import type { KeyLimits } from './limits.ts';

export const SERVICE_FAULTS = [
  'scheduler minutes late',
  'scheduler lost',
  'scheduler twice',
  'scheduler refused',
  'scheduler clock ahead',
  'vernier late',
  'vernier early',
  'vernier twice',
  'vernier lost',
  'vernier refused',
  'command queue refused',
  'ssm lost',
  'ssm twice',
  'ssm refused',
  'ssm timed out',
  'ssm said it failed',
  'dynamodb throttled',
  'dynamodb timed out after the write',
  'dynamodb retried its own write',
  'dynamodb index stale',
  'bus refused',
] as const;
export type ServiceFault = (typeof SERVICE_FAULTS)[number];

export type Trouble = {
  /** Whether a fault strikes now. */
  strikes: (kind: ServiceFault) => boolean;
  /** A number from [0, 1): how late, how often. */
  draw: () => number;
  /** What DynamoDB takes of one key; absent: anything. A call that is refused is made again as the SDK does. */
  limits?: KeyLimits;
};

export const NO_TROUBLE: Trouble = { strikes: () => false, draw: () => 0 };
