/** The control plane of a function that only notes something: what would follow is left to the due-time index. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoStore } from './aws/dynamodb-store.ts';
import { type Env, settingsOf } from './env.ts';
import type { PlaneProcess } from './plane.ts';
import type { ControlPlane } from './ports.ts';

export function composeNotingPlane(dynamodb: DynamoDBClient, env: Env, process: PlaneProcess): ControlPlane {
  return {
    ...process,
    store: new DynamoStore(dynamodb, env.table, process.now),
    timers: { arm: () => Promise.resolve() },
    wakes: { send: () => Promise.resolve() },
    bus: { publish: () => Promise.resolve() },
    settings: settingsOf(env),
  };
}
