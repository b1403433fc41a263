/** What the script driver remembers of a host: what was offered, staged and activated in this boot, and the run under way. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readIfThere, writeDurably } from '../../durable.ts';
import { COMMANDS, LATEST } from '../driver.ts';
import { UPDATE_STATES } from '../update-status.ts';

const processSchema = z.object({ pid: z.number(), startTime: z.string() });
const recordSchema = z.object({
  format: z.literal(1),
  bootId: z.string(),
  state: z.enum(UPDATE_STATES),
  chosen: z.nullable(z.string()),
  staged: z.nullable(z.string()),
  last: z.nullable(
    z.object({ type: z.string(), status: z.enum(['Success', 'Failed']), timestamp: z.string(), detail: z.string() }),
  ),
  running: z.nullable(
    z.object({
      id: z.string(),
      name: z.enum(COMMANDS),
      version: z.nullable(z.string()),
      /** By the wall clock, for an agent of the release before. */
      startedAt: z.number(),
      /** Seconds since boot; null in the record of an older agent, which kept the wall clock. */
      since: z._default(z.nullable(z.number()), null),
      process: z.nullable(processSchema),
    }),
  ),
  /** Counts runs, so that no two have one id or one timestamp. */
  runs: z.number(),
  versionLock: z.string(),
});
export type ScriptRecord = z.infer<typeof recordSchema>;

/** A boot forgets what was offered and staged, as Bottlerocket does; the lock and the count stay. */
export const freshRecord = (bootId: string, before: ScriptRecord | null): ScriptRecord => ({
  format: 1,
  bootId,
  state: 'Idle',
  chosen: null,
  staged: null,
  last: null,
  running: null,
  runs: before?.runs ?? 0,
  versionLock: before?.versionLock ?? LATEST,
});

/** There was a record and it cannot be read. What it knew may be active: so it stands until deactivate has run. */
export const lostRecord = (bootId: string): ScriptRecord => ({
  ...freshRecord(bootId, null),
  state: 'Ready',
  last: { type: 'record', status: 'Failed', timestamp: 'lost', detail: 'the record of the script driver was lost' },
});

export type ScriptStore = { load: () => ScriptRecord | 'lost' | null; save: (record: ScriptRecord) => void };

export function openScriptStore(stateDir: string): ScriptStore {
  const file = join(stateDir, 'script-driver.json');
  return {
    load: () => {
      const text = readIfThere(file);
      if (text === null) return null;
      try {
        const parsed = recordSchema.safeParse(JSON.parse(text));
        return parsed.success ? parsed.data : 'lost';
      } catch (error) {
        if (error instanceof SyntaxError) return 'lost';
        throw error;
      }
    },
    save: (record) => writeDurably(file, `${JSON.stringify(record)}\n`),
  };
}
