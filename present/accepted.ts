/** The one-line answer to a verb: what was accepted, and what the control plane says will happen. */
import type { GroupJson, NodeJson, VmJson } from '../core/contract/answers.ts';
import { oneCell, oneLine } from './text.ts';
import { nodeTone } from './nodes.ts';
import { paint, type Screen, type Tone } from './tone.ts';
import { vmTone } from './vms.ts';
import { groupState, groupTone } from './groups.ts';

/** What a verb changed, in the words that all kinds share. */
export type Changed = {
  readonly id: string;
  readonly state: string;
  readonly tone: Tone;
  readonly explanation: string;
};

export const changedNode = (node: NodeJson): Changed => ({
  id: node.nodeId,
  state: node.phase,
  tone: nodeTone(node),
  explanation: node.explanation,
});

export const changedVm = (vm: VmJson): Changed => ({
  id: vm.vmId,
  state: vm.printableStatus,
  tone: vmTone(vm),
  explanation: vm.explanation,
});

export const changedGroup = (group: GroupJson): Changed => ({
  id: group.group,
  state: groupState(group),
  tone: groupTone(group),
  explanation: group.explanation,
});

/** `stop accepted: web is Stopping. Its guest has 30 s to end.` */
export const acceptedLine = (done: string, changed: Changed, screen: Screen): string =>
  `${done}: ${changed.id} is ${paint(changed.state, changed.tone, screen)}. ${oneLine(changed.explanation)}`;

/** `id<TAB>state<TAB>explanation`. */
export const acceptedRow = (changed: Changed): string =>
  [changed.id, changed.state, changed.explanation].map(oneCell).join('\t');
