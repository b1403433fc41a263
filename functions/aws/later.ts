/**
 * A client of the SDK that is made when it is first asked for anything: what an invocation does not use, its cold start
 * does not pay for. A report that changes nothing uses one of the four (docs/design-notes.md).
 */
export function later<C extends object>(make: () => C): C {
  let made: C | null = null;
  // It has nothing of its own: every property is the client's, and a method is called on the client.
  return new Proxy({} as C, {
    get(_nothing, name): unknown {
      made ??= make();
      const value: unknown = Reflect.get(made, name);
      return typeof value === 'function' ? value.bind(made) : value;
    },
  });
}
