/** How long an attempt takes and how often it fails, from the event log alone. */
import { expect, test } from 'vitest';
import type { EventEntry } from '../../../core/contract/answers.ts';
import { formatInstant, instant, minutes, seconds } from '../../../core/kit/time.ts';
import { paceOf, SUPPOSED } from '../../../world/forecast/pace.ts';

const START = instant(Date.UTC(2026, 0, 5));
let entries = 0;
const entry = (subject: string, type: string, at: number): EventEntry => {
  entries += 1;
  return {
    id: `${subject}/${entries}`,
    at: formatInstant(instant(START + at)),
    type,
    severity: 'info',
    subject,
    message: '',
  };
};
const attempt = (node: string, from: number, ms: number, end = 'Node Updated'): EventEntry[] => [
  entry(`node/${node}`, 'Node Update Started', from),
  entry(`node/${node}`, end, from + ms),
];

test('the middle one of the attempts that ended well, without the soak, and the share that failed', () => {
  const log = [
    ...attempt('a', 0, minutes(8)),
    ...attempt('b', 5, minutes(60)),
    ...attempt('c', 9, minutes(7)),
    ...attempt('d', 11, seconds(20), 'Node Crashed'),
  ].reverse();
  expect(paceOf(log, minutes(2))).toEqual({ attempt: minutes(6), failing: 0.25, learntFrom: 4 });
});

test('a crash without its beginning, and what has not ended yet, say nothing', () => {
  const log = [
    entry('node/a', 'Node Crashed', 0),
    entry('node/b', 'Node Update Started', 1),
    entry('vm/x', 'VM Ended', 2),
  ];
  expect(paceOf(log, minutes(2))).toEqual(SUPPOSED);
});

test('where every attempt failed its length is supposed', () => {
  expect(paceOf(attempt('a', 0, seconds(9), 'Node Crashed'), minutes(2))).toEqual({
    attempt: SUPPOSED.attempt,
    failing: 1,
    learntFrom: 1,
  });
});
