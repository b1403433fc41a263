import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { createAlarms } from './alarms.ts';
import type { Chance } from './chance.ts';
import { openJournal } from './journal.ts';

/** What goes wrong, and how often. All odds are "one in N"; 0 is never, 1 is always. */
export interface SqsFaults {
  /** A message becomes visible this much after its delay, drawn evenly. */
  latenessMs: readonly [min: number, max: number];
  /** A message becomes visible `earlyMs` before its delay has passed. */
  earlyOneIn: number;
  earlyMs: number;
  /** Delivered twice. */
  twiceOneIn: number;
}

export interface QueueDefinition {
  readonly name: string;
  /** Default 30 s. */
  readonly visibilityTimeoutSeconds?: number;
  /** After this many receives without a delete a message goes to `deadLetterQueue`. */
  readonly maxReceiveCount?: number;
  /** Name of a queue of the same list. */
  readonly deadLetterQueue?: string;
}

const Message = z.object({
  messageId: z.string(),
  body: z.string(),
  sentMs: z.number(),
  /** Hidden until then: by its delay, or because someone has received it. */
  visibleAtMs: z.number(),
  receives: z.number(),
  firstReceiveMs: z.nullable(z.number()),
});
type Message = z.infer<typeof Message>;

export interface Received extends Message {
  readonly receiptHandle: string;
}

export interface Depth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

/** One queue: its messages on disk, and which of them are visible. */
export interface Queue {
  readonly definition: QueueDefinition;
  readonly visibilityTimeoutMs: number;
  send(body: string, delaySeconds: number): { readonly messageId: string };
  /** Takes up to `max` visible messages and hides them for so long, the queue's visibility timeout unless said. */
  readonly receive: (max: number, hiddenMs?: number) => Received[];
  /** Hides what was received with this handle for so long from now; a message already gone is no error here. */
  readonly hide: (receiptHandle: string, hiddenMs: number) => void;
  /** Deletes what was received with this handle; a message already gone is no error, as in SQS. */
  readonly remove: (receiptHandle: string) => void;
  /** Messages that can be received now. */
  readonly visible: number;
  readonly depth: () => Depth;
  /** Calls back each time a message has become visible. */
  watch(listener: () => void): void;
  readonly close: () => void;
}

export interface QueueOptions {
  readonly definition: QueueDefinition;
  readonly file: string;
  readonly chance: Chance;
  readonly faults: SqsFaults;
  /** Takes what was received too often. */
  readonly bury: (body: string) => void;
}

/** Opens a queue and makes visible what became so while nobody looked. */
export function openQueue(options: QueueOptions): Queue {
  const { definition, chance, faults } = options;
  const visibilityTimeoutMs = (definition.visibilityTimeoutSeconds ?? 30) * 1000;
  const journal = openJournal(options.file, (value) => z.parse(Message, value));
  const alarms = createAlarms();
  const visible = new Set<string>();
  let listener = (): void => undefined;

  const hideUntil = (key: string, atMs: number): void => {
    visible.delete(key);
    alarms.set(key, atMs, () => {
      visible.add(key);
      listener();
    });
  };
  const store = (key: string, message: Message): void => {
    journal.put(key, message);
    hideUntil(key, message.visibleAtMs);
  };
  const drop = (key: string): void => {
    alarms.cancel(key);
    visible.delete(key);
    journal.remove(key);
  };
  const arrivalMs = (nowMs: number, delaySeconds: number): number => {
    const dueMs = nowMs + delaySeconds * 1000;
    if (chance.oneIn(faults.earlyOneIn)) return Math.max(nowMs, dueMs - faults.earlyMs);
    return dueMs + chance.between(...faults.latenessMs);
  };
  const take = (key: string, message: Message, nowMs: number, hiddenMs: number): Received | null => {
    const { maxReceiveCount } = definition;
    if (maxReceiveCount !== undefined && message.receives >= maxReceiveCount) {
      options.bury(message.body);
      drop(key);
      return null;
    }
    const taken = {
      ...message,
      visibleAtMs: nowMs + hiddenMs,
      receives: message.receives + 1,
      firstReceiveMs: message.firstReceiveMs ?? nowMs,
    };
    store(key, taken);
    return { ...taken, receiptHandle: `${key}#${taken.receives}` };
  };

  for (const [key, message] of journal.entries()) hideUntil(key, message.visibleAtMs);
  return {
    definition,
    visibilityTimeoutMs,
    send: (body, delaySeconds) => {
      const messageId = randomUUID();
      const sentMs = Date.now();
      const copies = chance.oneIn(faults.twiceOneIn) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        const visibleAtMs = arrivalMs(sentMs, delaySeconds);
        store(randomUUID(), { messageId, body, sentMs, visibleAtMs, receives: 0, firstReceiveMs: null });
      }
      return { messageId };
    },
    receive: (max, hiddenMs = visibilityTimeoutMs) => {
      const nowMs = Date.now();
      const received: Received[] = [];
      // A key that is taken leaves the set, and none joins it, while this goes through it.
      for (const key of visible) {
        if (received.length >= max) break;
        const message = journal.get(key);
        const taken = message === undefined ? null : take(key, message, nowMs, hiddenMs);
        if (taken !== null) received.push(taken);
      }
      return received;
    },
    hide: (receiptHandle, hiddenMs) => {
      const key = receiptHandle.split('#')[0] ?? '';
      const message = journal.get(key);
      if (message !== undefined) store(key, { ...message, visibleAtMs: Date.now() + hiddenMs });
    },
    remove: (receiptHandle) => drop(receiptHandle.split('#')[0] ?? ''),
    get visible() {
      return visible.size;
    },
    depth: () => {
      let inFlight = 0;
      for (const [key, message] of journal.entries()) if (!visible.has(key) && message.receives > 0) inFlight += 1;
      return { visible: visible.size, inFlight, delayed: journal.size - visible.size - inFlight };
    },
    watch: (given) => {
      listener = given;
    },
    close: () => {
      alarms.stop();
      journal.close();
    },
  };
}

export const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
