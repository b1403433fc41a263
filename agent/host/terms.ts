/** When a guest counts as unhealthy on its host, as its VM's declaration says (DESIGN section 3 rule 11). Pure. */
import * as z from 'zod/mini';
import type { LaunchAnswer, LivenessProbe } from '../../core/contract/agent-answers.ts';
import { parseDuration } from '../../core/kit/time.ts';

export const termsSchema = z.object({
  /** Resets within this time count together. */
  stableForMs: z.number(),
  /** How long a guest may fail to run; null: for ever. */
  unresponsiveMs: z.nullable(z.number()),
  /** So many resets end it; null: none do. */
  resetLimit: z.nullable(z.number()),
  liveness: z.nullable(
    z.object({
      probe: z.union([
        z.object({ tcp: z.object({ host: z.string(), port: z.number() }) }),
        z.object({ http: z.string() }),
      ]),
      everyMs: z.number(),
      failures: z.number(),
    }),
  ),
  /** It may be started on another host while nobody can ask this one. */
  elsewhere: z.boolean(),
});
export type Terms = z.infer<typeof termsSchema>;
export type Liveness = NonNullable<Terms['liveness']>;

/** DESIGN section 3 rules 2 and 11, for a control plane that says nothing of them. */
const STABLE_FOR_MS = 10 * 60_000;
const UNRESPONSIVE_FOR_MS = 5 * 60_000;
const PROBE_EVERY_MS = 10_000;
const PROBE_FAILURES = 3;

export function termsOf(answer: LaunchAnswer): Terms {
  const { stableFor, unresponsiveFor, resetLimit, liveness } = answer;
  return {
    stableForMs: (stableFor === undefined ? null : parseDuration(stableFor)) ?? STABLE_FOR_MS,
    unresponsiveMs:
      unresponsiveFor === 'none'
        ? null
        : ((unresponsiveFor === undefined ? null : parseDuration(unresponsiveFor)) ?? UNRESPONSIVE_FOR_MS),
    resetLimit: resetLimit ?? null,
    liveness: liveness === undefined ? null : livenessOf(liveness),
    elsewhere: answer.leaseSeconds !== undefined || answer.restartElsewhere === true,
  };
}

function livenessOf(probe: LivenessProbe): Liveness | null {
  const everyMs = (probe.every === undefined ? null : parseDuration(probe.every)) ?? PROBE_EVERY_MS;
  const failures = probe.failures ?? PROBE_FAILURES;
  if (probe.http !== undefined) return { probe: { http: probe.http }, everyMs, failures };
  const tcp = probe.tcp === undefined ? null : tcpTarget(probe.tcp);
  return tcp === null ? null : { probe: { tcp }, everyMs, failures };
}

/** `port` of this host, or `host:port`. */
function tcpTarget(target: string | number): { host: string; port: number } | null {
  const [, host, port] = /^(?:(.+):)?(\d{1,5})$/.exec(String(target)) ?? [];
  return port === undefined ? null : { host: host?.replace(/^\[(.*)\]$/, '$1') ?? '127.0.0.1', port: Number(port) };
}
