/** What a story comes to: everything that is to be the same whoever died on the way. */
import type { GroupRecord } from '../../../core/group/record.ts';
import type { GroupId, NodeId, VmId } from '../../../core/kit/ids.ts';
import { blockersOf } from '../../../core/node/blockers.ts';
import type { NodeRecord } from '../../../core/node/record.ts';
import { hostOf, live, type VmRecord, waitsForHost } from '../../../core/vm/record.ts';
import { printableStatus } from '../../../core/vm/status.ts';
import { minutes } from '../../../core/kit/time.ts';
import type { Stage } from './stage.ts';

/** A subject's state in words; one line each, so that a difference can be read. */
export type Final = Record<string, string>;

/** Left out, because they say when and by what dice: instants, random ids, revisions, how often a wake was repeated. */
export async function finalState(stage: Stage): Promise<Final> {
  const final: Final = {};
  const { store, history } = stage;
  for (const subject of [...history.events.keys()].sort()) {
    const [kind, id = ''] = subject.split('/');
    // The subjects are those of records that were saved: their ids are ids of their kind.
    if (kind === 'node') final[subject] = describe(nodeState((await store.load('node', id as NodeId))?.record));
    if (kind === 'vm') {
      const vm = (await store.load('vm', id as VmId))?.record;
      final[subject] = describe({ ...vmState(vm), runningOnHosts: history.alive(id) });
    }
    if (kind === 'group') {
      const group = (await store.load('group', id as GroupId))?.record;
      if (group !== undefined && !isEmpty(group)) final[subject] = describe(groupState(group));
    }
    if (final[subject] !== undefined) final[`${subject} events`] = once(history.events.get(subject) ?? []).join(', ');
  }
  const due = stage.earliestDue;
  // Two sweeps: the one that found it, and the one after a death of that one.
  const stuck = due !== null && stage.now - due > minutes(7);
  final['overdue'] = stuck ? `something was due ${(stage.now - due) / 1000} s ago` : 'nothing';
  return final;
}

/**
 * A person who fences a host again, opens a window or expedites a version, having got no answer, is written down again. A VM that was not told of its host's
 * update hears of it from the host, which ends it all the same.
 */
const SAID_AGAIN: ReadonlySet<string> = new Set(['Node Fenced', 'Window Opened', 'Version Expedited']);
const once = (events: readonly string[]): string[] =>
  events.filter(
    (type, index) => type !== 'VM Stopped For Host' && (!SAID_AGAIN.has(type) || events[index - 1] !== type),
  );

const describe = (state: object | null): string => JSON.stringify(state);

function nodeState(node: NodeRecord | undefined): object | null {
  if (node === undefined) return null;
  const { spec, status, crash, attempt } = node;
  return {
    group: node.group,
    // After a recovery it is the second of that recovery.
    spec: [spec.state, spec.version, Math.min(spec.generation, 1e6), spec.reachedAt !== null],
    status: status === null ? null : [status.state, status.currentVersion, status.bootId, status.updateCheck.result],
    attempt: attempt === null ? null : [attempt.claimId !== null, attempt.unlimited, attempt.version],
    crash: [crash.count, crash.lastState, crash.lastReason, crash.retryAfter !== null],
    blocked: node.blockedVersions,
    held: node.heldBy !== null,
    waiting: node.waitingSince !== null,
    unreachable: node.unreachableSince !== null,
    silent: node.silentSince !== null,
    fenced: node.fencedAt !== null,
    keptBy: blockersOf(node),
    removed: node.removed !== null,
  };
}

function vmState(vm: VmRecord | undefined): object {
  if (vm === undefined) return { none: true };
  const { instance } = vm;
  return {
    body: vm.body,
    host: [hostOf(vm), waitsForHost(vm)],
    launchRevision: vm.launchRevision,
    shown: printableStatus(vm),
    power: [vm.power.on, vm.power.sequence, vm.lastVerb],
    instance:
      instance === null
        ? null
        : [instance.phase, instance.everRunning, instance.cause, live(instance), instance.stop !== null],
    instances: vm.previousInstances.length,
    planned: vm.pendingStart !== null,
    startFailures: vm.startFailure?.consecutiveFailCount ?? 0,
    unstableRuns: vm.unstableRuns?.count ?? 0,
    lastFailure: vm.lastFailure?.reason ?? null,
    restarts: vm.restartCount,
    deleting: vm.deleting !== null,
    removed: vm.removed !== null,
  };
}

const groupState = (group: GroupRecord): object => ({
  body: group.body,
  paused: group.pausedBy !== null,
  slots: Object.keys(group.slots).sort(),
  members: group.memberCount,
  slotless: group.slotless,
  uncounted: group.uncountedSince !== null,
});

/** A group that only a node has named, and that holds nothing, is as good as none. */
const isEmpty = (group: GroupRecord): boolean =>
  (group.body === null || JSON.stringify(group.body) === '{}') &&
  group.pausedBy === null &&
  Object.keys(group.slots).length === 0 &&
  (group.memberCount ?? 0) === 0 &&
  group.events.length === 0;
