/** Whether what is shown is how things are; in words as soon as it is not. */
import type { JSX } from 'preact';
import { sayDuration, between } from '../core/kit/time.ts';
import { connection, lookAgain, now } from './live.ts';

export function ConnectionLine(): JSX.Element {
  const state = connection.value;
  return (
    <div class={`connection ${state.kind}`} role="status">
      {state.kind === 'lost' ? (
        <p>
          {state.locked ? (
            <>
              <b>No key to this run.</b> Open the address that `npm start` or `holdoff console` printed: it carries the
              key.
            </>
          ) : (
            <>
              <b>Connection lost</b> {sayDuration(between(state.since, now.value))} ago: {state.why}. What you see is
              how things were; it is tried again by itself.{' '}
            </>
          )}
          <button type="button" onClick={lookAgain}>
            Try now
          </button>
        </p>
      ) : null}
    </div>
  );
}
