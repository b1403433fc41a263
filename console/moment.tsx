/** Instants as they pass: `in 12 s`, counted down; the instant itself on hover and for programs. */
import type { JSX } from 'preact';
import { sayWhen } from '../present/when.ts';
import { now } from './live.ts';

export function Moment({ at }: { readonly at: string }): JSX.Element {
  return (
    <time dateTime={at} title={at}>
      {sayWhen(at, now.value)}
    </time>
  );
}
