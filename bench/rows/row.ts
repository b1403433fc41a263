/** A row of the bench: figures against the targets of DESIGN section 10. */

/** What a figure is to be; null where it is only measured and kept. */
export type Target = { readonly most: number } | { readonly least: number } | null;

export type Figure = {
  readonly what: string;
  readonly target: Target;
  readonly measured: number;
  readonly unit: string;
  /** How it was found where that is not plain: extrapolated, or by a wall clock. */
  readonly note?: string;
};

export type Row = {
  readonly name: string;
  /** What it measures, in a few words. */
  readonly about: string;
  /** It takes minutes, or a browser: only with `--long` or by its name. */
  readonly long?: true;
  readonly measure: () => Promise<readonly Figure[]>;
};

/** 1 or less: met. How far the figure is from its target, whichever way that lies. */
export function ratioOf({ target, measured }: Figure): number | null {
  if (target === null) return null;
  if ('least' in target) return target.least / measured;
  // What must not be at all is met by none, and missed by any.
  return target.most === 0 ? measured : measured / target.most;
}

/** CPU time of this process in milliseconds, user and system: what else runs on the machine does not count. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
