/** A version that a person lets past its age and its promotion: an urgent patch (DESIGN section 2b, Windows). */
import type { Instant } from '../kit/time.ts';
import { sameVersion } from './version-rules.ts';

export type Expedited = { version: string; by: string; until: Instant };

export const isExpedited = (expedited: readonly Expedited[], version: string): boolean =>
  expedited.some((entry) => sameVersion(entry.version, version));

/** Those that still hold. */
export const inForce = (expedited: readonly Expedited[], now: Instant): Expedited[] =>
  expedited.filter(({ until }) => until > now);
