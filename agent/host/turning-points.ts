/** The turning points of an instance, whatever runs it: written down once, and told. */
import type { Log } from '../log.ts';
import { type Instance, type InstanceKey, isLive } from './instance.ts';
import type { Registry } from './registry.ts';

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
