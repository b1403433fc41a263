/** What happened in a simulation, as data; the sentences in it are for people alone. */
import type { CommandAction } from '../../core/decision/fact.ts';
import type { Duration, Instant } from '../../core/kit/time.ts';
import type { Change } from './narrate.ts';

export type TimerBy = 'scheduler' | 'vernier';

/** What set a decision off. */
export type Cause = { by: 'start' } | { by: 'call'; call: string } | { by: TimerBy; late: Duration } | { by: 'sweep' };

export type Happening = {
  at: Instant;
  /** `decision`: a record was written; `timer`: one was armed, or fired and acted. */
  kind: 'step' | 'decision' | 'event' | 'timer' | 'wake' | 'sweep' | 'problem';
  subject: string;
  text: string;
  /** Of a decision: what set it off, what a person sees change, and the record's own explanation. */
  cause?: Cause;
  changes?: readonly Change[];
  why?: string;
  /** Of an event: its type. */
  event?: string;
  /** Of a wake: for what, and whether it is the first for that decision. */
  wake?: { action: CommandAction; decided: boolean };
  /** Of a timer that was armed: what is waited for, until when, and whether it is a start or an attempt. */
  waits?: { what: string; until: Instant; retry: boolean; vernier: boolean };
  /** Of a timer that fired and acted. */
  fired?: { by: TimerBy; wanted: Instant; late: Duration };
};

const NAMES: Readonly<Record<TimerBy, string>> = { vernier: 'the vernier', scheduler: 'Scheduler' };

export function sayCause(cause: Cause): string {
  switch (cause.by) {
    case 'start':
      return 'it is given at the start';
    case 'call':
      return cause.call;
    case 'sweep':
      return 'the sweep found it due';
    case 'vernier':
    case 'scheduler':
      return `${NAMES[cause.by]} fired ${cause.late / 1000} s after the instant`;
  }
}
