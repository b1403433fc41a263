/**
 * Who may call a route, decided here and nowhere else (DESIGN section 6, "Identity"; G11). Handlers are given a caller
 * whom the route admits; whether a node is the host of a VM is judged with the VM, in its own turn.
 */
import type { Who } from '../../core/contract/route.ts';
import type { NodeId } from '../../core/kit/ids.ts';
import type { Caller } from './identity.ts';
import { fail, type ProblemError } from './problem.ts';

/**
 * @param named the node in the path, where the path names one
 * @returns the caller's name: a node's id on agents' routes, else who signed
 * @throws {ProblemError} 403 for everybody else
 */
export function admit(who: Who, caller: Caller, named: NodeId | null): NodeId | string {
  switch (who) {
    case 'node':
    case 'host':
      return admitNode(caller, who === 'node' ? named : null);
    // A viewer's policy lets only GET through; here both are people.
    case 'viewer':
    case 'operator':
      return admitPerson(caller);
  }
}

function admitNode(caller: Caller, expected: NodeId | null): NodeId {
  switch (caller.kind) {
    case 'node':
      if (expected !== null && caller.nodeId !== expected) {
        throw fail(403, 'NotYourNode', `the identity is node ${caller.nodeId}; it may not speak for ${expected}`);
      }
      return caller.nodeId;
    case 'operator':
      throw fail(403, 'NodeOnly', 'only the node itself may call this route, with its instance role');
    case 'unknownNode':
      throw fail(403, 'NotYourNode', `the session name of ${caller.userArn} is not a node id`);
    case 'anonymous':
      throw noIdentity();
  }
}

function admitPerson(caller: Caller): string {
  switch (caller.kind) {
    case 'operator':
      return caller.name;
    case 'node':
    case 'unknownNode':
      throw fail(
        403,
        'OperatorOnly',
        'a node may not call an operator route: it may only report and ask what should run on it',
      );
    case 'anonymous':
      throw noIdentity();
  }
}

const noIdentity = (): ProblemError =>
  fail(403, 'NoIdentity', 'the request carries no identity of this account; sign it with SigV4 for execute-api');
