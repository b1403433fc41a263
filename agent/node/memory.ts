/** What the agent remembers of its node across kills and reboots: written before each act (DESIGN section 2 rule 2). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { updateCheckSchema } from '../../core/contract/agent-bodies.ts';
import { NODE_STATES, type SpecState } from '../../core/contract/words.ts';
import { readIfThere, writeDurably } from '../durable.ts';
import { clockMarkSchema } from '../steady-clock.ts';
import { COMMANDS } from '../updater/driver.ts';
import { drainRecordSchema } from './drain-record.ts';
import { monitorRecordSchema } from './monitor-record.ts';
import { rollbackRecordSchema } from './rollback-record.ts';

/**
 * The version of the file's format. 1 had no drain, monitor and rollback; any other is refused, not guessed at. An agent
 * older than the file finds its record lost, so that it cannot drop an ownership that it does not know. Of version-locks
 * the ownership is in a file of its own (`updater/version-lock.ts`).
 */
const FORMAT = 2;

const pendingSchema = z.object({
  name: z.enum(COMMANDS),
  /** Timestamp of the update API's last command before this one: only a changed one can be ours. */
  before: z.nullable(z.string()),
  at: z.number(),
  /** How often it was issued; never more than twice. */
  issued: z.number(),
});
export type Pending = z.infer<typeof pendingSchema>;

const stepSchema = z.object({
  target: z.enum(NODE_STATES),
  startedAt: z.number(),
  /** Whether this step's own fresh refresh has succeeded. */
  refreshed: z.boolean(),
  /** Why the last refresh of this step failed. */
  refreshFailure: z.nullable(z.string()),
  /** No command before this instant. */
  notBefore: z.nullable(z.number()),
  pending: z.nullable(pendingSchema),
  /** The step's own limit, where the control plane says one (`desired.withinSeconds`). */
  until: z._default(z.nullable(z.number()), null),
  /** A disruptive step begins before this, or not at all; null: whenever. */
  beginBefore: z._default(z.nullable(z.number()), null),
  /** Whether a step that has a `beginBefore` has begun to disturb anybody. */
  begun: z._default(z.boolean(), false),
});
export type StepRecord = z.infer<typeof stepSchema>;

const recordSchema = z.object({
  format: z.literal([1, FORMAT]),
  /** The spec generation acted on; older ones have been handled. */
  generation: z.number(),
  /** The state last reached. */
  state: z.enum(NODE_STATES),
  step: z.nullable(stepSchema),
  fromVersion: z.nullable(z.string()),
  targetVersion: z.nullable(z.string()),
  /** The boot in which the attempt's present part began: another boot id is the proof of a reboot. */
  bootIdAtStep: z.nullable(z.string()),
  /** We have asked for an activation that was neither booted into nor taken back. */
  activated: z.boolean(),
  error: z.nullable(z.object({ reason: z.string(), message: z.string() })),
  updateCheck: z.nullable(updateCheckSchema),
  drain: z._default(z.nullable(drainRecordSchema), null),
  monitor: z._default(z.nullable(monitorRecordSchema), null),
  rollback: z._default(z.nullable(rollbackRecordSchema), null),
  /** It was told to reboot, and heard of it too late to begin. */
  notBegun: z._default(z.boolean(), false),
  /** What a person should know of the last attempt, until the next one. */
  notice: z._default(z.nullable(z.string()), null),
  /** Of the clock that all instants above are of; null: they are the wall clock's, as an older agent wrote them. */
  clock: z._default(z.nullable(clockMarkSchema), null),
});
export type NodeRecord = z.infer<typeof recordSchema>;

export type Memory =
  | { kind: 'kept'; record: NodeRecord }
  /** Nothing was ever written here. */
  | { kind: 'fresh' }
  /** There was a record, and it is gone or unreadable. */
  | { kind: 'lost'; why: string };

/** `save` throws when the record cannot be written; nothing has changed then. */
export type MemoryStore = { load(): Memory; save(record: NodeRecord): void };

/** Opens the record in a state directory. A second, empty file tells a lost record from one that never was. */
export function openMemory(stateDir: string): MemoryStore {
  const file = join(stateDir, 'node.json');
  const marker = join(stateDir, 'node.known');
  return {
    load: () => parseMemory(readIfThere(file), existsSync(marker)),
    save: (record) => {
      if (!existsSync(marker)) writeDurably(marker, '');
      writeDurably(file, `${JSON.stringify({ ...record, format: FORMAT })}\n`);
    },
  };
}

/** Reason of the error that a lost record is reported as. */
export const STATE_LOST = 'StateLost';

/** Reads the text of the record's file; null is a missing file. */
export function parseMemory(text: string | null, known: boolean): Memory {
  if (text === null) return known ? { kind: 'lost', why: 'the state file is gone' } : { kind: 'fresh' };
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return {
      kind: 'lost',
      why: `the state file is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  const parsed = recordSchema.safeParse(body);
  if (parsed.success) return { kind: 'kept', record: parsed.data };
  return { kind: 'lost', why: `the state file cannot be read: ${z.prettifyError(parsed.error)}` };
}

/** The record of a node that begins with this generation. */
export const newRecord = (generation: number): NodeRecord => ({
  format: FORMAT,
  generation,
  state: 'Idle',
  step: null,
  fromVersion: null,
  targetVersion: null,
  bootIdAtStep: null,
  activated: false,
  error: null,
  updateCheck: null,
  drain: null,
  monitor: null,
  rollback: null,
  notBegun: false,
  notice: null,
  clock: null,
});

/** A step that is about to begin. */
export const newStep = (target: SpecState, startedAt: number): StepRecord => ({
  target,
  startedAt,
  refreshed: false,
  refreshFailure: null,
  notBefore: null,
  pending: null,
  until: null,
  beginBefore: null,
  begun: false,
});
