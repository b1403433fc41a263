/** What a person sees of the deployment test: numbered steps with their times, and what each found. */

export interface Steps {
  /** Runs one step and says how long it took; a failure is said and thrown on. */
  readonly step: <T>(title: string, work: () => Promise<T>) => Promise<T>;
  /** A finding within a step. */
  readonly note: (text: string) => void;
}

export function createSteps(write: (line: string) => void): Steps {
  let number = 0;
  return {
    note: (text) => write(`      ${text}`),
    step: async (title, work) => {
      number += 1;
      const label = `${String(number).padStart(3)}. ${title}`;
      write(label);
      const started = performance.now();
      try {
        const result = await work();
        write(`      ok, ${secondsSince(started)}`);
        return result;
      } catch (error) {
        write(`      FAILED after ${secondsSince(started)}`);
        throw error;
      }
    },
  };
}

export const secondsSince = (started: number): string => `${((performance.now() - started) / 1000).toFixed(1)} s`;

/** An expectation that did not hold, in words. */
export class DeployTestError extends Error {
  override readonly name = 'DeployTestError';
}

/** @throws {DeployTestError} when the two are not the same JSON */
export function same(what: string, actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new DeployTestError(`${what}: expected ${wanted}, found ${found}`);
}

/** @throws {DeployTestError} when it does not hold */
export function holds(what: string, condition: boolean, found: unknown = ''): void {
  if (!condition) throw new DeployTestError(`${what} does not hold${found === '' ? '' : `: ${JSON.stringify(found)}`}`);
}

const LOOK_EVERY_MS = 200;

/**
 * Waits for a condition, with a bound that only a fault passes; what was seen last is in the error.
 *
 * @param look answers what was waited for, or null while it is not there
 */
export async function until<T>(what: string, look: () => Promise<T | null>, patienceSeconds = 90): Promise<T> {
  const end = performance.now() + patienceSeconds * 1000;
  let last: unknown = 'not yet';
  while (performance.now() < end) {
    try {
      const found = await look();
      if (found !== null) return found;
      last = 'not yet';
    } catch (error) {
      // It may be on its way: only the bound decides.
      last = error;
    }
    await new Promise((wake) => setTimeout(wake, LOOK_EVERY_MS));
  }
  throw new DeployTestError(`waited ${patienceSeconds} s in vain for: ${what}; last: ${String(last)}`, { cause: last });
}
