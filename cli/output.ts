/** The three ways to print a result: the API's JSON, for a person at a terminal, and for a pipe. */
import type { Tools } from './command.ts';
import { pick } from './fields.ts';

export type Result = {
  readonly json: unknown;
  readonly screen: () => string;
  readonly piped: () => string;
};

/** Prints a result in the way that was asked for; an empty text prints nothing. */
export function print(tools: Tools, result: Result): void {
  if (tools.json) return tools.io.out(`${JSON.stringify(chosen(tools, result.json), null, 2)}\n`);
  const text = tools.io.isTty ? result.screen() : result.piped();
  if (text !== '') tools.io.out(`${text}\n`);
}

/** The answer, or what was asked for of it. */
export const chosen = (tools: Tools, body: unknown): unknown =>
  tools.fields === undefined ? body : pick(body, tools.fields);
