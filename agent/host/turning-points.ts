/** The turning points of an instance, whatever runs it: written down once, and told. */
import type { Condition } from '../../core/contract/words.ts';
import type { Log } from '../log.ts';
import { type Instance, type InstanceKey, isLive } from './instance.ts';
import type { Registry } from './registry.ts';
import { seenAs } from './running.ts';

type Tools = {
  readonly registry: Registry;
  readonly now: () => number;
  readonly log: Log;
  /** An instance has changed: tell it, and look at the clock again. */
  readonly changed: (key: InstanceKey) => void;
};

/** Its hypervisor really runs the guest. One that is to end is not said to run any more. */
export function runs({ registry, now, changed }: Tools, key: InstanceKey): void {
  const running = registry.change(key, (present) =>
    present.runningAt === null && present.stop === null ? { ...present, runningAt: now() } : present,
  );
  if (running !== null) changed(key);
}

/** The guest was seen not to run, and why; or, with null, to run. */
export function isSeen({ registry, now, log, changed }: Tools, key: InstanceKey, condition: Condition | null): void {
  const before = registry.get(key)?.condition ?? null;
  const seen = registry.change(key, (present) =>
    isLive(present) && present.stop === null ? seenAs(present, condition, now()) : present,
  );
  if (seen === null) return;
  if (condition === null) log('info', 'guest runs again', { instance: key, was: before?.kind });
  else log('warn', 'guest does not run', { instance: key, condition, was: before?.kind ?? null });
  changed(key);
}

/** Ends an instance that still lives; one that has ended already keeps its end. */
export function conclude(
  { registry, log, changed }: Tools,
  key: InstanceKey,
  how: (instance: Instance) => Instance,
): void {
  const instance = registry.change(key, (present) => (isLive(present) ? how(present) : present));
  if (instance?.end == null) return;
  const { phase, cause, message } = instance.end;
  log(phase === 'Failed' ? 'warn' : 'info', 'instance ended', { instance: key, phase, cause, message });
  changed(key);
}
