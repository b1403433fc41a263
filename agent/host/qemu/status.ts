/** What QEMU's run state says of a guest (QEMU, qapi/run-state.json, RunState). Pure. */
import type { EndCause } from '../../../core/contract/words.ts';

export type GuestState =
  /** The hypervisor runs it. */
  | { kind: 'running' }
  /** It is there and does not run at the moment: paused by a person, an I/O error, a snapshot. Not an end. */
  | { kind: 'present' }
  /** It has ended; QEMU waits to be told to go. */
  | { kind: 'ended'; cause: EndCause; message: string };

export function guestState(status: string): GuestState {
  switch (status) {
    case 'running':
      return { kind: 'running' };
    case 'shutdown':
      return { kind: 'ended', cause: 'GuestShutdown', message: 'the guest has powered itself off' };
    case 'guest-panicked':
      return { kind: 'ended', cause: 'GuestPanic', message: 'the guest has panicked (pvpanic)' };
    case 'internal-error':
      return { kind: 'ended', cause: 'Unhealthy', message: 'QEMU has met an internal error and cannot run the guest' };
    case 'watchdog':
      return { kind: 'ended', cause: 'Unhealthy', message: 'the guest’s watchdog has fired' };
    default:
      return { kind: 'present' };
  }
}
