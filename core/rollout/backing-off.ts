import { sayWhen } from '../kit/time.ts';
import type { OwnGate } from './gate.ts';

/** It crashed, and waits for its retry (DESIGN section 2 rule 3). */
export const backingOff: OwnGate = {
  code: 'BackingOff',
  at: ['start'],
  endsAttempt: false,
  keepsSlot: false,
  ask: ({ node, now }) => {
    const { retryAfter, resetAt } = node.crash;
    if (retryAfter === null || retryAfter <= now) return null;
    const forgotten = resetAt === null ? '' : `, and the record is forgotten ${sayWhen(resetAt, now)}`;
    return {
      until: retryAfter,
      words: `Waits after a crash; the next attempt may begin ${sayWhen(retryAfter, now)}${forgotten}`,
    };
  },
};
