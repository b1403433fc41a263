/** Pages of a list: how long one is, and where the next begins. */
import { LIMIT_DEFAULT, LIMIT_MAX } from '../../core/contract/query.ts';
import { parseGroupId, parseNodeId, parseVmId } from '../../core/kit/ids.ts';
import { parseInstant } from '../../core/kit/time.ts';
import type { Unreadable } from '../unreadable.ts';
import { fail } from './problem.ts';

/** What a cursor says of a list: the id, or the key in the log, of the last item given. */
const CURSORS = {
  nodes: (text: string) => parseNodeId(text) !== null,
  vms: (text: string) => parseVmId(text) !== null,
  groups: (text: string) => parseGroupId(text) !== null,
  events: (text: string) =>
    /^\d{4}-\d\d-\d\dT[\d:.]{12}Z#[\w/.-]{1,200}$/.test(text) && parseInstant(text.slice(0, 24)) !== null,
  recovery: (text: string) => {
    const kind = text.slice(0, text.indexOf(':'));
    const id = text.slice(text.indexOf(':') + 1);
    if (kind === 'node') return id === '' || parseNodeId(id) !== null;
    if (kind === 'vm') return id === '' || parseVmId(id) !== null;
    return kind === 'group' && (id === '' || parseGroupId(id) !== null);
  },
} as const;
type List = keyof typeof CURSORS;

/** @param list the list that the cursor must be of */
export function pageOf(
  { query }: { readonly query: URLSearchParams },
  list: List,
): { limit: number; cursor: string | null } {
  const text = query.get('limit');
  const limit = text === null ? LIMIT_DEFAULT : /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMIT_MAX) {
    throw fail(400, 'InvalidLimit', `limit must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  const cursor = query.get('cursor');
  if (cursor === null) return { limit, cursor };
  const place = decodeCursor(cursor, list);
  if (place === null) {
    throw fail(400, 'InvalidCursor', `the cursor is not one that the list of ${list} returned`);
  }
  return { limit, cursor: place };
}

/** What a cursor stands for; null when it is not one of that list. */
export function decodeCursor(cursor: string, list: List): string | null {
  const decoded = Buffer.from(cursor, 'base64url').toString('utf8');
  const prefix = `${list}:`;
  const position = decoded.slice(prefix.length);
  const genuine = decoded.startsWith(prefix) && Buffer.from(decoded, 'utf8').toString('base64url') === cursor;
  return genuine && CURSORS[list](position) ? position : null;
}

export const encodeCursor = (cursor: string | null, list: List): { cursor?: string } =>
  cursor === null ? {} : { cursor: Buffer.from(`${list}:${cursor}`, 'utf8').toString('base64url') };

/** What of a page could not be read: it is named, and the rest of the page is whole. */
export const sayUnreadable = (items: readonly Unreadable[]): { unreadable?: { id: string; why: string }[] } =>
  items.length === 0 ? {} : { unreadable: items.map(({ id, why }) => ({ id, why })) };
