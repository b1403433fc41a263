/**
 * Draining a Kubernetes node as `kubectl drain --ignore-daemonsets` does, by the node's own identity: NodeRestriction lets
 * a node cordon itself and evict the pods bound to it, and nothing else. The cordon carries our mark, so that an
 * administrator's is never taken for ours, also when our record is lost (BU#691).
 */
import type { DrainOutcome } from '../node/drain-record.ts';
import { type DrainAdapter, DONE } from './adapter.ts';
import type { KubernetesApi, KubernetesNode, Pod } from './kubernetes-api.ts';

/** Annotation of a node that we have cordoned; its value is the node's id. */
export const MARK = 'holdoff/cordoned';
const CORDON = 'cordon';
/** Evictions in flight at once (BU#142: one by one is too slow). */
const PARALLEL = 5;

/** @param evictUnmanaged whether pods without a controller, which nothing starts again elsewhere, are evicted too */
export function kubernetesAdapter(
  connect: () => Promise<KubernetesApi>,
  nodeId: string,
  evictUnmanaged: boolean,
): DrainAdapter {
  /** UIDs of the pods that were here once the node was cordoned: whatever tolerates the cordon and comes later is no obstacle. */
  let wanted: Set<string> | null = null;
  /** What an eviction was refused with for want of a right, by UID: it is said of a pod that is still here at the next look. */
  const forbidden = new Map<string, string>();
  const stays = (pod: Pod): boolean => !evictUnmanaged && unmanaged(pod);
  const marked = ({ metadata }: KubernetesNode): boolean => metadata.annotations?.[MARK] === nodeId;
  const cordoned = ({ spec }: KubernetesNode): boolean => spec?.unschedulable === true;

  return {
    survey: async () => {
      wanted = null;
      forbidden.clear();
      const api = await connect();
      const node = await api.node();
      const mine = cordoned(node) && !marked(node) ? [] : [CORDON];
      const blockedBy = (await api.pods()).filter((pod) => mustGo(pod) && stays(pod)).map(nameUnmanaged);
      return blockedBy.length === 0 ? { kind: 'surveyed', mine } : { kind: 'blocked', mine, blockedBy };
    },
    drain: async (mine) => {
      const api = await connect();
      const node = await api.node();
      const toCordon = mine.includes(CORDON) && !(cordoned(node) && marked(node));
      if (toCordon && !(await api.patchNode(change(node, nodeId, true)))) return waiting([], []);
      const pods = (await api.pods()).filter(mustGo);
      wanted ??= new Set(pods.map(uidOf));
      const left = pods.filter((pod) => wanted?.has(uidOf(pod)) === true);
      if (left.length === 0) return DONE;
      const evicted = left.filter((pod) => !stays(pod));
      const named = evicted.flatMap((pod) => {
        const why = forbidden.get(uidOf(pod));
        return why === undefined ? [] : [`${nameOf(pod)} (${why})`];
      });
      const refusing = await evictAll(api, evicted, forbidden);
      const blockedBy = [...left.filter(stays).map(nameUnmanaged), ...named, ...refusing];
      return waiting(left.map(nameOf), blockedBy.sort());
    },
    undo: async (mine) => {
      if (mine !== null && !mine.includes(CORDON)) return DONE;
      const api = await connect();
      const node = await api.node();
      // Without the mark it was never ours, or somebody has taken it over.
      if (!marked(node)) return DONE;
      return (await api.patchNode(change(node, null, false))) ? DONE : waiting([], []);
    },
  };
}

const waiting = (left: string[], blockedBy: string[]): DrainOutcome => ({ kind: 'waiting', left, blockedBy });

/** Mark and cordon change in one write, and only if nobody else has written since we looked. */
const change = (node: KubernetesNode, mark: string | null, unschedulable: boolean): unknown => ({
  metadata: { resourceVersion: node.metadata.resourceVersion, annotations: { [MARK]: mark } },
  spec: { unschedulable: unschedulable ? true : null },
});

/** Not a DaemonSet's, which would come back; not a mirror of a static pod, which only the kubelet ends; not over. */
function mustGo({ metadata, status }: Pod): boolean {
  const daemon = metadata.ownerReferences?.some(({ kind, controller }) => kind === 'DaemonSet' && controller === true);
  const mirror = metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
  const over = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return daemon !== true && !mirror && !over;
}

/** Nothing starts it again elsewhere: whoever put it here has to move it. */
const unmanaged = ({ metadata }: Pod): boolean =>
  metadata.ownerReferences?.some(({ controller }) => controller === true) !== true;
const nameUnmanaged = (pod: Pod): string =>
  `${nameOf(pod)} (no controller starts it again elsewhere: delete it, or set unmanaged: "evict")`;

const uidOf = ({ metadata }: Pod): string => metadata.uid ?? nameOf({ metadata });
const nameOf = ({ metadata }: Pick<Pod, 'metadata'>): string => `${metadata.namespace ?? 'default'}/${metadata.name}`;

/** Evicts what is not ending yet; answers what refuses to go, with the reason. */
async function evictAll(api: KubernetesApi, pods: readonly Pod[], forbidden: Map<string, string>): Promise<string[]> {
  const queue = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const blocked: string[] = [];
  const work = async (): Promise<void> => {
    for (let pod = queue.shift(); pod !== undefined; pod = queue.shift()) {
      const { status, message } = await api.evict(pod.metadata);
      // 404: it exists no more; 409: another pod has its name. 403: it has left this node, or we may not. The next list tells.
      const gone = status === 403 || status === 404 || status === 409;
      if (status === 403) forbidden.set(uidOf(pod), message);
      if (status === 429) blocked.push(`${nameOf(pod)} (its disruption budget)`);
      else if (status >= 300 && !gone) blocked.push(`${nameOf(pod)} (${message})`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return blocked;
}
