/** How the page speaks to its server: with the token of this run, which came in the address that was opened. */
import { createClient, fetchTransport } from '../client/client.ts';
import { TOKEN_HEADER } from '../client/page-token.ts';
import type { Problem } from '../core/contract/answers.ts';

const KEPT_AS = 'holdoff-token';
const TIMEOUT_MS = 20_000;

/** Takes the token out of the address: what stands there is shown, sent to others and kept in the history. */
export function takeToken(): void {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (given === undefined) return;
  // Of this origin, port included, alone; other tabs of the same person find it there.
  localStorage.setItem(KEPT_AS, given);
  history.replaceState(null, '', location.pathname + location.search);
}

/** The API as the page's server passes it on. */
export const api = createClient(
  location.origin,
  ({ body }) =>
    Promise.resolve({
      [TOKEN_HEADER]: localStorage.getItem(KEPT_AS) ?? '',
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    }),
  fetchTransport(TIMEOUT_MS),
);

/** A call that was refused, with what the refusal said. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly problems: readonly { readonly path: string; readonly message: string }[];

  constructor(status: number, { code, detail, errors }: Pick<Problem, 'code' | 'detail' | 'errors'>) {
    super(detail);
    this.status = status;
    this.code = code;
    this.problems = errors ?? [];
  }
}

/** The body of a success; throws `Refused` for anything else that came back. */
export function bodyOf<T>(answer: { readonly status: number; readonly body: T | null; readonly text: string }): T {
  if (answer.status >= 200 && answer.status < 300 && answer.body !== null) return answer.body;
  throw new Refused(answer.status, problemIn(answer.text));
}

function problemIn(text: string): Pick<Problem, 'code' | 'detail' | 'errors'> {
  try {
    const said: unknown = JSON.parse(text);
    if (typeof said === 'object' && said !== null && 'detail' in said && 'code' in said) {
      const errors = 'errors' in said && Array.isArray(said.errors) ? said.errors : [];
      // Every problem of the API lists its errors as path and message.
      return { code: String(said.code), detail: String(said.detail), errors: errors as NonNullable<Problem['errors']> };
    }
    if (typeof said === 'object' && said !== null && 'message' in said)
      return { code: 'Gateway', detail: String(said.message) };
  } catch {
    // Not JSON: its beginning says most.
  }
  return { code: 'Unreadable', detail: text.slice(0, 200) || 'an empty answer came back' };
}
