/**
 * An instance that was claimed on this host before: run by another agent, which then knows of it, or by this one, which
 * has lost its records. It is not run twice either way.
 */
import type { Log } from '../log.ts';
import type { InstanceKey } from './instance.ts';
import { findWrappers } from './process.ts';
import type { Registry } from './registry.ts';

/** The end of one that nobody runs any more. */
export const RAN_BEFORE = 'it has run on this host before, and how it ended is not on record';

/** Leaves the instance to the agent whose wrapper runs it, and forgets it here; false when nobody runs it. */
export function leftToAnother({ registry, log }: { registry: Registry; log: Log }, key: InstanceKey): boolean {
  if (!findWrappers().some(({ name }) => name === key)) return false;
  log('error', 'instance of another agent', {
    instance: key,
    why: 'another agent on this host, with a state directory of its own, runs it: one of the two agents is too many',
  });
  registry.drop(key, { keepRun: true });
  return true;
}
