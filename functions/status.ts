/** SSM says how a wake went (best effort). Never a crash: a negative end is shown and brings the next repeat forward. */
import type { EventBridgeEvent } from 'aws-lambda';
import { Home } from './operations/home.ts';
import { noteCommandStatus } from './operations/wake-status.ts';
import { wire } from './wire.ts';

const { env, plane } = wire();
const home = new Home(plane);

export async function handler(event: EventBridgeEvent<string, unknown>): Promise<void> {
  if (await home.isOpen()) await noteCommandStatus(plane, env.wakeDocument, event.detail);
}
