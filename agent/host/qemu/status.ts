/** What QEMU's run state and its events say of a guest (QEMU, qapi/run-state.json: RunState, ShutdownCause). Pure. */
import type { Condition, EndCause } from '../../../core/contract/words.ts';

export type GuestState =
  /** The hypervisor runs it. */
  | { kind: 'running' }
  /** It is there and does not run at the moment. Not an end. */
  | { kind: 'present'; condition: Condition | null }
  /** It has ended; QEMU waits to be told to go. */
  | { kind: 'ended'; cause: EndCause; message: string };

/** @param reason why the guest was shut down, as the event says; null when no event was written down */
export function guestState(status: string, reason: string | null = null): GuestState {
  switch (status) {
    case 'running':
      return { kind: 'running' };
    case 'shutdown':
      return { kind: 'ended', ...shutdown(reason) };
    case 'guest-panicked':
      return { kind: 'ended', cause: 'GuestPanic', message: 'the guest has panicked (pvpanic)' };
    case 'internal-error':
      return { kind: 'ended', cause: 'Unhealthy', message: 'QEMU has met an internal error and cannot run the guest' };
    case 'watchdog':
      return { kind: 'ended', cause: 'Unhealthy', message: 'the guest’s watchdog has fired' };
    case 'io-error':
      return { kind: 'present', condition: 'IoError' };
    // Nobody but a person stops a guest whose only monitor is the agent's; it has sent itself to sleep in the second case.
    case 'paused':
    case 'suspended':
      return { kind: 'present', condition: 'Suspended' };
    case 'prelaunch':
    case 'inmigrate':
      return { kind: 'present', condition: null };
    default:
      return { kind: 'present', condition: 'Paused' };
  }
}

function shutdown(reason: string | null): { cause: EndCause; message: string } {
  switch (reason) {
    case 'guest-reset':
      return { cause: 'GuestReset', message: 'the guest has reset itself, and its QEMU runs with -no-reboot' };
    case 'guest-panic':
      return { cause: 'GuestPanic', message: 'the guest has panicked' };
    case null:
    case 'guest-shutdown':
      return { cause: 'GuestShutdown', message: 'the guest has powered itself off' };
    default:
      return { cause: 'Killed', message: `its QEMU was told to end from outside (${reason})` };
  }
}
