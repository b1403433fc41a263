/** Shows the demo until it is interrupted: on a terminal as a table that moves, elsewhere as lines; and tells its story. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import type { EventEntry } from '../../core/contract/answers.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { instant } from '../../core/kit/time.ts';
import { eventLine } from '../../present/events.ts';
import { FOLLOWER } from './rollout.ts';
import { frame, states } from './screen.ts';
import type { Seen, Story } from './story.ts';

export type Show = {
  client: Client;
  /** What has been said so far, and what is said meanwhile. */
  notices: readonly string[];
  /** So many of them stay on screen: what to look at. */
  opening: number;
  story: Story;
  interrupted: AbortSignal;
};

type Looked = Seen & { events: readonly EventEntry[] };

const EVERY_LIVE_MS = 500;
const EVERY_PLAIN_MS = 1000;

export async function showLive(show: Show): Promise<void> {
  const { notices, opening, story, interrupted } = show;
  const said = notices.length;
  const colour = process.env['NO_COLOR'] === undefined;
  process.stdout.write('\u001B[2J');
  while (!interrupted.aborted) {
    const seen = await look(show.client);
    if (seen !== null) {
      const now = instant(Date.now());
      const heading = notices.slice(0, opening).concat(notices.slice(said).slice(-1));
      const told = story.tell(seen, now).map(({ text }) => text);
      const { columns, rows } = process.stdout;
      draw(frame({ ...seen, now, heading, story: told }, columns, rows, colour));
      await closeOverdue(show, seen);
    }
    await wait(EVERY_LIVE_MS, undefined, { signal: interrupted }).catch(() => undefined);
  }
}

/** Over what stood there, without a flicker. */
function draw(text: string): void {
  const lines = text.split('\n').map((line) => `${line}\u001B[K`);
  process.stdout.write(`\u001B[H${lines.join('\n')}\u001B[J`);
}

export async function showPlain(show: Show): Promise<void> {
  const shown = new Set<string>();
  const told = new Set<string>();
  let before = new Map<string, string>();
  while (!show.interrupted.aborted) {
    const seen = await look(show.client);
    if (seen !== null) {
      for (const event of seen.events.toReversed()) {
        if (shown.has(event.id)) continue;
        shown.add(event.id);
        process.stdout.write(`${eventLine(event, { width: Number.POSITIVE_INFINITY, colour: false })}\n`);
      }
      const now = new Map(states(seen.nodes, seen.vms).map((line) => [line.slice(0, line.indexOf(':')), line]));
      for (const [state, line] of now) if (!before.has(state)) process.stdout.write(`  = ${line}\n`);
      before = now;
      for (const { key, text } of show.story.tell(seen, instant(Date.now()))) {
        if (!told.has(key)) process.stdout.write(`» ${text}\n`);
        told.add(key);
      }
      await closeOverdue(show, seen);
    }
    await wait(EVERY_PLAIN_MS, undefined, { signal: show.interrupted }).catch(() => undefined);
  }
}

/** What there is now; null while the control plane is away. */
async function look(client: Client): Promise<Looked | null> {
  const query = { limit: '200' };
  try {
    const [nodes, vms, groups, events] = await Promise.all([
      client.call(ROUTES.listNodes, { query }),
      client.call(ROUTES.listVms, { query }),
      client.call(ROUTES.listGroups, { query }),
      client.call(ROUTES.listEvents, { query: { limit: '60' } }),
    ]);
    return {
      nodes: nodes.body?.items ?? [],
      vms: vms.body?.items ?? [],
      groups: groups.body?.items ?? [],
      events: events.body?.items ?? [],
    };
  } catch {
    // It is restarting: the supervisor says so.
    return null;
  }
}

/** Nobody has closed the breaker: the demo goes on by itself, as it has said. */
async function closeOverdue({ client, story }: Show, seen: Seen): Promise<void> {
  const version = story.overdue(seen, instant(Date.now()));
  if (version === null) return;
  try {
    const { status } = await client.call(ROUTES.closeBreaker, { params: { group: FOLLOWER }, body: { version } });
    if (status < 300) story.closedByDemo();
  } catch {
    // The control plane is restarting: the next look tries again.
  }
}
