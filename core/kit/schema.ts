/** What the bodies of the contract are made of: each says to the API's document what its check holds. */
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { DURATION_PATTERN, POSITIVE_DURATION_PATTERN } from './duration-pattern.ts';
import {
  INSTANCE_ID_PATTERN,
  INSTANCE_ID_RULE,
  NAME_PATTERN,
  NAME_RULE,
  NODE_ID_PATTERN,
  NODE_ID_RULE,
  parseGroupId,
  parseInstanceId,
  parseNodeId,
  parseVmId,
} from './ids.ts';
import { parseDuration } from './time.ts';

// zod/mini has no words of its own: every message would be "Invalid input".
z.config(en());

/** A text that code judges, with what the API's document says of it: JSON Schema cannot show a function. */
const judged = (judge: (text: string) => boolean, message: string, shown: Readonly<Record<string, unknown>>) =>
  z
    .string()
    .check(z.refine(judge, message))
    .register(z.globalRegistry, { ...shown });
export const durationText = () =>
  judged((text) => parseDuration(text) !== null, 'must be a duration such as 90s, 15m or 24h, at most 365d', {
    pattern: DURATION_PATTERN,
    description: 'a duration such as 90s, 15m or 24h, at most 365d',
  });
export const positiveDuration = () =>
  judged(
    (text) => (parseDuration(text) ?? 0) > 0,
    'must be a duration such as 90s, 15m or 24h, longer than nothing and at most 365d',
    {
      pattern: POSITIVE_DURATION_PATTERN,
      description: 'a duration such as 90s, 15m or 24h, longer than nothing and at most 365d',
    },
  );
export const nodeId = () =>
  judged((text) => parseNodeId(text) !== null, `must be ${NODE_ID_RULE}`, { pattern: NODE_ID_PATTERN });
export const groupId = () =>
  judged((text) => parseGroupId(text) !== null, `must be ${NAME_RULE}`, { pattern: NAME_PATTERN });
export const vmId = () => judged((text) => parseVmId(text) !== null, `must be ${NAME_RULE}`, { pattern: NAME_PATTERN });
export const instanceId = () =>
  judged((text) => parseInstanceId(text) !== null, `must be ${INSTANCE_ID_RULE}`, { pattern: INSTANCE_ID_PATTERN });
/** Lengths are counted in characters, as JSON Schema counts them: one outside the basic plane is one, not two. */
export const text = (minLength: number, maxLength: number) =>
  judged(
    (given) => {
      const length = Array.from(given).length;
      return length >= minLength && length <= maxLength;
    },
    `must have ${minLength === 0 ? `at most ${maxLength}` : `${minLength} to ${maxLength}`} characters`,
    { ...(minLength === 0 ? {} : { minLength }), maxLength },
  );
export const shortText = () => text(1, 256);
/** The table keeps no number nearer to nothing than this; a smaller one is nothing (facts: DynamoDB's numbers). */
const TINY = 1e-9;
export const notTiny = () => z.overwrite<number>((given) => (Math.abs(given) < TINY ? 0 : given));
/** Seconds since a boot: a thousand years are enough, and any larger number is beyond what the table keeps exactly. */
export const UPTIME_MAX = 3.2e10;

/** A hook is named here and nowhere spelled out: what runs under the name stands in the node's own configuration. */
const HOOK_NAME_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
export const hookName = () =>
  z
    .string()
    .check(
      z.regex(
        HOOK_NAME_PATTERN,
        'must be a name of 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit',
      ),
    );
