/** What an agent calls: it may speak only for its own node, and only for the VMs of its host. */
import type { VmReport } from '../../core/contract/agent-bodies.ts';
import type { LaunchAnswer } from '../../core/contract/agent-answers.ts';
import { parseInstanceId } from '../../core/kit/ids.ts';
import { desiredOf, isQuiet } from '../../core/node/desired.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { desiredFor } from '../../core/vm/describe.ts';
import { hostOf, live, notTakenOn, type VmRecord, waitsForHost } from '../../core/vm/record.ts';
import { vmPolicyOf } from '../../core/policy/vm-policy.ts';
import { between } from '../../core/kit/time.ts';
import { lastRecovery } from '../operations/home.ts';
import { reportNode } from '../operations/nodes.ts';
import { turnVm, vmsToRun } from '../operations/vms.ts';
import type { ControlPlane, Settings } from '../ports.ts';
import { fail, ofRefusal } from './problem.ts';
import type { Serve } from './handler.ts';

export const reportNodeRoute: Serve<'reportNode'> = async (plane, request) => {
  const nodeId = request.params.nodeId;
  const report = request.body;
  const result = await reportNode(plane, nodeId, report);
  if (result.kind === 'refused') throw ofRefusal(result.refusal);
  const { node } = result;
  if (node === null) throw fail(404, 'NodeNotFound', `there is no node ${nodeId}`);
  return {
    status: 200,
    body: { desired: desiredOf(node, plane.now()), reportEverySeconds: reportEvery(node, plane.settings) },
  };
};

/** Often while under way or recovering, rarely while Idle (DESIGN section 6). */
const reportEvery = (node: NodeRecord, settings: Settings): number =>
  isQuiet(node) ? settings.idleReportSeconds : settings.activeReportSeconds;

export const hostVmsRoute: Serve<'listHostVms'> = async (plane, request) => {
  const nodeId = request.params.nodeId;
  return { status: 200, body: { items: await vmsToRun(plane, nodeId) } };
};

export const reportVmRoute: Serve<'reportVm'> = async (plane, request) => {
  const vmId = request.params.vmId;
  const caller = request.caller;
  const report = request.body;
  const known = (await plane.store.load('vm', vmId))?.record ?? null;
  if (known === null && (await lastRecovery(plane)).recoveredAt !== null) {
    throw fail(404, 'VmNotFound', `there is no VM ${vmId} since the table was restored; what runs of it is left alone`);
  }
  if (known === null || known.removed !== null) {
    const ours =
      report.uid !== undefined ||
      (known !== null && hostOf(known) === caller && known.previousInstances.some((id) => id === report.instanceId)) ||
      known?.instance?.instanceId === report.instanceId;
    if (!ours) throw fail(404, 'VmNotFound', `there is no VM ${vmId}; an instance that nobody declared is left alone`);
    return { status: 200, body: { desired: desiredFor(null, report.instanceId, report.uid) } };
  }
  const awaited = known.awaitingHost != null;
  if (!awaited && hostOf(known) !== caller && isLeft(known, report)) {
    return { status: 200, body: { desired: desiredFor(null, report.instanceId, report.uid) } };
  }
  if (!awaited) mustBeHost(known, caller);
  const result = await turnVm(plane, vmId, { kind: 'report', report, hostId: caller });
  if (result.kind === 'refused') throw ofRefusal(result.refusal);
  // While its host is awaited any host may have it; whoever was not believed is told as ever.
  if (awaited && result.record !== null && !isOver(result.record, report)) mustBeHost(result.record, caller);
  return { status: 200, body: { desired: desiredFor(result.record, report.instanceId, report.uid) } };
};

/** An instance of another declaration, or one whose end is known: a host that was left is told to end it, and nothing more. */
function isOver(vm: VmRecord, { uid, instanceId }: VmReport): boolean {
  if (uid !== undefined && uid !== vm.uid) return true;
  const ended = vm.instance !== null && !live(vm.instance) && vm.instance.instanceId === instanceId;
  return ended || vm.previousInstances.some((id) => id === instanceId);
}

/** The same, or one that carries the declaration's uid and is not the present one: started by us, and nobody waits for it. */
const isLeft = (vm: VmRecord, report: VmReport): boolean =>
  isOver(vm, report) || (report.uid !== undefined && report.instanceId !== vm.instance?.instanceId);

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
  if (waitsForHost(vm) && live(vm.instance) && notTakenOn(vm.instance)) {
    throw fail(409, 'InstanceNotWanted', `VM ${vm.vmId} waits for the update of its host: launch nothing`);
  }
  if (desiredFor(vm, instanceId, undefined).power === 'off') {
    throw fail(409, 'InstanceNotWanted', `instance ${instanceId} of VM ${vm.vmId} is not to run: do not launch it`);
  }
}

function launchAnswer(plane: ControlPlane, vm: VmRecord, instanceId: string): Omit<LaunchAnswer, 'api'> {
  const deadline = live(vm.instance) ? vm.instance.startDeadlineAt : null;
  return {
    vmId: vm.vmId,
    uid: vm.uid,
    instanceId,
    launchRevision: vm.launchRevision,
    launch: vm.body.launch,
    simulateCrash: vm.body.simulateCrash ?? false,
    graceSeconds: vmPolicyOf(vm.body).grace / 1000,
    startDeadlineSeconds: deadline === null ? null : Math.max(1, between(plane.now(), deadline) / 1000),
  };
}
