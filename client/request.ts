/** A call of the API as a request, made from its route: nobody writes a path by hand. */
import type * as z from 'zod/mini';
import type { NamesIn, Route } from '../core/contract/route.ts';

export type ApiCall = {
  readonly method: Route['method'];
  /** Below the endpoint, with its query. */
  readonly target: string;
  readonly body: unknown;
};

type Named<Path extends string> = { readonly [N in NamesIn<Path>]: string };
type Body<R extends Route> = R extends { readonly body: infer B extends z.core.$ZodType } ? z.input<B> : undefined;
type Query<R extends Route> = R extends { readonly query: readonly (infer Q extends string)[] }
  ? { readonly [N in Q]?: string }
  : undefined;

/** What a call of a route takes: ids in its path, its body, its query. */
export type CallOf<R extends Route> = (NamesIn<R['path']> extends never
  ? { readonly params?: undefined }
  : { readonly params: Named<R['path']> }) &
  (Body<R> extends undefined ? { readonly body?: undefined } : { readonly body: Body<R> }) & {
    readonly query?: Query<R>;
  };

type Loose = {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
};

/** The request of a call. Ids and values of the query are escaped as a signature has them. */
export function callOf<R extends Route>(route: R, call: CallOf<R>): ApiCall {
  const { params = {}, query = {}, body }: Loose = call;
  const path = route.path.replaceAll(/:(\w+)/g, (_all, name: string) => escapeUri(params[name] ?? ''));
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${escapeUri(name)}=${escapeUri(value)}`],
  );
  return { method: route.method, target: `${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`, body };
}

/** As encodeURIComponent, and the five characters that RFC 3986 reserves and it does not. */
const escapeUri = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
