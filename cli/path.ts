/** Dotted paths into the API's JSON, as `--for phase=Idle` and `--json nodeId,spec.version` name them. */

/** What stands there; undefined where the path leads nowhere. */
export const valueAt = (body: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null
          ? Object.entries(value).find(([name]) => name === key)?.[1]
          : undefined,
      body,
    );
