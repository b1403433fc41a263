/** Comparing what is with what a scenario expects. */
import { type Instant, parseInstant } from '../../core/kit/time.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** The value at a dotted path; a path into null, or to a field that is not there, is null. */
export function valueAt(value: unknown, path: string): unknown {
  let current: unknown = value;
  for (const part of path.split('.')) {
    if (current === null || typeof current !== 'object') return null;
    // An object is read by its keys; what is not there is undefined.
    current = (current as Record<string, unknown>)[part] ?? null;
  }
  return current;
}

/** Instants compare in seconds from start. */
function comparable(actual: unknown, start: Instant): unknown {
  if (typeof actual !== 'string' || !INSTANT.test(actual)) return actual;
  const at = parseInstant(actual);
  return at === null ? actual : (at - start) / 1000;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param resolve turns `$current` and the like into the id meant */
export function matches(
  expected: unknown,
  actual: unknown,
  start: Instant,
  resolve: (text: string) => string,
): boolean {
  if (isObject(expected) && 'oneOf' in expected && Array.isArray(expected['oneOf'])) {
    return expected['oneOf'].some((one) => matches(one, actual, start, resolve));
  }
  if (
    isObject(expected) &&
    Object.keys(expected).length > 0 &&
    Object.keys(expected).every((key) => key === 'min' || key === 'max')
  ) {
    const value = comparable(actual, start);
    if (typeof value !== 'number') return false;
    const { min, max } = expected;
    return (typeof min !== 'number' || value >= min) && (typeof max !== 'number' || value <= max);
  }
  if (typeof expected === 'number') return comparable(actual, start) === expected;
  if (typeof expected === 'string') {
    if (actual === resolve(expected)) return true;
    return typeof actual === 'string' && INSTANT.test(expected) && parseInstant(expected) === parseInstant(actual);
  }
  return same(expected, actual);
}

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => same(item, b[index]));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => same(a[key], b[key]));
  }
  return a === b;
}

/** An instant as a person reads it beside an expectation in seconds. */
export function showActual(actual: unknown, start: Instant): unknown {
  const value = comparable(actual, start);
  return value === actual ? actual : `${String(actual)} (${String(value)} s from start)`;
}
