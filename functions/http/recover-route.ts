/** `holdoff recover`: one page of it per request, so that a fleet of any size fits into the time of one. */
import type { RecoverAnswer } from '../../core/contract/answers.ts';
import { formatInstant } from '../../core/kit/time.ts';
import { recover } from '../operations/recover.ts';
import { fail, ofRefusal } from './problem.ts';
import type { Serve } from './handler.ts';
import { decodeCursor, encodeCursor } from './pages.ts';

export const recoverRoute: Serve<'recover'> = async (plane, request) => {
  const by = request.caller;
  const { force = false, cursor } = request.body;
  const place = cursor === undefined ? null : decodeCursor(cursor, 'recovery');
  if (cursor !== undefined && place === null) {
    throw fail(400, 'InvalidCursor', 'the cursor is not one that a recovery returned; leave it out to begin again');
  }
  const page = await recover(plane, by, force, place);
  if ('refusal' in page) throw ofRefusal(page.refusal);
  const { recovery, touched } = page;
  const body: RecoverAnswer = {
    recovery: {
      at: formatInstant(recovery.at),
      by: recovery.by,
      finishedAt: recovery.finishedAt === null ? null : formatInstant(recovery.finishedAt),
    },
    done: recovery.finishedAt !== null,
    touched: { groups: touched.group, vms: touched.vm, nodes: touched.node },
    ...encodeCursor(page.cursor, 'recovery'),
  };
  return { status: 202, body };
};
