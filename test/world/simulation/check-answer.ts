/** Answers: G10 and G11, and that a race is never answered with a fault of the server's own. */
import type { Answer, Call } from './call.ts';
import type { Invocation } from '../../../world/kernel.ts';
import { at, type Guarantee, type Stored, textAt } from './violation.ts';

/** What the checks of an answer may look at. */
export type Seen = {
  /** The items that an invocation has written. */
  wrote: (invocation: Invocation) => readonly string[];
  stored: (key: string) => Stored | null;
  /** Who wrote an item since an invocation began, other than that invocation. */
  othersSince: (key: string, invocation: Invocation) => boolean;
};

export type Found = { guarantee: Guarantee; what: string };

export function checkAnswer(call: Call, answer: Answer | null, self: Invocation, seen: Seen): Found[] {
  if (answer === null) return [];
  const found: Found[] = [];
  const what = `${call.method} ${call.path}`;
  const { status } = answer;
  const wrote = seen.wrote(self);
  if (status >= 400 && status < 500 && wrote.length > 0)
    found.push({
      guarantee: 'G10',
      what: `${what} was refused with ${status} and yet changed ${wrote.join(', ')}`,
    });
  if (!mayCall(call)) {
    if (status !== 403 && status !== 400)
      found.push({ guarantee: 'G11', what: `${what} by ${sayCaller(call)} was answered ${status}` });
    if (wrote.length > 0)
      found.push({ guarantee: 'G11', what: `${what} by ${sayCaller(call)} changed ${wrote.join(', ')}` });
    return found;
  }
  if (call.wrongHost === true) {
    const told = call.method === 'GET' && status === 200;
    if (told || wrote.length > 0)
      found.push({
        guarantee: 'G11',
        what: `${what} by ${sayCaller(call)}, which is not the host, was answered ${status} and wrote ${wrote.length} items`,
      });
  }
  const key = keyOf(call.path);
  if (key !== null && status < 300 && call.caller.kind === 'operator' && !seen.othersSince(key, self)) {
    const lost = lostWrite(call, seen.stored(key));
    if (lost !== null) found.push({ guarantee: 'G10', what: `${what} was answered ${status}, and ${lost}` });
  }
  return found;
}

const sayCaller = ({ caller }: Call): string => (caller.kind === 'node' ? `node ${caller.nodeId}` : caller.kind);

/** Who may call what, as DESIGN section 6 says; which VMs a node may speak for is judged by the simulation's own calls. */
function mayCall({ caller, path, method }: Call): boolean {
  if (caller.kind === 'stranger' || caller.kind === 'nobody') return false;
  const nodeRoute = /^\/v1\/nodes\/([^/]+)\/(reports|vms)$/.exec(path);
  const vmRoute = /^\/v1\/vms\/[^/]+\/(reports|launch)/.test(path);
  if (caller.kind === 'operator')
    return !(vmRoute || (nodeRoute !== null && (nodeRoute[2] === 'vms' || method === 'POST')));
  return nodeRoute === null ? vmRoute : nodeRoute[1] === caller.nodeId;
}

function keyOf(path: string): string | null {
  const [, kinds = '', id = ''] = /^\/v1\/(nodes|vms|groups)\/([^/?]+)/.exec(path) ?? [];
  return kinds === '' ? null : `${kinds.slice(0, -1)}#${id}`;
}

/** What an accepted verb must have left behind; null when it has. */
function lostWrite({ method, path, body }: Call, stored: Stored | null): string | null {
  const verb = /\/([a-z]+)$/i.exec(path)?.[1] ?? '';
  const removed = stored === null || at(stored, 'removed') !== null;
  if (method === 'PUT') {
    const same = canonical(at(stored, 'body')) === canonical(body);
    return same ? null : 'the item does not hold that body';
  }
  if (method === 'DELETE' && path.startsWith('/v1/nodes/')) return removed ? null : 'the node is still there';
  if (method === 'DELETE' && path.startsWith('/v1/vms/'))
    return removed || at(stored, 'deleting') !== null ? null : 'the VM is not being deleted';
  if (method !== 'POST' || removed) return null;
  const wants: Record<string, boolean> = {
    stop: at(stored, 'power.on') === false,
    start: at(stored, 'power.on') === true,
    restart: at(stored, 'power.on') === true,
    hold: textAt(stored, 'heldBy') !== null,
    release: textAt(stored, 'heldBy') === null,
    pause: textAt(stored, 'pausedBy') !== null,
    resume: textAt(stored, 'pausedBy') === null,
    retry: at(stored, 'crash.retryAfter') === null,
  };
  return wants[verb] === false ? `the item shows nothing of ${verb}` : null;
}

/** JSON with its keys in order. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${key}:${canonical(inner)}`).join(',')}}`;
}
