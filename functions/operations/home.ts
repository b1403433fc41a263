/**
 * A control plane that finds itself on a restored table does nothing until it was recovered: what the copy wants may be
 * long done, and what runs may be unknown to it (docs/runbooks/restore.md).
 */
import { pausedByRecovery, standing } from '../../core/group/home.ts';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import type { Instant } from '../../core/kit/time.ts';
import type { ControlPlane } from '../ports.ts';
import { turnGroup } from './groups.ts';

/** The table is an older copy and `holdoff recover` has not been run to its end. */
export class NotRecoveredError extends Error {
  readonly code = 'NotRecovered';
}

export const NOT_RECOVERED =
  'the table was restored from an older copy: nothing is done before an operator has run `holdoff recover` to its end';

/** Asked before anything is done; once the answer was yes it stays so for the life of the process. */
export class Home {
  readonly #plane: ControlPlane;
  #open = false;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  async isOpen(): Promise<boolean> {
    if (this.#open) return true;
    const { store, settings, telemetry } = this.#plane;
    const record = (await store.load('group', DEFAULT_GROUP))?.record ?? null;
    const where = standing(record, settings.table);
    if (where === 'new') await turnGroup(this.#plane, DEFAULT_GROUP, { kind: 'moveIn', table: settings.table });
    this.#open = where !== 'restored';
    if (!this.#open) telemetry.warn(NOT_RECOVERED, { table: settings.table, copyOf: record?.home ?? null });
    return this.#open;
  }
}

/** The last recovery, and who paused the groups in it as long as `default` is paused by it. */
export async function lastRecovery(
  plane: ControlPlane,
): Promise<{ recoveredAt: Instant | null; pausedBy: string | null }> {
  const record = (await plane.store.load('group', DEFAULT_GROUP))?.record ?? null;
  return { recoveredAt: record?.recovery?.at ?? null, pausedBy: pausedByRecovery(record) };
}
