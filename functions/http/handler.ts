/** What answers a call: its request as admitted, and the answer that its route promises. */
import type { RouteAnswer } from '../../core/contract/route-answers.ts';
import type { RouteBody, RouteName, RouteParameters, Routes, RouteSuccess } from '../../core/contract/routes.ts';
import type { NodeId } from '../../core/kit/ids.ts';
import type { ControlPlane, EventLog } from '../ports.ts';

/** A call whose caller may make it: ids, the names in its query, and body are parsed, and trusted from here on. */
export type ApiRequest<N extends RouteName> = {
  readonly params: RouteParameters<N>;
  readonly query: URLSearchParams;
  readonly body: RouteBody<N>;
  /** The node that calls, or the person's name. */
  readonly caller: Routes[N]['who'] extends 'node' | 'host' ? NodeId : string;
};

export type ApiAnswer<N extends RouteName> = {
  status: RouteSuccess<N>;
  body: Omit<RouteAnswer<N>, 'api'>;
};

export type Serve<N extends RouteName> = (
  plane: ControlPlane,
  request: ApiRequest<N>,
  log: EventLog,
) => Promise<ApiAnswer<N>>;
