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

const SHAPES = {
  // A pod that nothing starts again elsewhere blocks the drain, unless its owner says that it may go (kubectl drain --force).
  kubernetes: { type: z.literal('kubernetes'), unmanaged: z.optional(z.literal('evict')) },
  ecs: { type: z.literal('ecs') },
  loadBalancer: {
    type: z.literal('loadBalancer'),
    targetGroups: z.array(targetGroup()).check(z.minLength(1), z.maxLength(20)),
  },
  exec: { type: z.literal('exec'), hook: hookName(), undo: z.optional(hookName()) },
};

export const drainSchema = z.strictObject({
  steps: z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject(SHAPES.kubernetes),
        z.strictObject(SHAPES.ecs),
        z.strictObject(SHAPES.loadBalancer),
        z.strictObject(SHAPES.exec),
      ]),
    )
    .check(z.maxLength(DRAIN_STEPS_MAX)),
  timeout: z.optional(positiveDuration()),
  onTimeout: z.optional(z.enum(['abort', 'reboot'])),
});
export type DrainBody = z.infer<typeof drainSchema>;

/** A step as an agent reads it: fields that a newer control plane adds are left alone. */
export const drainStepSchema = z.discriminatedUnion('type', [
  z.object(SHAPES.kubernetes),
  z.object(SHAPES.ecs),
  z.object(SHAPES.loadBalancer),
  z.object(SHAPES.exec),
]);
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
