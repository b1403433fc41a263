/** A tone as shape and colour: neither alone says it. */
import type { JSX } from 'preact';
import type { Tone } from '../present/tone.ts';

/** In a square of 10: dot, ring, triangle, diamond, square with a notch. One path each, for canvas and SVG alike. */
export const SHAPES: Readonly<Record<Tone, { readonly path: string; readonly outline: boolean }>> = {
  good: { path: 'M5 2.4a2.6 2.6 0 1 1 0 5.2a2.6 2.6 0 1 1 0-5.2Z', outline: false },
  quiet: { path: 'M5 2.2a2.8 2.8 0 1 1 0 5.6a2.8 2.8 0 1 1 0-5.6Z', outline: true },
  busy: { path: 'M2.2 1.4 8.6 5 2.2 8.6Z', outline: false },
  warn: { path: 'M5 .6 9.4 5 5 9.4.6 5Z', outline: false },
  bad: { path: 'M1 1h8v8h-8Z', outline: false },
  plain: { path: 'M2 4.2h6v1.6h-6Z', outline: false },
};

export function MarkShape({ tone }: { readonly tone: Tone }): JSX.Element {
  const { path, outline } = SHAPES[tone];
  return (
    <svg class={`mark tone-${tone}${outline ? ' outline' : ''}`} viewBox="0 0 10 10" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** A state with its mark before it. */
export function State({ tone, text }: { readonly tone: Tone; readonly text: string }): JSX.Element {
  return (
    <span class={`state tone-${tone}`}>
      <MarkShape tone={tone} />
      {text}
    </span>
  );
}
