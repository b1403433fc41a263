/**
 * GET /updates/status as the node serves it, read tolerantly: nearly everything may be null, there may be more fields
 * than we know, and what we do not understand is a value with its raw text, never a throw (facts, section 4.8).
 */
import * as z from 'zod/mini';

export const UPDATE_STATES = ['Idle', 'Available', 'Staged', 'Ready'] as const;
export type UpdateState = (typeof UPDATE_STATES)[number];

export type UpdateStatus = {
  state: UpdateState;
  /** The version a refresh chose; it may be older than a failed refresh. */
  chosen: string | null;
  staging: { version: string; nextToBoot: boolean } | null;
  last: { type: string; status: string; timestamp: string; detail: string } | null;
};

/** What a look at the update API showed. */
export type UpdateView =
  | { kind: 'status'; status: UpdateStatus }
  /** 404: no update command has run since boot. Always so after a reboot, and no error. */
  | { kind: 'none' }
  /** A command is running: 423, or as the message says. */
  | { kind: 'busy'; message?: string }
  | { kind: 'unavailable'; message: string }
  | { kind: 'unparseable'; message: string };

const image = z.object({ version: z.string() });
const partition = z.object({ image, next_to_boot: z.optional(z.nullable(z.boolean())) });
const statusSchema = z.object({
  update_state: z.enum(UPDATE_STATES),
  chosen_update: z.optional(z.nullable(image)),
  staging_partition: z.optional(z.nullable(partition)),
  most_recent_command: z.optional(
    z.nullable(
      z.object({
        cmd_type: z.string(),
        cmd_status: z.string(),
        timestamp: z.string(),
        exit_status: z.optional(z.nullable(z.number())),
        stderr: z.optional(z.nullable(z.string())),
      }),
    ),
  ),
});

const RAW_KEPT = 300;

/** Reads the body of a 200. */
export function parseUpdateStatus(text: string): UpdateView {
  const unparseable = (why: string): UpdateView => ({
    kind: 'unparseable',
    message: `the update API's status cannot be read (${why}): ${text.slice(0, RAW_KEPT)}`,
  });
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return unparseable(error instanceof Error ? error.message : String(error));
  }
  const parsed = statusSchema.safeParse(body);
  if (!parsed.success) return unparseable(z.prettifyError(parsed.error));
  const { update_state, chosen_update, staging_partition, most_recent_command: last } = parsed.data;
  return {
    kind: 'status',
    status: {
      state: update_state,
      chosen: chosen_update?.version ?? null,
      staging:
        staging_partition == null
          ? null
          : { version: staging_partition.image.version, nextToBoot: staging_partition.next_to_boot ?? false },
      last:
        last == null
          ? null
          : {
              type: last.cmd_type,
              status: last.cmd_status,
              timestamp: last.timestamp,
              detail: sayDetail(last.exit_status ?? null, last.stderr ?? null),
            },
    },
  };
}

function sayDetail(exitStatus: number | null, stderr: string | null): string {
  // Colours of the terminal the node thinks it writes to.
  const text = (stderr ?? '').replace(ANSI, '').trim().slice(0, RAW_KEPT);
  const exit = exitStatus === null ? '' : `exit status ${exitStatus}`;
  return [exit, text].filter((part) => part !== '').join(': ') || 'no detail';
}

const ANSI = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;]*m`, 'g');

/** The timestamp of the last command, or null: compared for inequality only. */
export const lastTimestamp = (view: UpdateView): string | null =>
  view.kind === 'status' ? (view.status.last?.timestamp ?? null) : null;
