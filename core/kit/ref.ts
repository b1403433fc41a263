/** Which aggregate something is about: a timer, a message, an entry of an index. */
import { type GroupId, type NodeId, parseGroupId, parseNodeId, parseVmId, type VmId } from './ids.ts';

export type Ids = { node: NodeId; vm: VmId; group: GroupId };
export type AggregateKind = keyof Ids;
export type Ref = { [K in AggregateKind]: { kind: K; id: Ids[K] } }[AggregateKind];

/** Null for a kind that is none of ours, and for an id that is none of its kind. */
export function parseRef(kind: string, text: string): Ref | null {
  switch (kind) {
    case 'node': {
      const id = parseNodeId(text);
      return id === null ? null : { kind, id };
    }
    case 'vm': {
      const id = parseVmId(text);
      return id === null ? null : { kind, id };
    }
    case 'group': {
      const id = parseGroupId(text);
      return id === null ? null : { kind, id };
    }
    default:
      return null;
  }
}
