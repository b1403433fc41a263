/** The event log of the fleet. */
import type { Serve } from './handler.ts';
import { encodeCursor, pageOf } from './pages.ts';

export const readEvents: Serve<'listEvents'> = async (plane, request, log) => {
  const { limit, cursor } = pageOf(request, 'events');
  const page = await log.read(limit, cursor, plane.now());
  return { status: 200, body: { items: page.items, ...encodeCursor(page.cursor, 'events') } };
};
