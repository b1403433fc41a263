/** Events in words, newest first. */
import type { JSX } from 'preact';
import type { EventEntry } from '../core/contract/answers.ts';
import { eventsByAge } from '../present/events.ts';
import type { View } from './address.ts';
import { MarkShape } from './mark-shape.tsx';
import { Moment, Sentence } from './moment.tsx';
import { Link } from './navigation.tsx';

type EventsProps = { readonly events: readonly EventEntry[]; readonly withSubject?: boolean };

export function EventsTable({ events, withSubject = false }: EventsProps): JSX.Element {
  if (events.length === 0) return <p class="calm">None yet.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Events, newest first">
      <table class="events">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Event</th>
            {withSubject ? <th scope="col">About</th> : null}
            <th scope="col">What was said</th>
          </tr>
        </thead>
        <tbody>
          {eventsByAge(events)
            .toReversed()
            .map((event) => (
              <tr key={event.id}>
                <td class="when">
                  <Moment at={event.at} />
                </td>
                <td class={event.severity === 'warning' ? 'tone-warn' : ''}>
                  {event.severity === 'warning' ? <MarkShape tone="warn" /> : null}
                  {event.type}
                </td>
                {withSubject ? <td class="id">{aboutWhat(event.subject)}</td> : null}
                <td class="why">
                  <Sentence text={event.message} />
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

const NAMES: Readonly<Record<string, 'node' | 'vm' | 'group'>> = { node: 'node', vm: 'vm', group: 'group' };

/** `node/i-…` leads to that node; a subject of another kind is said as it is. */
function aboutWhat(subject: string): JSX.Element {
  const [kind = '', id = ''] = subject.split('/');
  const name = NAMES[kind];
  const view: View | null = name === undefined || id === '' ? null : { name, id };
  return view === null ? <>{subject}</> : <Link to={view}>{id}</Link>;
}
