/** Links of the OpenAPI document: what one may call with what a call has just made. Fuzzers and clients follow them. */
import { operationIdOf, parametersOf, type Route } from './route.ts';

type Link = { operationId: string; parameters: Record<string, string>; requestBody?: Record<string, string> };

/** The calls after which the thing in the path is there. */
const makes = ({ method, path }: Route): boolean => method === 'PUT' || path === '/v1/nodes/:nodeId/reports';

const INSTANCE = '$response.body#/instance/instanceId';

/** Every other call on what this one makes; null when it makes nothing. */
export function linksOf(route: Route, routes: readonly Route[]): Record<string, Link> | null {
  const [made, ...more] = parametersOf(route);
  if (!makes(route) || made === undefined || more.length > 0) return null;
  const others = routes.filter((other) => other !== route && parametersOf(other).includes(made));
  return Object.fromEntries(others.map((other) => [operationIdOf(other), linkTo(other, made)]));
}

function linkTo(route: Route, made: string): Link {
  const operationId = operationIdOf(route);
  const parameters = { [made]: `$request.path.${made}` };
  // An instance is taken on and reported by the id that its VM shows.
  if (route.query?.includes('instanceId') === true)
    return { operationId, parameters: { ...parameters, instanceId: INSTANCE } };
  return route.path === '/v1/vms/:vmId/reports'
    ? { operationId, parameters, requestBody: { instanceId: INSTANCE } }
    : { operationId, parameters };
}
