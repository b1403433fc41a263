/** What the console's page and its server share. */

/** Carries the token of this run. A header of our own: no form can send it, and another origin's script is not allowed to. */
export const TOKEN_HEADER = 'x-holdoff-token';
