/**
 * How a node is emptied before its reboot (DESIGN section 6, group body `drain`): a list of steps, done in order and
 * undone in the opposite order. Without it nothing is drained.
 */
import * as z from 'zod/mini';
import { hookName, positiveDuration } from '../kit/schema.ts';
import { type Duration, durationOr, minutes } from '../kit/time.ts';

export const DRAIN_STEPS_MAX = 10;
/** Shorter than RebootedIntoUpdate's deadline by the time a reboot may take (DESIGN section 2). */
export const DRAIN_TIMEOUT: Duration = minutes(10);

const targetGroup = () =>
  z
    .string()
    .check(
      z.regex(
        /^arn:aws[a-z-]*:elasticloadbalancing:[a-z0-9-]+:\d{12}:targetgroup\/[A-Za-z0-9-]{1,32}\/[0-9a-f]{1,32}$/,
        'must be the ARN of a target group',
      ),
    );

/** Made when a schema is: nothing is built when the module is loaded. */
const shapes = () => ({
  // A pod that nothing starts again elsewhere blocks the drain, unless its owner says that it may go (kubectl drain --force).
  kubernetes: { type: z.literal('kubernetes'), unmanaged: z.optional(z.literal('evict')) },
  ecs: { type: z.literal('ecs') },
  loadBalancer: {
    type: z.literal('loadBalancer'),
    targetGroups: z.array(targetGroup()).check(z.minLength(1), z.maxLength(20)),
  },
  exec: { type: z.literal('exec'), hook: hookName(), undo: z.optional(hookName()) },
});

/** The steps of a group's body; its answer shows them as they were given. */
export const drainSteps = () =>
  z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject(shapes().kubernetes),
        z.strictObject(shapes().ecs),
        z.strictObject(shapes().loadBalancer),
        z.strictObject(shapes().exec),
      ]),
    )
    .check(z.maxLength(DRAIN_STEPS_MAX));
export const onDrainTimeout = () => z.enum(['abort', 'reboot']);

export const drainSchema = /* @__PURE__ */ z.lazy(() =>
  z.strictObject({
    steps: drainSteps(),
    timeout: z.optional(positiveDuration()),
    onTimeout: z.optional(onDrainTimeout()),
  }),
);
export type DrainBody = z.infer<typeof drainSchema>;

/** A step as an agent reads it: fields that a newer control plane adds are left alone. */
export const drainStepSchema = /* @__PURE__ */ z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object(shapes().kubernetes),
    z.object(shapes().ecs),
    z.object(shapes().loadBalancer),
    z.object(shapes().exec),
  ]),
);
export type DrainStep = z.infer<typeof drainStepSchema>;

/** What the agent is told: defaults filled in, durations in seconds. */
export type DrainPlan = { steps: DrainStep[]; timeoutSeconds: number; onTimeout: 'abort' | 'reboot' };

/** Null when nothing is to be drained. */
export function drainPlanOf(body: DrainBody | undefined): DrainPlan | null {
  if (body === undefined || body.steps.length === 0) return null;
  return {
    steps: body.steps,
    timeoutSeconds: drainTimeout(body) / 1000,
    onTimeout: body.onTimeout ?? 'abort',
  };
}

export const drainTimeout = ({ timeout }: DrainBody): Duration => durationOr(timeout, DRAIN_TIMEOUT);
