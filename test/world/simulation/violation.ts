/** A guarantee that was broken, told so that a person can see what happened and a scenario can show it. */
export type Guarantee = 'G1' | 'G2' | 'G3' | 'G4' | 'G5' | 'G6' | 'G7' | 'G8' | 'G9' | 'G10' | 'G11';

export type Violation = {
  guarantee: Guarantee;
  /** `node/i-…`, `vm/web`, `group/default`. */
  subject: string;
  at: number;
  what: string;
  /** What the API should have shown then: path → value, as a scenario's `match` says it. */
  expected: Record<string, unknown> | null;
};

/** An item as it is stored, read without any code of the product. */
export type Stored = Readonly<Record<string, unknown>>;

/** The value under a dotted path; a path into nothing is null. */
export function at(record: unknown, path: string): unknown {
  let value: unknown = record;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null) return null;
    value = (value as Record<string, unknown>)[part]; // an object's properties may be read by any name
  }
  return value ?? null;
}

export const numberAt = (record: unknown, path: string): number | null => {
  const value = at(record, path);
  return typeof value === 'number' ? value : null;
};

export const textAt = (record: unknown, path: string): string | null => {
  const value = at(record, path);
  return typeof value === 'string' ? value : null;
};

/** A write takes a moment to arrive: an instant that it names is believed if it lies in that moment. */
export function decidedAt(record: unknown, path: string, now: number): number {
  const named = numberAt(record, path);
  return named !== null && named <= now && named > now - 10_000 ? named : now;
}

/** What the checks know of the write they judge. */
export type Write = {
  id: string;
  before: Stored | null;
  after: Stored;
  now: number;
  /** The call that made it (`POST /v1/…`), or what else ran (`timer`, `sweep`, …). */
  by: string;
  /** The body of that call. */
  body: unknown;
  /** No service fails any more. */
  servicesWork: boolean;
  /** What is stored of another item, by its key. */
  stored: (key: string) => Stored | null;
  /** The ids and items of a kind. */
  all: (kind: 'node' | 'vm' | 'group') => [string, Stored][];
  /** Hosts that somebody has fenced. */
  fenced: ReadonlySet<string>;
  /** Host → when it was first heard under the boot that it was last heard to begin. */
  booted: ReadonlyMap<string, number>;
};

export type Report = (guarantee: Guarantee, what: string, expected?: Record<string, unknown>) => void;
