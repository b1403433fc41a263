/** The same fleet in words: for the keyboard, for screen readers, and for reading. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Grouping } from './address.ts';
import type { Mark } from './marks.ts';
import { State } from './mark-shape.tsx';
import { Sentence } from './moment.tsx';
import { Link } from './navigation.tsx';

const STEP = 100;

export function FleetList({ marks, by }: { readonly marks: readonly Mark[]; readonly by: Grouping }): JSX.Element {
  const [most, setMost] = useState(STEP);
  const sorted = [...marks].sort((a, b) => (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0));
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Nodes and VMs">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">State</th>
              <th scope="col">{by === 'zone' ? 'Zone' : by === 'host' ? 'Host' : 'Group'}</th>
              <th scope="col">Version</th>
              <th scope="col">Why, and what next</th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, most).map((mark) => (
              <tr key={`${mark.kind} ${mark.id}`}>
                <td class="id">
                  <Link to={{ name: mark.kind, id: mark.id }}>{mark.id}</Link>
                </td>
                <td>
                  <State tone={mark.tone} text={mark.state} />
                </td>
                <td>{mark[by]}</td>
                <td>{mark.version ?? ''}</td>
                <td class="why">
                  <Sentence text={mark.explanation} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > most ? (
        <button type="button" onClick={() => setMost(most + STEP)}>
          Show more ({sorted.length - most} left)
        </button>
      ) : null}
    </>
  );
}
