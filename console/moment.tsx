/** Instants as they pass: `in 12 s`, counted down; the instant itself on hover and for programs. */
import type { JSX } from 'preact';
import { oneLine } from '../present/text.ts';
import { sayWhen } from '../present/when.ts';
import { now } from './live.ts';

export function Moment({ at }: { readonly at: string }): JSX.Element {
  return (
    <time dateTime={at} title={at}>
      {sayWhen(at, now.value)}
    </time>
  );
}

const INSTANT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence of the control plane, whose instants are written as on a clock; the whole of each on hover. */
export function Sentence({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {oneLine(text)
        .split(INSTANT)
        .map((part, n) =>
          INSTANT.test(part) ? (
            <time key={n} dateTime={part} title={part}>
              {clockOf(part)}
            </time>
          ) : (
            part
          ),
        )}
    </>
  );
}

/** `04:20:03 UTC`, with its day when that is another one. */
function clockOf(at: string): string {
  const today = new Date(now.value).toISOString().slice(0, 10);
  const day = at.slice(0, 10);
  return `${day === today ? '' : `${day} `}${at.slice(11, 19)} UTC`;
}
