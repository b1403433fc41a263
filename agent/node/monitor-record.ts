/** What the record holds of watching an updated node, and how a plan is read from an answer. */
import * as z from 'zod/mini';
import { type HealthCheck, healthCheckSchema } from '../../core/policy/monitor.ts';

const unknownCheckSchema = z.object({
  type: z.literal('unknown'),
  name: z.string(),
  kind: z.string(),
  timeoutSeconds: z.number(),
});
export type AgentCheck = HealthCheck | z.infer<typeof unknownCheckSchema>;

export const agentMonitorPlanSchema = z.object({
  checks: z.array(z.union([healthCheckSchema, unknownCheckSchema])),
  onFailure: z.enum(['rollback', 'report']),
  /** How long the first round may fail; absent where the control plane is too old to say. */
  withinSeconds: z.exactOptional(z.number()),
});
export type AgentMonitorPlan = z.infer<typeof agentMonitorPlanSchema>;

export const monitorRecordSchema = z.object({
  plan: agentMonitorPlanSchema,
  /** When the next round is due. */
  nextAt: z.number(),
  failing: z.nullable(z.string()),
  /** The boot that is watched: in another one the services start anew. */
  bootId: z._default(z.nullable(z.string()), null),
  /** How long the first passing round may take, in any boot; null: as the agent's own settings say. */
  windowMs: z._default(z.nullable(z.number()), null),
});

export type CheckResult = { name: string; failure: string | null };

/** Reads the plan of an answer; what this agent does not know is kept as such, and fails. Null: no plan. */
export function readMonitorPlan(value: unknown): AgentMonitorPlan | null {
  if (value == null) return null;
  const parsed = looseSchema.safeParse(value);
  if (!parsed.success) return UNREADABLE;
  const { checks, onFailure, withinSeconds } = parsed.data;
  return {
    checks: checks.map((check) => {
      const known = healthCheckSchema.safeParse(check);
      if (known.success) return known.data;
      return { type: 'unknown', name: check.name, kind: check.type, timeoutSeconds: 1 };
    }),
    onFailure: onFailure === 'rollback' ? 'rollback' : 'report',
    ...(withinSeconds === undefined ? {} : { withinSeconds }),
  };
}

/** Nothing is undone on the word of a plan that could not be read. */
const UNREADABLE: AgentMonitorPlan = {
  checks: [{ type: 'unknown', name: 'monitor', kind: 'that cannot be read', timeoutSeconds: 1 }],
  onFailure: 'report',
};

const looseSchema = z.object({
  checks: z.array(z.looseObject({ type: z.string(), name: z.string() })),
  onFailure: z.optional(z.string()),
  withinSeconds: z.optional(z.number().check(z.positive())),
});
