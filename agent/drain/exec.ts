/** Draining by a hook: it ends with 0 once the node is empty, and is asked again until then. */
import type { HookRunner } from '../hooks.ts';
import type { DrainOutcome } from '../node/drain-record.ts';
import { type DrainAdapter, DONE } from './adapter.ts';

const HOOK_TIMEOUT_MS = 120_000;

export function execAdapter(
  { hook, undo }: { hook: string; undo?: string | undefined },
  runHook: HookRunner,
): DrainAdapter {
  const run = async (name: string, blocks: boolean): Promise<DrainOutcome> => {
    const { known, failure } = await runHook(name, HOOK_TIMEOUT_MS);
    if (failure === null) return DONE;
    if (!known) return { kind: 'impossible', message: failure };
    return blocks
      ? { kind: 'waiting', left: [failure], blockedBy: [failure] }
      : { kind: 'unavailable', message: failure };
  };
  return {
    survey: () => Promise.resolve({ kind: 'surveyed', mine: ['hook'] }),
    drain: () => run(hook, true),
    // With the record lost it may or may not have run: the undo of a hook has to be harmless when nothing was done.
    undo: () => (undo === undefined ? Promise.resolve(DONE) : run(undo, false)),
  };
}
