/**
 * The API as its callers use it: one signed request a call, over whatever transport they have. What a refusal means,
 * and when to try again, is theirs to say.
 */
import type { AnswerOf } from '../core/contract/route-answers.ts';
import type { Route } from '../core/contract/route.ts';
import { callOf, type CallOf } from './request.ts';
import type { Signer } from './sign.ts';

export type HttpRequest = {
  readonly method: Route['method'];
  readonly url: URL;
  /** The signature among them; Host is the transport's. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};
export type HttpAnswer = { readonly status: number; readonly text: string };
/** Sends one request and gives what came back, whatever its status. Rejects when nothing came back. */
export type Transport = (request: HttpRequest) => Promise<HttpAnswer>;

export type Answer<R extends Route> = {
  readonly status: number;
  /** As it came; null when it is not JSON. A 2xx of a control plane of this version has the route's shape. */
  readonly body: AnswerOf<R> | null;
  readonly text: string;
};

export type Client = {
  readonly call: <R extends Route>(route: R, call: CallOf<R>) => Promise<Answer<R>>;
};

/** @param endpoint with its stage, without a slash at its end */
export function createClient(endpoint: string, sign: Signer, transport: Transport): Client {
  return {
    call: async (route, call) => {
      const { method, target, body: given } = callOf(route, call);
      const url = new URL(endpoint + target);
      const body = given === undefined ? null : JSON.stringify(given);
      const { status, text } = await transport({ method, url, headers: await sign({ method, url, body }), body });
      return { status, body: parseJson(text), text };
    },
  };
}

/** `fetch` as a transport, for programs that have it and need no more of it than a time limit. */
export const fetchTransport =
  (timeoutMs: number): Transport =>
  async ({ method, url, headers, body }) => {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === null ? {} : { body }),
    });
    return { status: response.status, text: await response.text() };
  };

/** The type is the route's promise; whoever cannot rely on the version of the other side reads the answer by its schema. */
function parseJson<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}
