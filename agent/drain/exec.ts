/** Draining by a hook: it ends with 0 once the node is empty, and is asked again until then. */
import type { HookRunner } from '../hooks.ts';
import type { DrainOutcome } from '../node/drain-record.ts';
import { type DrainAdapter, DONE } from './adapter.ts';

const HOOK_TIMEOUT_MS = 120_000;

/** Both hooks have one place: whatever an agent that was killed has left there has ended before the other begins. */
const SLOT = 'drain';

export function execAdapter(
  { hook, undo }: { hook: string; undo?: string | undefined },
  runHook: HookRunner,
  endHook: (slot: string) => Promise<void>,
): DrainAdapter {
  const run = async (name: string, blocks: boolean): Promise<DrainOutcome> => {
    const { known, failure } = await runHook(name, HOOK_TIMEOUT_MS, { slot: SLOT, undoes: !blocks });
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
    undo: async () => {
      if (undo !== undefined) return run(undo, false);
      await endHook(SLOT);
      return DONE;
    },
  };
}
