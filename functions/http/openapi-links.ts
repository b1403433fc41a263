/** Links of the OpenAPI document: what one may call with what a call has just made. Fuzzers and clients follow them. */
import { parametersOf, type Route } from '../../core/contract/route.ts';

type Link = { operationId: string; parameters: Record<string, string>; requestBody?: Record<string, string> };

/** The calls after which the thing in the path is there. */
const makes = ({ method, path }: Route): boolean => method === 'PUT' || path === '/v1/nodes/:nodeId/reports';

const INSTANCE = '$response.body#/instance/instanceId';

/** Every other call on what this one makes; null when it makes nothing. */
export function linksOf(id: string, table: Readonly<Record<string, Route>>): Record<string, Link> | null {
  const route = table[id];
  if (route === undefined || !makes(route)) return null;
  const [made, ...more] = parametersOf(route);
  if (made === undefined || more.length > 0) return null;
  const others = Object.entries(table).filter(
    ([other, { path }]) => other !== id && parametersOf({ path }).includes(made),
  );
  return Object.fromEntries(others.map(([other, target]) => [other, linkTo(other, target, made)]));
}

function linkTo(operationId: string, route: Route, made: string): Link {
  const parameters = { [made]: `$request.path.${made}` };
  // An instance is taken on and reported by the id that its VM shows.
  if (route.query?.includes('instanceId') === true)
    return { operationId, parameters: { ...parameters, instanceId: INSTANCE } };
  return route.path === '/v1/vms/:vmId/reports'
    ? { operationId, parameters, requestBody: { instanceId: INSTANCE } }
    : { operationId, parameters };
}
