/** Looks at the host: everything that one decision needs to know, at one moment. */
import type { Log } from '../log.ts';
import type { UpdateDriver } from '../updater/driver.ts';
import type { Seen } from './move.ts';
import type { RecordKeeper } from './record-keeper.ts';

export type LookOptions = {
  readonly driver: UpdateDriver;
  readonly keeper: RecordKeeper;
  readonly bootId: () => string;
  readonly liveVms: () => number;
  readonly now: () => number;
  readonly log: Log;
};

export async function look({ driver, keeper, bootId, liveVms, now, log }: LookOptions): Promise<Seen> {
  const { memory, held } = keeper;
  const record = memory.kind === 'kept' ? memory.record : null;
  const asksLock = held !== null || record?.rollback != null || record?.step?.target === 'StagedUpdate';
  const [os, update, versionLock] = await Promise.all([
    driver.version(),
    driver.look(),
    asksLock ? driver.versionLock() : null,
  ]);
  if ('unavailable' in os) log('warn', 'os version unavailable', { why: os.unavailable });
  return {
    now: now(),
    bootId: bootId(),
    version: 'version' in os ? os.version : null,
    update,
    liveVms: liveVms(),
    versionLock,
    lockHeld: held,
    unwritable: keeper.trouble,
  };
}
