/** What `virsh domstate --reason` says, and which end of a guest it means (libvirt, virDomainState and its reasons). Pure. */
import type { Condition, EndCause } from '../../../core/contract/words.ts';

/** What this host allows launch definitions of type libvirt. */
export type LibvirtRules = {
  /** The connection, such as qemu:///system. */
  readonly uri: string;
  readonly virsh: string;
  /** Names of domains that may be launched; * stands for any text. */
  readonly domains: readonly string[];
};

export type DomainState =
  /** The hypervisor runs it. */
  | { kind: 'running' }
  /** It is active and does not run at the moment, and why. Not an end. */
  | { kind: 'present'; condition: Condition | null }
  | { kind: 'ended'; cause: EndCause; message: string; remains: boolean }
  | { kind: 'unreadable'; text: string };

/** Why this host does not launch this domain; null when it does. */
export function libvirtRefusal(domain: string, { domains }: LibvirtRules): string | null {
  // A control character would end up in logs and, as a NUL, in an argument list.
  if (/\p{Cc}/u.test(domain)) return 'the domain’s name holds a control character';
  if (/^(?:\d+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.test(domain))
    return 'the domain is named by a number or UUID, which virsh could take for another one: rename it';
  return domains.some((pattern) => matches(pattern, domain))
    ? null
    : `domain ${domain} is not among those this host allows (HOLDOFF_LIBVIRT_DOMAINS)`;
}

function matches(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 'u').test(name);
}

/** @param text such as `running (booted)` or `shut off (destroyed)` */
export function domainState(text: string): DomainState {
  const [, state = '', reason = 'unknown'] = /^(.*?)(?: \((.*)\))?$/.exec(text.trim()) ?? [];
  switch (state) {
    case 'running':
      return { kind: 'running' };
    case 'paused':
      return paused(reason);
    case 'pmsuspended':
      return { kind: 'present', condition: 'Suspended' };
    case 'idle':
    case 'in shutdown':
      return { kind: 'present', condition: null };
    case 'crashed':
      // With on_crash=preserve the domain stays there, crashed, until it is destroyed.
      return { kind: 'ended', cause: 'GuestPanic', message: `the guest has crashed (${reason})`, remains: true };
    case 'shut off':
      return { kind: 'ended', ...endOf(reason), remains: false };
    default:
      return { kind: 'unreadable', text };
  }
}

function paused(reason: string): DomainState {
  switch (reason) {
    // A person, or a program of a person's, has suspended it.
    case 'user':
      return { kind: 'present', condition: 'Suspended' };
    case 'I/O error':
      return { kind: 'present', condition: 'IoError' };
    case 'watchdog':
      return { kind: 'ended', cause: 'Unhealthy', message: 'the guest’s watchdog has fired', remains: true };
    // On its way up or down: it has no time of Running to lose.
    case 'starting up':
    case 'shutting down':
      return { kind: 'present', condition: null };
    default:
      return { kind: 'present', condition: 'Paused' };
  }
}

function endOf(reason: string): { cause: EndCause; message: string } {
  switch (reason) {
    case 'shutdown':
      return { cause: 'GuestShutdown', message: 'the guest has powered itself off' };
    case 'crashed':
      return { cause: 'Killed', message: 'the domain has crashed: its QEMU is gone or its guest has panicked' };
    case 'destroyed':
      return { cause: 'Killed', message: 'the domain was destroyed on its host' };
    default:
      return { cause: 'Killed', message: `the domain is shut off (${reason})` };
  }
}
