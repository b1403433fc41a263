/** What answers are made of. */
import * as z from 'zod/mini';
import { ATTENTION_CODES } from './words.ts';

/** The version of the API, which every answer names: `1.n`, where a larger n only adds. */
export const apiVersion = () => z.string().check(z.regex(/^1\.\d+$/));
export const instantText = () => z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/));
export const count = () => z.int().check(z.nonnegative());

/** Why a person should look at a thing: a code to sort by, and its cause in a few words, the same for all that have it. */
export const concernSchema = z.object({ code: z.enum(ATTENTION_CODES), cause: z.string() });
export type Attention = z.infer<typeof concernSchema>;
