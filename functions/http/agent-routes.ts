/** What an agent calls: it may speak only for its own node, and only for the VMs of its host. */
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import type { HostVm, LaunchAnswer } from '../../core/contract/agent-answers.ts';
import { parseInstanceId } from '../../core/kit/ids.ts';
import { desiredOf, isQuiet } from '../../core/node/desired.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import type { HostEntry } from '../../core/vm/host-entry.ts';
import { desiredFor, lineAt } from '../../core/vm/told.ts';
import { isLeft, stranger } from '../../core/vm/reporter.ts';
import { hostOf, live, notTakenOn, type VmRecord, waitsForHost } from '../../core/vm/record.ts';
import { type LivenessProbe as LivenessProbeBody, vmPolicyOf } from '../../core/policy/vm-policy.ts';
import { between, formatDuration, type Instant } from '../../core/kit/time.ts';
import { lastRecovery } from '../operations/home.ts';
import { reportNode } from '../operations/nodes.ts';
import { turnVm, vmsToRun } from '../operations/vms.ts';
import type { ControlPlane, Settings } from '../ports.ts';
import { vmsTagOf } from '../vms-tag.ts';
import { fail, ofRefusal } from './problem.ts';
import type { Serve } from './handler.ts';

export const reportNodeRoute: Serve<'reportNode'> = async (plane, request) => {
  const nodeId = request.params.nodeId;
  const report = request.body;
  const result = await reportNode(plane, nodeId, report);
  if (result.kind === 'refused') throw ofRefusal(result.refusal);
  const { node, entries } = result;
  if (node === null) throw fail(404, 'NodeNotFound', `there is no node ${nodeId}`);
  return {
    status: 200,
    body: {
      desired: desiredOf(node, plane.now()),
      reportEverySeconds: reportEvery(node, plane.settings, shortestLease(report)),
      ...(result.written ? renewal(report) : {}),
      ...(entries === null ? {} : listing(entries, report, plane.now())),
    },
  };
};

/** The list is left out when the agent has acted on it already: then this answer was all that it needed. */
function listing(entries: readonly HostEntry[], report: NodeReport, now: Instant): { vmsTag: string; vms?: HostVm[] } {
  const vmsTag = vmsTagOf(entries);
  if (vmsTag === report.vmsTag) return { vmsTag };
  return { vmsTag, vms: entries.flatMap(({ line }) => (line === null ? [] : [lineAt(line, now)])) };
}

/** The shortest lease that the host says it holds something by. */
function shortestLease({ instances }: NodeReport): number | null {
  const leases = (instances ?? []).flatMap(({ leaseSeconds }) => leaseSeconds ?? []);
  return leases.length === 0 ? null : Math.min(...leases);
}

/** Only a report that was written renews: what was not is no proof that the host was heard (DESIGN section 3 rule 6). */
function renewal(report: NodeReport): { leaseSeconds?: number } {
  const leaseSeconds = shortestLease(report);
  return leaseSeconds === null ? {} : { leaseSeconds };
}

/** Often while under way or recovering, rarely while Idle; three times in the shortest lease there (DESIGN section 6). */
function reportEvery(node: NodeRecord, settings: Settings, lease: number | null): number {
  const every = isQuiet(node) ? settings.idleReportSeconds : settings.activeReportSeconds;
  return lease === null ? every : Math.min(every, Math.max(1, Math.floor(lease / 3)));
}

export const hostVmsRoute: Serve<'listHostVms'> = async (plane, request) => {
  const nodeId = request.params.nodeId;
  return { status: 200, body: { items: await vmsToRun(plane, nodeId) } };
};

export const reportVmRoute: Serve<'reportVm'> = async (plane, request) => {
  const vmId = request.params.vmId;
  const caller = request.caller;
  const report = request.body;
  const result = await turnVm(plane, vmId, { kind: 'report', report, hostId: caller });
  const vm = result.record;
  if (vm === null && (await lastRecovery(plane)).recoveredAt !== null) {
    throw fail(404, 'VmNotFound', `there is no VM ${vmId} since the table was restored; what runs of it is left alone`);
  }
  if (result.kind === 'refused') throw ofRefusal(result.refusal);
  if (vm === null || vm.removed !== null)
    return { status: 200, body: { desired: desiredFor(null, report.instanceId, report.uid) } };
  if (hostOf(vm) !== caller) {
    const foreign = stranger(vm, report, caller);
    if (foreign !== null && !isLeft(vm, report)) throw ofRefusal(foreign.refusal);
    return { status: 200, body: { desired: desiredFor(null, report.instanceId, report.uid) } };
  }
  return { status: 200, body: { desired: desiredFor(vm, report.instanceId, report.uid) } };
};

function mustBeHost(vm: VmRecord, caller: string): void {
  if (hostOf(vm) !== caller) throw fail(403, 'NotYourVm', `VM ${vm.vmId} does not run on node ${caller}`);
}

export const launchRoute: Serve<'getLaunch'> = async (plane, request) => {
  const vmId = request.params.vmId;
  const caller = request.caller;
  const instanceId = parseInstanceId(request.query.get('instanceId') ?? '');
  if (instanceId === null) throw fail(400, 'InvalidId', 'the query must name the instance: ?instanceId=…');
  const known = (await plane.store.load('vm', vmId))?.record ?? null;
  if (known === null || known.removed !== null) throw fail(404, 'VmNotFound', `there is no VM ${vmId}`);
  mustBeHost(known, caller);
  mustBeWanted(known, instanceId);
  const result = await turnVm(plane, vmId, { kind: 'launchFetched', instanceId });
  const vm = result.record;
  if (vm === null) throw fail(404, 'VmNotFound', `there is no VM ${vmId}`);
  mustBeWanted(vm, instanceId);
  return { status: 200, body: launchAnswer(plane, vm, instanceId) };
};

function mustBeWanted(vm: VmRecord, instanceId: string): void {
  if (vm.awaitingHost != null) {
    throw fail(
      409,
      'InstanceNotWanted',
      `VM ${vm.vmId} was restored and its hosts are still being heard: launch nothing`,
    );
  }
  if (vm.lostHost != null) {
    throw fail(
      409,
      'InstanceNotWanted',
      `the host of VM ${vm.vmId} was fenced or lost, and nothing is launched on it until it is there again: launch nothing`,
    );
  }
  if (waitsForHost(vm) && live(vm.instance) && notTakenOn(vm.instance)) {
    throw fail(409, 'InstanceNotWanted', `VM ${vm.vmId} waits for the update of its host: launch nothing`);
  }
  if (desiredFor(vm, instanceId, undefined).power === 'off') {
    throw fail(409, 'InstanceNotWanted', `instance ${instanceId} of VM ${vm.vmId} is not to run: do not launch it`);
  }
}

function launchAnswer(plane: ControlPlane, vm: VmRecord, instanceId: string): Omit<LaunchAnswer, 'api'> {
  const deadline = live(vm.instance) ? vm.instance.startDeadlineAt : null;
  const { grace, lease, stableFor } = vmPolicyOf(vm.body);
  const { unresponsiveFor = '5m', resetLimit, liveness, restartElsewhere } = vm.body;
  return {
    vmId: vm.vmId,
    uid: vm.uid,
    instanceId,
    launchRevision: vm.launchRevision,
    launch: vm.body.launch,
    simulateCrash: vm.body.simulateCrash ?? false,
    graceSeconds: grace / 1000,
    startDeadlineSeconds: deadline === null ? null : Math.max(1, between(plane.now(), deadline) / 1000),
    ...(lease === null ? {} : { leaseSeconds: lease / 1000 }),
    stableFor: formatDuration(stableFor),
    unresponsiveFor,
    ...(resetLimit === undefined ? {} : { resetLimit }),
    ...(liveness === undefined ? {} : { liveness: probeOf(liveness) }),
    ...(restartElsewhere === true ? { restartElsewhere } : {}),
  };
}

/** Without what was not said: the host has its own defaults for that. */
function probeOf(liveness: LivenessProbeBody): NonNullable<LaunchAnswer['liveness']> {
  const { every, failures } = liveness;
  const target = 'tcp' in liveness ? { tcp: liveness.tcp } : { http: liveness.http };
  return { ...target, ...(every === undefined ? {} : { every }), ...(failures === undefined ? {} : { failures }) };
}
