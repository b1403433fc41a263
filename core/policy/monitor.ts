/**
 * How an updated node is watched (DESIGN section 6, group body `monitor`). Checks look at the node itself: at its
 * loopback addresses, its units, or through a hook that its own configuration names. The API cannot point them elsewhere.
 */
import * as z from 'zod/mini';
import { durationText, hookName, positiveDuration } from '../kit/schema.ts';
import { type Duration, durationOr, minutes, seconds } from '../kit/time.ts';

export const CHECKS_MAX = 20;
const CHECK_TIMEOUT: Duration = seconds(5);
/** The reason an agent gives when a check fails; it blocks the version unless the node stays on it. */
export const HEALTH_CHECK_FAILED = 'HealthCheckFailed';

const port = () => z.int().check(z.gte(1), z.lte(65_535));
const unit = () =>
  z
    .string()
    .check(
      z.regex(
        /^[A-Za-z0-9:_.@][A-Za-z0-9:_.\\@-]{0,200}\.(?:service|socket|target|mount|timer|path|scope|slice)$/,
        'must be the full name of a systemd unit, such as kubelet.service',
      ),
    );
const path = () => z.string().check(z.regex(/^\/[\x21-\x7e]{0,1023}$/, 'must begin with / and hold no space'));

/** Made when a schema is: nothing is built when the module is loaded. */
const shapes = () => ({
  systemd: { type: z.literal('systemd'), unit: unit() },
  http: {
    type: z.literal('http'),
    port: port(),
    path: z.optional(path()),
    scheme: z.optional(z.enum(['http', 'https'])),
    /** The status that is healthy; without it any from 200 to 399. */
    status: z.optional(z.int().check(z.gte(100), z.lte(599))),
  },
  tcp: { type: z.literal('tcp'), port: port() },
  exec: { type: z.literal('exec'), hook: hookName() },
});
const asked = () => ({ name: hookName(), timeout: z.optional(positiveDuration()) });
const told = () => ({ name: z.string(), timeoutSeconds: z.number().check(z.positive()) });

/** The checks of a group's body; its answer shows them as they were given. */
export const checks = () =>
  z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({ ...asked(), ...shapes().systemd }),
        z.strictObject({ ...asked(), ...shapes().http }),
        z.strictObject({ ...asked(), ...shapes().tcp }),
        z.strictObject({ ...asked(), ...shapes().exec }),
      ]),
    )
    .check(
      z.maxLength(CHECKS_MAX),
      z.refine(
        (checks) => new Set(checks.map(({ name }) => name)).size === checks.length,
        'must have names of their own: a failure is reported by name',
      ),
    );
export const onFailure = () => z.enum(['rollback', 'report']);

export const monitorSchema = /* @__PURE__ */ z.lazy(() =>
  z.strictObject({
    soak: z.optional(durationText()),
    checks: z.optional(checks()),
    onFailure: z.optional(onFailure()),
  }),
);
export type MonitorBody = z.infer<typeof monitorSchema>;

/** A check as an agent reads it: fields that a newer control plane adds are left alone. */
export const healthCheckSchema = /* @__PURE__ */ z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object({ ...told(), ...shapes().systemd }),
    z.object({ ...told(), ...shapes().http }),
    z.object({ ...told(), ...shapes().tcp }),
    z.object({ ...told(), ...shapes().exec }),
  ]),
);
export type HealthCheck = z.infer<typeof healthCheckSchema>;

/** What a node carries of it through an attempt: defaults filled in, durations in seconds. */
export type MonitorPolicy = { checks: HealthCheck[]; onFailure: 'rollback' | 'report' };

/** What the agent is told; `withinSeconds`: how long the first round may fail before it is to say so itself. */
export type MonitorPlan = MonitorPolicy & { withinSeconds: number };

/** Null when nothing is to be checked. */
export function monitorPolicyOf(body: MonitorBody | undefined): MonitorPolicy | null {
  const checks = body?.checks ?? [];
  if (checks.length === 0) return null;
  return {
    checks: checks.map(({ timeout, ...check }) => ({
      ...check,
      timeoutSeconds: checkTimeout(timeout) / 1000,
    })),
    onFailure: body?.onFailure ?? 'rollback',
  };
}

const checkTimeout = (timeout: string | undefined): Duration => durationOr(timeout, CHECK_TIMEOUT);

/** Checks that could take as long as the whole step they have to pass in. */
export const slowChecks = (body: MonitorBody | undefined, deadline: Duration) =>
  (body?.checks ?? []).flatMap((check, index) =>
    checkTimeout(check.timeout) < deadline
      ? []
      : [
          {
            path: ['monitor', 'checks', index, 'timeout'],
            input: check.timeout,
            message:
              'must be shorter than the deadline of MonitoringUpdate (5m unless set), in which it has to pass; the default is 5s',
          },
        ],
  );

/** What the node needs to say what failed, and be heard, before the control plane's deadline passes over it. */
const REPORT_MARGIN: Duration = minutes(1);

/** A deadline that is short keeps most of its time for the checks. */
export function monitorPlanOf(policy: MonitorPolicy, deadline: Duration): MonitorPlan {
  return { ...policy, withinSeconds: (deadline - Math.min(REPORT_MARGIN, deadline / 5)) / 1000 };
}
