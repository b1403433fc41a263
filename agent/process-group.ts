/** Everything that a session of its own has started: what the agent ends, it ends whole. */
import { systemCode } from './failure.ts';

/** Signals the group that a process leads. The caller knows that the pid is still that process's. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Ended in between: what was wanted has happened.
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}
