/** What the record holds of draining: written before each act, so that what is ours is known after any crash (G9). */
import * as z from 'zod/mini';
import { type DrainStep, drainStepSchema } from '../../core/policy/drain.ts';

/** A step of a kind that this agent does not know: the control plane is newer. It is never skipped. */
const unknownStepSchema = z.object({ type: z.literal('unknown'), kind: z.string() });
const knownOrUnknown = z.union([drainStepSchema, unknownStepSchema]);
export type AgentDrainStep = DrainStep | z.infer<typeof unknownStepSchema>;

export const agentDrainPlanSchema = z.object({
  steps: z.array(knownOrUnknown),
  timeoutSeconds: z.number(),
  onTimeout: z.enum(['abort', 'reboot']),
});
export type AgentDrainPlan = z.infer<typeof agentDrainPlanSchema>;

const begunSchema = z.object({
  step: z.int(),
  /**
   * What is ours to take away and to give back, in the words of the step's adapter; empty when others had done it
   * before us; null when the record that knew was lost, so that only what can be proved ours is undone.
   */
  mine: z.nullable(z.array(z.string())),
  done: z.boolean(),
});
export type Begun = z.infer<typeof begunSchema>;

export const drainRecordSchema = z.object({
  plan: agentDrainPlanSchema,
  /** When the first step began; null before it. */
  startedAt: z.nullable(z.number()),
  /** Steps begun and not undone, oldest first. */
  begun: z.array(begunSchema),
  /** When every step was done. */
  drainedAt: z.nullable(z.number()),
  /** What is still there, and what of it does not go by itself. */
  left: z.array(z.string()),
  blockedBy: z.array(z.string()),
  /** Why the last try to drain or to undo went wrong. */
  trouble: z.nullable(z.string()),
  /** How often in a row it has gone wrong. */
  tries: z._default(z.int(), 0),
  /** No further try before this instant. */
  notBefore: z.nullable(z.number()),
});
export type DrainRecord = z.infer<typeof drainRecordSchema>;

export const newDrain = (plan: AgentDrainPlan): DrainRecord => ({
  plan,
  startedAt: null,
  begun: [],
  drainedAt: null,
  left: [],
  blockedBy: [],
  trouble: null,
  tries: 0,
  notBefore: null,
});

/** After a lost record: every step may have been begun, and nobody knows what of it is ours. */
export const unknownDrain = (plan: AgentDrainPlan): DrainRecord => ({
  ...newDrain(plan),
  begun: plan.steps.map((_step, index) => ({ step: index, mine: null, done: true })),
});

/** Reads the plan of an answer; what this agent does not know is kept as such, never skipped. Null: no plan. */
export function readDrainPlan(value: unknown): AgentDrainPlan | null {
  if (value == null) return null;
  const parsed = looseSchema.safeParse(value);
  if (!parsed.success)
    return { steps: [{ type: 'unknown', kind: 'that cannot be read' }], timeoutSeconds: 1, onTimeout: 'abort' };
  const { steps, timeoutSeconds, onTimeout } = parsed.data;
  return {
    steps: steps.map((step) => {
      const known = drainStepSchema.safeParse(step);
      return known.success ? known.data : { type: 'unknown', kind: step.type };
    }),
    timeoutSeconds,
    onTimeout: onTimeout === 'reboot' ? 'reboot' : 'abort',
  };
}

const looseSchema = z.object({
  steps: z.array(z.looseObject({ type: z.string() })),
  timeoutSeconds: z.number().check(z.positive()),
  onTimeout: z.optional(z.string()),
});

/** What is asked of a step's adapter. */
export type DrainAct = 'survey' | 'drain' | 'undo';

/** What an adapter can answer. */
export type DrainOutcome =
  /** What would be ours if the step began now. Nothing has been touched. */
  | { kind: 'surveyed'; mine: string[] }
  /** As `surveyed`, and this is known not to go by itself, however long anybody waits. */
  | { kind: 'blocked'; mine: string[]; blockedBy: string[] }
  | { kind: 'done' }
  /** Under way: what is still there, and what of it does not go by itself. */
  | { kind: 'waiting'; left: string[]; blockedBy: string[] }
  /** It could not be asked, or it refused: tried again until the time is up. */
  | { kind: 'unavailable'; message: string }
  /** It can never be: a wrong configuration. */
  | { kind: 'impossible'; message: string };
