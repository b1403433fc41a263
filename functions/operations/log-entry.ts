/** What our own bus carries becomes an entry of the event log. Delivered twice is kept once. */
import * as z from 'zod/mini';
import { MessageError } from '../messages.ts';
import type { EventLog } from '../ports.ts';

const entrySchema = z.object({
  id: z.string(),
  at: z.string(),
  type: z.string(),
  severity: z.enum(['info', 'warning']),
  subject: z.string(),
  message: z.string(),
});

/** @throws {MessageError} when the event is none of ours: it ends in the dead-letter queue */
export async function keepEntry(log: EventLog, detail: unknown): Promise<void> {
  const parsed = z.safeParse(entrySchema, detail);
  if (!parsed.success) throw new MessageError(`not an event of ours: ${JSON.stringify(detail)}`);
  await log.append([parsed.data]);
}
