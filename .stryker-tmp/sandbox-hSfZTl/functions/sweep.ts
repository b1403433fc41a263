/** The sweep, every few minutes. */
// @ts-nocheck

import { sweep, type SweepReport } from './operations/sweep.ts';
import { wire } from './wire.ts';

const { plane } = wire();

export function handler(): Promise<SweepReport> {
  return sweep(plane);
}
