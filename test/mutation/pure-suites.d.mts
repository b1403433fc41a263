/** A test of a pure suite; its name begins with those of the `describe` around it. */
export type Collected = { file: string; name: string; title: string; run: () => unknown };

export function bundleSuites(
  root: string,
  files: readonly string[],
  change?: (file: string, text: string) => string,
): Promise<() => Collected[]>;

export function failureOf(run: () => unknown): Promise<string | null>;
