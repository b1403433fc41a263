/** The policy of a group: read, changed as text, judged while it is typed, and put after one has seen what changes. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { GroupJson } from '../core/contract/answers.ts';
import { ROUTES } from '../core/contract/routes.ts';
import { changedOnly, diffLines } from './line-diff.ts';
import { lookAgain } from './live.ts';
import { policyText, readPolicy } from './policy-text.ts';
import { api, bodyOf, Refused } from './session.ts';

const AROUND = 2;

export function PolicyEditor({ group }: { readonly group: GroupJson }): JSX.Element {
  const current = policyText(group);
  /** What is being changed, and what it began from. */
  const [draft, setDraft] = useState<{ readonly base: string; readonly text: string } | null>(null);
  const [said, say] = useState('');
  if (draft === null) {
    return (
      <>
        <pre class="policy" tabIndex={0}>
          {current}
        </pre>
        <p role="status">{said}</p>
        <button type="button" onClick={() => setDraft({ base: current, text: current })}>
          Change the policy
        </button>
      </>
    );
  }
  const read = readPolicy(draft.text);
  const isMoved = draft.base !== current;
  const put = async (): Promise<void> => {
    if (read.kind !== 'body') return;
    try {
      const answer = bodyOf(await api.call(ROUTES.putGroup, { params: { group: group.group }, body: read.body }));
      say(`The policy was put. ${answer.explanation}`);
      setDraft(null);
      lookAgain();
    } catch (error) {
      say(`It was refused: ${sayProblems(error)}`);
    }
  };
  return (
    <>
      <label for="policy-text">Policy of {group.group}, as JSON; it replaces the whole policy</label>
      <textarea
        id="policy-text"
        class="policy"
        rows={Math.min(32, draft.text.split('\n').length + 1)}
        spellcheck={false}
        value={draft.text}
        aria-invalid={read.kind === 'problems'}
        aria-describedby="policy-problems"
        onInput={(event) => setDraft({ ...draft, text: event.currentTarget.value })}
      />
      <ul id="policy-problems" class="problems" aria-live="polite">
        {read.kind === 'problems' ? read.problems.map((problem) => <li key={problem}>{problem}</li>) : null}
        {isMoved ? (
          <li>Somebody has changed the policy since you began: what is below is against what holds now.</li>
        ) : null}
      </ul>
      <Diff before={current} after={draft.text} />
      <p role="status">{said}</p>
      <div class="answers">
        <button type="button" onClick={() => setDraft(null)}>
          Cancel
        </button>
        <button
          type="button"
          class="main"
          disabled={read.kind === 'problems' || draft.text === current}
          onClick={() => void put()}
        >
          Put this policy
        </button>
      </div>
    </>
  );
}

function Diff({ before, after }: { readonly before: string; readonly after: string }): JSX.Element | null {
  if (before === after) return <p class="calm">Nothing is changed yet.</p>;
  const lines = changedOnly(diffLines(before, after), AROUND);
  return (
    <pre class="diff" tabIndex={0} aria-label="What changes">
      {lines.map(({ kind, text }, n) => (
        <span key={n} class={`diff-${kind}`}>
          {kind === 'gone' ? '− ' : kind === 'new' ? '+ ' : '  '}
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

function sayProblems(error: unknown): string {
  if (!(error instanceof Refused)) return error instanceof Error ? error.message : String(error);
  return [error.message, ...error.problems.map(({ path, message }) => `${path}: ${message}`)].join('; ');
}
