/** SSM says how a wake went (best effort). Never a crash: a negative end is shown and brings the next repeat forward. */
import type { EventBridgeEvent } from 'aws-lambda';
import { noteCommandStatus } from './operations/wake-status.ts';
import { wire } from './wire.ts';

const { env, plane } = wire();

export function handler(event: EventBridgeEvent<string, unknown>): Promise<void> {
  return noteCommandStatus(plane, env.wakeDocument, event.detail);
}
