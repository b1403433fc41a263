/** What may be done: each verb asks first and says what it does; one that is refused now is greyed out and says why. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Why } from '../core/contract/can.ts';
import { lookAgain } from './live.ts';
import { Refused } from './session.ts';

export type Verb = {
  readonly name: string;
  /** What it does, in a sentence that a person can say yes to. */
  readonly says: string;
  /** Null: it is accepted now. */
  readonly why: Why | null;
  /** What it needs to be told; null: nothing. */
  readonly asks: { readonly label: string; readonly value: string; readonly hint: string } | null;
  readonly isGrave: boolean;
  /** Sends it; resolves with what the control plane says of the thing now. */
  readonly send: (given: string) => Promise<string>;
};

type Said = { readonly text: string; readonly tone: 'good' | 'bad' };

export function Verbs({ verbs, subject }: { readonly verbs: readonly Verb[]; readonly subject: string }): JSX.Element {
  const [chosen, choose] = useState<Verb | null>(null);
  const [said, say] = useState<Said | null>(null);
  const refused = verbs.filter(({ why }) => why !== null);
  return (
    <div class="verbs">
      {verbs.map((verb) => (
        <button
          key={verb.name}
          type="button"
          class={verb.isGrave ? 'grave' : ''}
          aria-disabled={verb.why !== null}
          {...(verb.why === null
            ? {}
            : { title: verb.why.detail, 'aria-describedby': `why-${verb.name.replaceAll(' ', '-')}` })}
          onClick={() => (verb.why === null ? choose(verb) : undefined)}
        >
          {verb.name}
        </button>
      ))}
      {refused.map(({ name, why }) => (
        <p key={name} class="refusal" id={`why-${name.replaceAll(' ', '-')}`}>
          <b>{name}</b> is refused now: {why?.detail}
        </p>
      ))}
      <p role="status" class={said === null ? '' : `said tone-${said.tone}`}>
        {said?.text ?? ''}
      </p>
      {chosen === null ? null : (
        <Confirm
          verb={chosen}
          subject={subject}
          done={(outcome) => {
            choose(null);
            if (outcome !== null) say(outcome);
          }}
        />
      )}
    </div>
  );
}

type ConfirmProps = {
  readonly verb: Verb;
  readonly subject: string;
  readonly done: (said: Said | null) => void;
};

function Confirm({ verb, subject, done }: ConfirmProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const send = async (): Promise<void> => {
    setBusy(true);
    try {
      const text = await verb.send(input.current?.value.trim() ?? '');
      lookAgain();
      done({ text: `${verb.name} accepted. ${text}`, tone: 'good' });
    } catch (error) {
      done({ text: `${verb.name} was refused: ${sayError(error)}`, tone: 'bad' });
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="confirm" onClose={() => done(null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <h2 id="confirm">
          {verb.name} {subject}?
        </h2>
        <p>{verb.says}</p>
        {verb.asks === null ? null : (
          <label>
            {verb.asks.label}
            <input ref={input} required defaultValue={verb.asks.value} />
            <small>{verb.asks.hint}</small>
          </label>
        )}
        <div class="answers">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class={verb.isGrave ? 'grave' : 'main'} disabled={busy}>
            {busy ? 'Sending …' : `Yes, ${verb.name}`}
          </button>
        </div>
      </form>
    </dialog>
  );
}

function sayError(error: unknown): string {
  if (!(error instanceof Refused)) return error instanceof Error ? error.message : String(error);
  return [error.message, ...error.problems.map(({ path, message }) => `${path}: ${message}`)].join('; ');
}
