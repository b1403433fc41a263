/** The forms that fields of several bodies share: durations, short texts, names of hooks. */
import * as z from 'zod/mini';
import { parseDuration } from './time.ts';

export const durationText = () =>
  z
    .string()
    .check(
      z.refine((text) => parseDuration(text) !== null, 'must be a duration such as 90s, 15m or 24h, at most 365d'),
    );
export const positiveDuration = () =>
  durationText().check(z.refine((text) => (parseDuration(text) ?? 1) > 0, 'must be longer than nothing'));
export const shortText = () => z.string().check(z.minLength(1), z.maxLength(256));

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
