/** What follows a write that is committed never changes its answer: what fails is logged, and left to the sweep (G10). */
import type { ControlPlane } from '../ports.ts';

/** @param what could not be done, as words that end a sentence: "the slot of node i-a could not be given back" */
export async function leftToSweep<T>(
  { telemetry }: Pick<ControlPlane, 'telemetry'>,
  what: string,
  act: () => Promise<T>,
): Promise<T | null> {
  try {
    return await act();
  } catch (error) {
    telemetry.warn(`${what}; the next sweep does it`, { error: String(error) });
    return null;
  }
}
