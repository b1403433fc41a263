/** What needs attention: a line for each cause, the worst first; each opens to those it is about. */
import type { JSX } from 'preact';
import type { Cause } from '../present/causes.ts';
import { Link } from './navigation.tsx';
import { State } from './mark-shape.tsx';
import { Moment } from './moment.tsx';

/** More of one cause are counted, not listed: the list of the fleet has them all. */
const LISTED_MAX = 200;

type CausesProps = { readonly causes: readonly Cause[]; readonly complete: boolean; readonly empty: boolean };

export function Causes({ causes, complete, empty }: CausesProps): JSX.Element {
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      {causes.length === 0 ? (
        <p class="calm">{sayCalm(complete, empty)}</p>
      ) : (
        <ul class="causes">
          {causes.map((cause) => (
            <CauseLine key={cause.key} cause={cause} />
          ))}
        </ul>
      )}
    </section>
  );
}

function sayCalm(complete: boolean, empty: boolean): string {
  if (!complete) return 'Looking at every node and VM …';
  if (empty) return 'Nothing is here yet. A node appears with the first report of its agent.';
  return 'Nothing. All is as it should be.';
}

function CauseLine({ cause }: { readonly cause: Cause }): JSX.Element {
  const [only] = cause.ids;
  if (cause.ids.length === 1 && only !== undefined) {
    return (
      <li class="cause">
        <Line cause={cause} who={<Link to={{ name: cause.kind, id: only }}>{only}</Link>} />
      </li>
    );
  }
  return (
    <li class="cause">
      <details>
        <summary>
          <Line cause={cause} who={<b>{cause.who}</b>} />
        </summary>
        <ul class="members">
          {cause.ids.slice(0, LISTED_MAX).map((id) => (
            <li key={id}>
              <Link to={{ name: cause.kind, id }}>{id}</Link>
            </li>
          ))}
          {cause.ids.length > LISTED_MAX ? <li>and {cause.ids.length - LISTED_MAX} more</li> : null}
        </ul>
      </details>
    </li>
  );
}

function Line({ cause, who }: { readonly cause: Cause; readonly who: JSX.Element }): JSX.Element {
  return (
    <span class="line">
      <State tone={cause.tone} text={cause.state} />
      <span class="who">{who}</span>
      <span class="why">{cause.why}</span>
      <span class="next">
        {cause.next === null ? null : (
          <>
            next try <Moment at={cause.next} />
          </>
        )}
      </span>
    </span>
  );
}
