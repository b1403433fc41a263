/** What the pages of a node, a VM and a group share. */
import { signal, type Signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Field } from '../present/fields.ts';
import { oneLine } from '../present/text.ts';
import type { Tone } from '../present/tone.ts';
import { FLEET } from './address.ts';
import { useLive, type Look } from './live.ts';
import { State } from './mark-shape.tsx';
import { Sentence } from './moment.tsx';
import { Link } from './navigation.tsx';
import { Refused } from './session.ts';

export type Seen<T> = { readonly data: T | null; readonly refused: Refused | null };

/** One thing, looked at again and again. */
export function useThing<T>(
  key: string,
  ask: () => Promise<{ readonly data: T; readonly moving: boolean }>,
): Signal<Seen<T>> {
  const seen = useMemo(() => signal<Seen<T>>({ data: null, refused: null }), [key]);
  const look: Look = async (isCurrent) => {
    const { data, moving } = await ask();
    if (isCurrent()) seen.value = { data, refused: null };
    return { moving, pages: 1 };
  };
  useLive(key, look, (error) => {
    if (error instanceof Refused && error.status === 404) seen.value = { data: null, refused: error };
  });
  return seen;
}

/** While nothing is known, or because there is no such thing. */
export function Nothing({ refused, name }: { readonly refused: Refused | null; readonly name: string }): JSX.Element {
  return (
    <main>
      <h1>{name}</h1>
      <p class="calm">
        {refused === null ? (
          'Looking …'
        ) : (
          <>
            {refused.message}. <Link to={FLEET}>The fleet</Link> shows what there is.
          </>
        )}
      </p>
    </main>
  );
}

type HeadProps = {
  readonly name: string;
  readonly kind: string;
  readonly tone: Tone;
  readonly state: string;
  readonly explanation: string;
  readonly children?: ComponentChildren;
};

/** The explanation first: it is what one came for. */
export function Head({ name, kind, tone, state, explanation, children }: HeadProps): JSX.Element {
  return (
    <div class={`head edge-${tone}`}>
      <p class="kind">{kind}</p>
      <h1 class="id">{name}</h1>
      <State tone={tone} text={state} />
      <p class="explanation">
        <Sentence text={explanation} />
      </p>
      {children}
    </div>
  );
}

export function Fields({ fields }: { readonly fields: readonly Field[] }): JSX.Element {
  return (
    <dl class="fields">
      {fields.map(({ label, text, tone }, n) => (
        <div key={`${label} ${n}`}>
          <dt>{label}</dt>
          <dd class={tone === undefined ? '' : `tone-${tone}`}>{oneLine(text)}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Raw({ value }: { readonly value: unknown }): JSX.Element {
  return (
    <details class="raw">
      <summary>Raw JSON</summary>
      <pre tabIndex={0}>{JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}

type SectionProps = { readonly title: string; readonly children: ComponentChildren };

export function Section({ title, children }: SectionProps): JSX.Element {
  const id = title.toLowerCase().replaceAll(/\W+/g, '-');
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
