/** What a route is: a call, who may make it, what it takes and what it answers. Data: nothing here serves it. */
import type * as z from 'zod/mini';
import type { QueryName } from './query.ts';
import type { GroupId, NodeId, VmId } from '../kit/ids.ts';

/**
 * Who may call (DESIGN section 6): the node in the path; a node, of which the VM's own turn judges whether it is its
 * host; a person who looks or acts; a person who acts.
 */
export type Who = 'node' | 'host' | 'viewer' | 'operator';

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

export type Route = {
  readonly method: Method;
  /** With `:name` for a parameter. */
  readonly path: string;
  readonly who: Who;
  readonly summary: string;
  readonly body?: z.core.$ZodType;
  /** A person's query with any other name is refused. */
  readonly query?: readonly QueryName[];
  /** Its own statuses, besides those that any route may answer. */
  readonly statuses: readonly number[];
  /** Also served while the table is a restored copy that was not recovered. */
  readonly whileRestored?: true;
  /** The answer is a document with a version of its own: the API's is not added. */
  readonly bare?: true;
};

export type NamesIn<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | NamesIn<More>
    : Rest
  : never;
type Parameters = { nodeId: NodeId; vmId: VmId; group: GroupId };
/** The ids in a path, parsed. */
export type ParametersOf<Path extends string> = Pick<Parameters, NamesIn<Path> & keyof Parameters>;

/** The parameters in its path, in their order. */
export const parametersOf = ({ path }: Pick<Route, 'path'>): string[] =>
  [...path.matchAll(/:(\w+)/g)].flatMap((match) => (match[1] === undefined ? [] : [match[1]]));

/** A call of an agent, not of a person. */
export const isAgents = ({ who }: Pick<Route, 'who'>): boolean => who === 'node' || who === 'host';
