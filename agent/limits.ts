/** The times that the agent keeps where the control plane says none: from its settings (DESIGN section 2). */
import type { Limits } from './node/move.ts';
import type { Settings } from './settings.ts';

/** Between tries of a refresh, or of taking back an activation, that failed. */
const RETRY_AFTER_MS = 30_000;
/** A changed setting shows within twice the time that an accepted command has, and is looked for ten times in one. */
const SETTINGS_WITHIN = 2;
const SETTINGS_LOOKS = 10;

export function limitsOf(settings: Settings): Limits {
  const { deadlinesMs, noProgressAfterMs, rebootAgainAfterMs, drainEveryMs, checkEveryMs } = settings;
  return {
    deadlinesMs,
    noProgressAfterMs,
    rebootAgainAfterMs,
    retryAfterMs: Math.min(RETRY_AFTER_MS, noProgressAfterMs),
    drainEveryMs,
    checkEveryMs,
    // A way back takes the steps of a way there, and as long.
    rollbackMs: deadlinesMs.StagedUpdate + deadlinesMs.PerformedUpdate + deadlinesMs.RebootedIntoUpdate,
    settingsWithinMs: noProgressAfterMs * SETTINGS_WITHIN,
    settingsEveryMs: noProgressAfterMs / SETTINGS_LOOKS,
  };
}
