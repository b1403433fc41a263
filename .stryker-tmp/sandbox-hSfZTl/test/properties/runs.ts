// @ts-nocheck
import type { Parameters } from 'fast-check';

/** Under mutation testing each mutant is put to a few runs, always the same ones. */
export const FEW_RUNS = process.env['HOLDOFF_PROPERTIES'] === 'few';

/** How often a property is tried. */
export const runs = (full: number): Pick<Parameters, 'numRuns' | 'seed'> =>
  FEW_RUNS ? { numRuns: Math.ceil(full / 10), seed: 1 } : { numRuns: full };
