/** The log of the fleet. */
import type { JSX } from 'preact';
import type { EventEntry } from '../core/contract/answers.ts';
import { ROUTES } from '../core/contract/routes.ts';
import { EventsTable } from './events-table.tsx';
import { api, bodyOf } from './session.ts';
import { useThing } from './thing.tsx';

const SHOWN = '100';

export function EventsPage(): JSX.Element {
  const { data } = useThing<readonly EventEntry[]>('events', async () => ({
    data: bodyOf(await api.call(ROUTES.listEvents, { query: { limit: SHOWN } })).items,
    moving: true,
  })).value;
  return (
    <main>
      <h1>Events</h1>
      <p class="calm">The newest {SHOWN}; the control plane keeps 30 days, and `holdoff events` has them all.</p>
      {data === null ? <p class="calm">Looking …</p> : <EventsTable events={data} withSubject />}
    </main>
  );
}
