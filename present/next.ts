/** What comes next for a thing, and when; and what a person can do about it, as commands that work as printed. */
import type { GroupJson, NodeJson, VmJson } from '../core/contract/answers.ts';
import type { WaitingCode } from '../core/contract/words.ts';

/** An instant of the API, or null where none is known; and what happens then. */
export type Next = { readonly at: string | null; readonly what: string };

/** What a person may do about the first thing that a node waits for. */
const HELP: Record<WaitingCode, (node: NodeJson) => readonly string[]> = {
  Held: ({ nodeId }) => [`holdoff nodes release ${nodeId}`],
  GaveUp: ({ nodeId }) => [`holdoff nodes retry ${nodeId}`],
  BackingOff: ({ nodeId }) => [`holdoff nodes retry ${nodeId}`],
  VersionNotAllowed: ({ group }) => [`holdoff groups show ${group}`],
  VersionBlocked: ({ nodeId }) => [`holdoff nodes retry ${nodeId}`],
  BreakerOpen: ({ group }) => [`holdoff groups close-breaker ${group}`],
  VersionTooYoung: expedite,
  WaitsForGroup: expedite,
  Paused: ({ group }) => [`holdoff groups resume ${group}`],
  AlarmRinging: ({ group }) => [`holdoff groups show ${group}`],
  OutsideWindow: ({ group }) => [`holdoff groups open-window ${group} --for 1h`],
  OtherZone: ({ group }) => [`holdoff groups show ${group}`],
  TooManyDown: ({ group }) => [`holdoff nodes --group ${group}`],
  VmBlocksMaintenance: () => ['holdoff vms'],
  NoSlot: ({ group }) => [`holdoff groups show ${group}`],
};

function expedite({ group, spec, status }: NodeJson): readonly string[] {
  const version = spec.version ?? status?.updateCheck.version;
  return version === undefined ? [] : [`holdoff groups expedite ${group} --version ${version} --for 24h`];
}

/** A control plane of a later release may wait for what this program does not know. */
export function nodeHelp(node: NodeJson): readonly string[] {
  const code = node.waitingFor?.code;
  if (code === undefined) {
    return node.phase === 'BackingOff' || node.phase === 'Recovering' ? [`holdoff nodes retry ${node.nodeId}`] : [];
  }
  return HELP[code]?.(node) ?? [];
}

export function nodeNext({ crash, phase, waitingFor, spec, status }: NodeJson): Next[] {
  const next: Next[] = [];
  const code = waitingFor?.code;
  if (waitingFor !== null && waitingFor !== undefined && waitingFor.until !== undefined) {
    next.push({ at: waitingFor.until, what: `${waitingFor.code} ends; what else it waits for is judged then` });
  } else if (code !== undefined) {
    next.push({ at: null, what: `${code}: no instant is known at which this ends by itself` });
  }
  // Under way it is being tried already, and on its way back this is not what it waits for.
  if (
    phase === 'BackingOff' &&
    crash.retryAfter !== null &&
    code !== 'GaveUp' &&
    waitingFor?.until !== crash.retryAfter
  )
    next.push({ at: crash.retryAfter, what: 'tried again at the earliest' });
  if (status !== null && status.state !== spec.state)
    next.push({ at: null, what: `its agent is to reach ${spec.state}; a report of it, or the deadline, goes on` });
  if (crash.resetAt !== null)
    next.push({ at: crash.resetAt, what: 'its crash record is cleared, if no more is added' });
  return next;
}

export function vmNext({ startFailure, unstableRuns, instance, power, can }: VmJson): Next[] {
  const next: Next[] = [];
  const waits = power.on && instance === null && can?.start === null;
  if (waits && startFailure !== null) next.push({ at: startFailure.retryAfter, what: 'it is started again' });
  else if (waits && unstableRuns !== null && unstableRuns.retryAfter !== null)
    next.push({ at: unstableRuns.retryAfter, what: 'it is started again' });
  if (instance?.phase === 'Running' && (startFailure !== null || unstableRuns !== null))
    next.push({ at: null, what: 'its failures are forgiven once it has run for its stableFor' });
  return next;
}

export function vmHelp(vm: VmJson): readonly string[] {
  switch (vm.printableStatus) {
    case 'CrashLoopBackOff':
    case 'Failed':
      return [
        `holdoff vms show ${vm.vmId}`,
        ...(vm.can?.start === null ? [`holdoff vms start ${vm.vmId}`] : []),
        `holdoff explain node/${vm.hostId}`,
      ];
    case 'Stopped':
    case 'Completed':
      return vm.can?.start === null ? [`holdoff vms start ${vm.vmId}`] : [];
    case 'Unknown':
      return [`holdoff explain node/${vm.hostId}`];
    case 'Running':
    case 'Starting':
    case 'Stopping':
    case 'Terminating':
      return [];
  }
  // A status of a later release than this program's.
  return [];
}

export function groupNext({ window, expedited }: GroupJson): Next[] {
  const { opensAt, closesAt, frozen } = window;
  return [
    ...(frozen === undefined ? [] : [{ at: frozen.to, what: 'its freeze ends' }]),
    ...(opensAt === undefined ? [] : [{ at: opensAt, what: 'its window opens' }]),
    ...(closesAt === undefined ? [] : [{ at: closesAt, what: 'its window closes: nothing begins after that' }]),
    ...expedited.map(({ version, until }) => ({ at: until, what: `${version} is expedited no longer` })),
  ];
}

export function groupHelp(group: GroupJson): readonly string[] {
  const { group: name, paused, breakers, window } = group;
  return [
    ...(paused ? [`holdoff groups resume ${name}`] : []),
    ...breakers.map(({ version }) => `holdoff groups close-breaker ${name} --version ${version}`),
    ...(!window.open && window.frozen === undefined ? [`holdoff groups open-window ${name} --for 1h`] : []),
  ];
}
