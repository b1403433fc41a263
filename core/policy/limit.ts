/** How many nodes of a group may be under way at once (DESIGN section 2 rule 4). */
import * as z from 'zod/mini';

export const LIMIT_MAX = 500;

/** A share of a group's members. */
export function percentText(message: string) {
  return z.string().check(z.regex(/^(?:[1-9]|[1-9]\d|100)%$/, message));
}

export const limitSchema = /* @__PURE__ */ z.lazy(() =>
  z.union([
    z.int().check(z.gte(1), z.lte(LIMIT_MAX)),
    z.literal('unlimited'),
    percentText('must be a number from 1 to 500, a percentage from 1% to 100%, or unlimited'),
  ]),
);
type LimitBody = z.infer<typeof limitSchema>;

export type Concurrency =
  | { kind: 'count'; count: number }
  | { kind: 'percent'; percent: number }
  | { kind: 'unlimited' };

/** As a group gives it; 1 where it gives none. */
export function concurrencyOf(limit: LimitBody = 1): Concurrency {
  if (typeof limit === 'number') return { kind: 'count', count: limit };
  if (limit === 'unlimited') return { kind: 'unlimited' };
  return { kind: 'percent', percent: Number(limit.slice(0, -1)) };
}

/** How many nodes may be under way: a percentage is of the members last counted, rounded down, at least 1. */
export function limitOf(concurrency: Concurrency, memberCount: number | null): number | null {
  switch (concurrency.kind) {
    case 'count':
      return concurrency.count;
    case 'percent':
      return Math.max(1, Math.floor(((memberCount ?? 0) * concurrency.percent) / 100));
    case 'unlimited':
      return null;
  }
}
