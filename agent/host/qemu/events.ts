/** What a guest's wrapper has written down of QEMU's events: seconds since boot, then the event as QMP sent it. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { secondsToMs } from '../../boot-clock.ts';
import { readIfThere } from '../../durable.ts';
import { systemCode } from '../../failure.ts';

export type GuestEvents = {
  /** When the guest has reset itself, in the order in which it did. */
  readonly resets: readonly number[];
  /** When and why it was shut down, has panicked or was bitten by its watchdog: the last of these. */
  readonly over: { readonly at: number; readonly reason: string | null } | null;
};

const eventSchema = z.object({
  event: z.string(),
  data: z.optional(z.object({ guest: z.optional(z.boolean()), reason: z.optional(z.string()) })),
});

/** Reads the lines; what cannot be read, such as the line that is being written, is left out. */
export function parseEvents(text: string): GuestEvents {
  const resets: number[] = [];
  let over: GuestEvents['over'] = null;
  for (const line of text.split('\n')) {
    const at = secondsToMs(line);
    const event = at === null ? null : parseEvent(line.slice(line.indexOf(' ') + 1));
    if (at === null || event === null) continue;
    if (event.event !== 'RESET') over = { at, reason: event.data?.reason ?? null };
    else if (event.data?.guest === true) resets.push(at);
  }
  return { resets, over };
}

function parseEvent(text: string): z.infer<typeof eventSchema> | null {
  try {
    const parsed = eventSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Reads the events of a run folder, and again only once there are more of them. */
export class EventFile {
  #size = -1;
  #known: GuestEvents = { resets: [], over: null };

  read(run: string): GuestEvents {
    const file = join(run, 'events');
    const size = sizeOf(file);
    if (size === this.#size) return this.#known;
    this.#known = parseEvents(readIfThere(file) ?? '');
    this.#size = size;
    return this.#known;
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0;
    throw error;
  }
}
