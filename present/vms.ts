/** VMs as people read them: a table, tab-separated rows, and one VM in full. */
import type { VmJson } from '../core/contract/answers.ts';
import type { PrintableStatus } from '../core/contract/words.ts';
import { compareVms } from '../core/fleet/order.ts';
import { refusedFields, type Field } from './fields.ts';
import { separated, table, type Cell, type Column, type Surface } from './table.ts';
import { counted } from './text.ts';
import type { Tone } from './tone.ts';
import { laterOf, sayRetry, type When } from './when.ts';

const TONES: Record<PrintableStatus, Tone> = {
  CrashLoopBackOff: 'bad',
  Failed: 'bad',
  Unknown: 'warn',
  Terminating: 'busy',
  Stopping: 'busy',
  Starting: 'busy',
  Running: 'good',
  Completed: 'quiet',
  Stopped: 'quiet',
};

/** The tone of a VM: that of its printable status, and a warning where all seems well and a person should look. */
export function vmTone(vm: VmJson): Tone {
  const tone = TONES[vm.printableStatus];
  return vm.attention !== undefined && tone !== 'bad' ? 'warn' : tone;
}

const starts = (vm: VmJson): number => vm.startFailure?.consecutiveFailCount ?? 0;
const shortRuns = (vm: VmJson): number => vm.unstableRuns?.count ?? 0;
const failures = (vm: VmJson): number => starts(vm) + shortRuns(vm);

/** The VMs in the order in which a person looks at them: in trouble first, then the most failures, then by id. */
export const vmsByAttention = (vms: readonly VmJson[]): VmJson[] => vms.toSorted(compareVms);

/** The instant of the next start, while one is planned. */
const retryOf = (vm: VmJson): string | null =>
  vm.printableStatus === 'CrashLoopBackOff'
    ? laterOf(vm.startFailure?.retryAfter ?? null, vm.unstableRuns?.retryAfter ?? null)
    : null;

/** `2 starts, 1 short run`: what is on record against a VM. */
function sayFailures(vm: VmJson): string {
  const parts = [
    starts(vm) > 0 ? counted(starts(vm), 'start') : '',
    shortRuns(vm) > 0 ? counted(shortRuns(vm), 'short run') : '',
  ];
  return parts.filter((part) => part !== '').join(', ') || '0';
}

const COLUMNS: readonly Column[] = [
  { title: 'VM' },
  { title: 'HOST', drop: 3 },
  { title: 'STRATEGY', drop: 2 },
  { title: 'STATUS' },
  { title: 'FAILURES', drop: 1 },
  { title: 'NEXT', drop: 1 },
  { title: 'WHY' },
];

function cells(vm: VmJson, surface: Surface): Cell[] {
  const tone = vmTone(vm);
  return [
    { text: vm.vmId },
    { text: vm.hostId },
    { text: vm.runStrategy },
    { text: vm.printableStatus, tone },
    { text: sayFailures(vm), tone: failures(vm) === 0 ? 'quiet' : 'bad' },
    { text: sayRetry(retryOf(vm), surface.now), tone },
    { text: vm.explanation },
  ];
}

/** A table of VMs, in the order given. */
export const vmTable = (vms: readonly VmJson[], surface: Surface): string =>
  table(
    COLUMNS,
    vms.map((vm) => cells(vm, surface)),
    surface,
  );

/** The columns of `vmRows`, for help texts. */
export const VM_ROW =
  'vmId hostId runStrategy printableStatus startFailures unstableRuns retryAfter instanceId restartCount explanation';

/** Tab-separated rows of VMs, in the order given; instants in RFC 3339. */
export const vmRows = (vms: readonly VmJson[]): string =>
  separated(
    vms.map((vm) => [
      vm.vmId,
      vm.hostId,
      vm.runStrategy,
      vm.printableStatus,
      String(starts(vm)),
      String(shortRuns(vm)),
      retryOf(vm) ?? '',
      vm.instance?.instanceId ?? '',
      String(vm.restartCount),
      vm.explanation,
    ]),
  );

/** Every field of a VM but the console of its last failure, which has lines of its own; its explanation first. */
export function vmFields(vm: VmJson, when: When): Field[] {
  return [
    { label: 'Explanation', text: vm.explanation, tone: vmTone(vm) },
    { label: 'VM', text: vm.vmId },
    { label: 'Status', text: vm.printableStatus, tone: vmTone(vm) },
    { label: 'Host', text: vm.hostId },
    ...placeFields(vm, when),
    { label: 'Run strategy', text: vm.runStrategy },
    { label: 'Power', text: `${vm.power.on ? 'on' : 'off'} (intent ${vm.power.sequence})` },
    { label: 'Declaration', text: vm.uid },
    ...instanceFields(vm, when),
    ...startFailureFields(vm, when),
    ...unstableFields(vm, when),
    { label: 'Restarts', text: `${vm.restartCount} since it was declared` },
    ...lastFailureFields(vm, when),
    ...refusedFields(vm.can),
  ];
}

/** Where else it may run, and what an update of its host does to it. */
function placeFields({ hostId, placement, maintenance: { policy, since } }: VmJson, when: When): Field[] {
  const { declaredHostId, hosts, restartElsewhere } = placement;
  const elsewhere = restartElsewhere ? `${hosts.join(', ')}, once its host is fenced` : 'none';
  const update =
    policy === 'block'
      ? 'waits before the reboot while this VM lives'
      : 'stops this VM with grace and starts it again; not counted';
  return [
    ...(declaredHostId === hostId
      ? []
      : [{ label: 'Declared on', text: `${declaredHostId}, which was fenced`, tone: 'warn' as const }]),
    { label: 'Other hosts', text: elsewhere },
    { label: 'Host update', text: update },
    ...(since === null
      ? []
      : [
          { label: 'Updated since', text: when(since), tone: 'busy' as const },
          { label: 'Waits until', text: `${hostId} has reached MonitoringUpdate or is Idle again` },
        ]),
  ];
}

function instanceFields({ instance }: VmJson, when: When): Field[] {
  if (instance === null) return [{ label: 'Instance', text: 'none' }];
  return [
    { label: 'Instance', text: instance.instanceId },
    { label: 'Instance phase', text: instance.phase },
    { label: 'Phase since', text: when(instance.since) },
    { label: 'Ever running', text: instance.everRunning ? 'yes' : 'no' },
    ...(instance.cause === null ? [] : [{ label: 'Cause of its end', text: instance.cause }]),
  ];
}

function startFailureFields({ startFailure: record }: VmJson, when: When): Field[] {
  if (record === null) return [{ label: 'Start failures', text: '0' }];
  const message = record.message === null ? '' : `: ${record.message}`;
  return [
    { label: 'Start failures', text: String(record.consecutiveFailCount), tone: 'bad' },
    { label: 'Failed instance', text: record.lastFailedInstanceId },
    { label: 'Start failure', text: `${record.reason}${message}` },
    { label: 'Next start', text: when(record.retryAfter) },
  ];
}

function unstableFields({ unstableRuns: record }: VmJson, when: When): Field[] {
  if (record === null) return [{ label: 'Short runs', text: '0' }];
  return [
    { label: 'Short runs', text: String(record.count), tone: 'bad' },
    ...(record.retryAfter === null ? [] : [{ label: 'Next run', text: when(record.retryAfter) }]),
  ];
}

function lastFailureFields({ lastFailure: last }: VmJson, when: When): Field[] {
  if (last === null) return [{ label: 'Last failure', text: 'none' }];
  const message = last.message === null ? '' : `: ${last.message}`;
  return [
    { label: 'Last failure', text: `${last.reason}${message}` },
    { label: 'Failed at', text: when(last.at) },
  ];
}
