import { expect, test } from 'vitest';
import type { Route } from '../../core/contract/route.ts';
import { ROUTE_ANSWERS } from '../../core/contract/route-answers.ts';
import { ROUTE_NAMES, ROUTES } from '../../core/contract/routes.ts';
import { nameOf } from '../../core/contract/schemas.ts';

test.each(ROUTE_NAMES)('body and answer of %s have a name in core/contract/schemas.ts', (name) => {
  const { body }: Route = ROUTES[name];
  expect(nameOf(ROUTE_ANSWERS[name])).toBeTypeOf('string');
  expect(body === undefined ? 'none' : nameOf(body)).toBeTypeOf('string');
});

test('no two routes are the same call', () => {
  const calls = ROUTE_NAMES.map((name) => `${ROUTES[name].method} ${ROUTES[name].path.replaceAll(/:\w+/g, ':id')}`);
  expect(new Set(calls).size).toBe(calls.length);
});
